// Beginning a life of the server, and floors: every slot is raised above what earlier lives may have issued.
#include "ledger/life.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>

#include <fcntl.h>
#include <unistd.h>

#include "ledger/clock.hpp"
#include "ledger/formats.hpp"

namespace snowflake_ids::ledger {

namespace {

// No such process, or no permission to look: /proc gives this answer always, and to every process of the server.
bool is_an_answer(int error) {
    return error == ENOENT || error == ESRCH || error == ENOTDIR || error == EACCES || error == EPERM;
}

// The slot's time line, and the clock on it.
struct Begin {
    Timeline timeline;

    std::uint64_t tick(std::uint64_t ms) const { return clamped_tick(timeline, static_cast<std::int64_t>(ms) * 1000); }
    void operator()(Slot& slot, std::uint64_t tick, bool toggle) const {
        const auto most = static_cast<std::uint64_t>(longest_lead_us / timeline.tick_us);
        begin_slot(slot, tick, toggle, clamped_tick(timeline, wall_us()), most);
    }
};

}  // namespace

int start_ticks_of(std::uint64_t pid, std::uint64_t& ticks) {
    ticks = 0;
    char path[64];
    snprintf(path, sizeof path, "/proc/%llu/stat", static_cast<unsigned long long>(pid));
    char line[1024];
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    const ssize_t n = fd < 0 ? -1 : read(fd, line, sizeof line - 1);
    const int error = n < 0 ? errno : 0;
    if (fd >= 0) close(fd);
    if (error != 0) return is_an_answer(error) ? 0 : error;
    line[n] = '\0';
    // Field 22. The second field is the program's name in parentheses and may contain blanks.
    const char* p = strrchr(line, ')');
    for (int field = 2; p != nullptr && field < 22; field++) {
        p = strchr(p, ' ');
        if (p != nullptr) p++;
    }
    unsigned long long value = 0;
    if (p != nullptr && sscanf(p, "%llu", &value) == 1) ticks = value;
    return 0;
}

bool is_current(const Ledger& ledger, const LifeKey& key) { return is_current(*ledger.header, key); }

void apply_floor(const Ledger& ledger, Slot& slot) {
    const Format format = format_of(slot);
    const std::uint64_t floor_ms = ledger.header->floor_ms.load();
    if (floor_ms == 0 || !has_time(format)) return;
    const Begin begin{timeline_of(slot)};
    apply_floor(slot, begin.tick(floor_ms), has_toggle(format), begin);
}

void raise_floor(const Ledger& ledger, std::uint64_t ms) {
    raise_to(ledger.header->floor_ms, ms);
    for (std::uint32_t i = 0; i < slot_count; i++) {
        Slot& slot = ledger.slots[i];
        const Format format = format_of(slot);
        if (!has_time(format)) continue;
        const Begin begin{timeline_of(slot)};
        begin(slot, begin.tick(ms), has_toggle(format));
    }
}

CeilingResult begin_life(const char* dir, unsigned mode, const Ledger& ledger, const LifeKey& key,
                         std::uint64_t life_id, std::uint64_t at_least_ms, bool sync) {
    LockedCeilings file;
    const CeilingResult r = file.open(dir, mode, ledger, sync);
    if (r.error != CeilingError::none) return r;
    const auto resume = [&](Slot& slot, std::uint64_t ms) {
        const Format format = format_of(slot);
        if (has_time(format)) {
            const Begin begin{timeline_of(slot)};
            begin(slot, begin.tick(ms), has_toggle(format));
        }
        slot.counters.overflow.seen.fetch_or(Occurrence::cut_short);
        slot.counters.behind.seen.fetch_or(Occurrence::cut_short);
    };
    return begin_locked_life(
        *ledger.header, slot_count, [&](std::uint32_t i) -> Slot& { return ledger.slots[i]; }, resume, file, key,
        life_id, at_least_ms, sync);
}

}  // namespace snowflake_ids::ledger
