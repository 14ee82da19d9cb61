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

bool is_current(const Ledger& ledger, const LifeKey& key) { return is_current(*ledger.header, key); }

void apply_floor(const Ledger& ledger, Slot& slot) {
    const Format format = Key::unpack(slot.key.load()).format;
    const std::uint64_t floor_ms = ledger.header->floor_ms.load();
    if (floor_ms == 0 || !tells_time(slot)) return;
    apply_floor(slot, clamped_tick(timeline_of(slot), static_cast<std::int64_t>(floor_ms) * 1000), has_toggle(format));
}

void raise_floor(const Ledger& ledger, std::uint64_t ms) {
    raise_to(ledger.header->floor_ms, ms);
    for (std::uint32_t i = 0; i < slot_count; i++) {
        Slot& slot = ledger.slots[i];
        if (!tells_time(slot)) continue;
        raise_slot(slot, clamped_tick(timeline_of(slot), static_cast<std::int64_t>(ms) * 1000),
                   has_toggle(Key::unpack(slot.key.load()).format));
    }
}

CeilingResult begin_life(const char* dir, unsigned mode, const Ledger& ledger, const LifeKey& key,
                         std::uint64_t life_id, bool sync) {
    LockedCeilings file;
    const CeilingResult r = file.open(dir, mode, ledger, sync);
    if (r.error != CeilingError::none) return r;
    const auto resume = [&](Slot& slot, std::uint64_t ms) {
        const Format format = Key::unpack(slot.key.load()).format;
        if (tells_time(slot)) {
            const Timeline timeline = timeline_of(slot);
            raise_slot(slot, clamped_tick(timeline, static_cast<std::int64_t>(ms) * 1000), has_toggle(format));
        } else if (format == Format::snowflake_si) {
            // It gets its layout with the next id, and stands above the floor then.
            raise_to(ledger.header->floor_ms, ms);
        }
        slot.counters.waiting.store(0);  // whoever waited is gone
        slot.counters.overflow.seen.fetch_or(Occurrence::cut_short);
        slot.counters.behind.seen.fetch_or(Occurrence::cut_short);
    };
    return begin_locked_life(
        *ledger.header, slot_count, [&](std::uint32_t i) -> Slot& { return ledger.slots[i]; }, resume, file, key,
        life_id, sync);
}

}  // namespace snowflake_ids::ledger
