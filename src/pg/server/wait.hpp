// Waiting for a tick: interruptible, without a lock, visible in pg_stat_activity.
#pragma once

#include "ledger/clock.hpp"
#include "pg/pg.hpp"

namespace snowflake_ids {

// Sleeps about `us` microseconds, but at most a second, so that a corrected clock is noticed. A signal ends the sleep
// early. Handles interrupts: cancel, timeouts, termination, death of the postmaster.
void nap(int64 us);

// The limit for all waits of one call together: snowflake_ids.max_wait, counted from `since`. With `queues`, a wait for
// the lock of a relation has no limit, and is in the lock's queue, as ALTER SEQUENCE does it: for functions that an
// administrator calls.
struct Patience {
    uint64 since = ledger::monotonic_us();
    bool queues = false;

    // 0 or less: the time is up.
    int64 left_us() const;
};

// Pauses between attempts to get something that another process has. Each pause is longer than the last, and differs
// between processes.
class Attempts {
public:
    void pause(const Patience& patience);

private:
    int64 next_us_ = 500;
};

}  // namespace snowflake_ids
