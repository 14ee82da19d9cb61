#include "ledger/life.hpp"

#include <cstdio>
#include <cstring>

#include "ledger/formats.hpp"

namespace snowflake_ids::ledger {

std::uint64_t start_ticks_of(std::uint64_t pid) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%llu/stat", static_cast<unsigned long long>(pid));
    FILE* f = fopen(path, "re");
    if (f == nullptr) return 0;
    char line[1024];
    const std::size_t n = fread(line, 1, sizeof line - 1, f);
    fclose(f);
    line[n] = '\0';
    // Field 22. The second one is the program's name in parentheses and may hold blanks.
    const char* p = strrchr(line, ')');
    for (int field = 2; p != nullptr && field < 22; field++) {
        p = strchr(p, ' ');
        if (p != nullptr) p++;
    }
    unsigned long long ticks = 0;
    return p != nullptr && sscanf(p, "%llu", &ticks) == 1 ? ticks : 0;
}

bool is_current(const Ledger& ledger, const LifeKey& key) {
    const Word* k = ledger.header->life_key;
    return key == LifeKey{k[0].load(), k[1].load(), k[2].load()};
}

void apply_floor(const Ledger& ledger, Slot& slot) {
    const Format format = Key::unpack(slot.key.load()).format;
    const std::uint64_t floor_ms = ledger.header->floor_ms.load();
    if (floor_ms == 0 || !has_time(format)) return;
    const std::uint64_t tick =
        clamped_tick(timeline_of(slot, *ledger.header), static_cast<std::int64_t>(floor_ms) * 1000);
    if (unpack(slot.word.load(), 0, has_toggle(format)).tick <= tick) raise_slot(slot, tick, has_toggle(format));
}

void raise_floor(const Ledger& ledger, std::uint64_t ms) {
    raise_to(ledger.header->floor_ms, ms);
    for (std::uint32_t i = 0; i < slot_count; i++) {
        Slot& slot = ledger.slots[i];
        const Format format = Key::unpack(slot.key.load()).format;
        if (format == Format::none || !has_time(format)) continue;
        raise_slot(slot, clamped_tick(timeline_of(slot, *ledger.header), static_cast<std::int64_t>(ms) * 1000),
                   has_toggle(format));
    }
}

CeilingResult begin_life(const char* dir, unsigned mode, const Ledger& ledger, const LifeKey& key,
                         std::uint64_t life_id) {
    LockedCeilings file;
    CeilingResult r = file.open(dir, mode, ledger);
    if (r.error != CeilingError::none) return r;
    if (is_current(ledger, key)) return {};
    std::uint64_t ceilings[slot_count];
    r = file.read(ceilings);
    if (r.error != CeilingError::none) return r;

    Header& header = *ledger.header;
    // From here on no life is current until the key is complete again.
    header.life_key[0].store(0);
    std::uint64_t highest = 0;
    for (std::uint32_t i = 0; i < slot_count; i++) {
        Slot& slot = ledger.slots[i];
        const std::uint64_t published = slot.ceiling.load();
        // The file is ahead of what was published, or it is an older copy: the higher one
        // bounds what may have been issued, the file's alone is durable.
        const std::uint64_t bound = published > ceilings[i] ? published : ceilings[i];
        if (bound > highest) highest = bound;
        const Format format = Key::unpack(slot.key.load()).format;
        if (format != Format::none && has_time(format)) {
            const Timeline timeline = timeline_of(slot, header);
            raise_slot(slot, clamped_tick(timeline, static_cast<std::int64_t>(bound) * 1000), has_toggle(format));
        }
        slot.ceiling.store(ceilings[i]);
        slot.counters.waiting.store(0);  // whoever waited is gone
    }
    // A ledger that was made anew knows no slots, but the ceilings may speak of lost ones.
    if (header.lives.load() == 0) raise_to(header.floor_ms, highest);

    header.life_id.store(life_id);
    header.lives.fetch_add(1);
    header.life_key[1].store(key.pid);
    header.life_key[2].store(key.start_ticks);
    header.life_key[0].store(key.started);
    return {};
}

}  // namespace snowflake_ids::ledger
