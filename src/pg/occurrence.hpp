// When to log what may happen a thousand times a second: at its first time after a pause,
// and then once a minute. The marks are shared, so of all backends one logs.
#pragma once

#include "ledger/clock.hpp"
#include "ledger/slot.hpp"
#include "pg/pg.hpp"

namespace snowflake_ids::occurrence {

inline constexpr uint64 pause_us = 1000000;
inline constexpr uint64 reminder_us = 60000000;

// Marks that it happened now; true if it had not for a second.
inline bool begins(ledger::Word& seen) {
    const uint64 now = ledger::monotonic_us();
    const uint64 before = seen.exchange(now, std::memory_order_relaxed);
    return before == 0 || before > now || now - before > pause_us;
}

// Time since the last line, if a minute has passed and this backend is to write the next one.
inline uint64 continues(ledger::Word& logged) {
    const uint64 now = ledger::monotonic_us();
    uint64 before = logged.load(std::memory_order_relaxed);
    if (now - before < reminder_us) return 0;
    return logged.compare_exchange_strong(before, now) ? now - before : 0;
}

}  // namespace snowflake_ids::occurrence
