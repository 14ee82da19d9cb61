// Mistakes that must not compile: a time of the wrong clock or unit. tools/lint compiles this file as it is, and once
// for each mistake (MISTAKE=1 and so on). Each changes one line, so a refusal is that of the mistake.
#include "core/time.hpp"
#include "ledger/clock.hpp"
#include "ledger/slot.hpp"

namespace snowflake_ids::ledger {

#ifndef MISTAKE
#define MISTAKE 0
#endif

// The monotonic clock cannot have passed it.
inline bool has_passed([[maybe_unused]] UnixTime wall, [[maybe_unused]] MonotonicTime monotonic, const Slot& slot) {
#if MISTAKE == 1
    return slot.passed.load() > monotonic;
#else
    return slot.passed.load() > wall;
#endif
}

// Rounded down, it is below the id.
inline void lift([[maybe_unused]] UnixTime id, Slot& slot) {
#if MISTAKE == 2
    slot.ceiling.store(id);
#else
    slot.ceiling.store(std::chrono::ceil<milliseconds>(id));
#endif
}

// The wall clock may be set meanwhile.
inline void log_overflow(Counters& counters) {
#if MISTAKE == 3
    counters.overflow_logged.store(wall_clock());
#else
    counters.overflow_logged.store(monotonic_clock());
#endif
}

inline void begin(Header& header) {
#if MISTAKE == 4
    header.lead.store(2500);
#else
    header.lead.store(milliseconds{2500});
#endif
}

}  // namespace snowflake_ids::ledger
