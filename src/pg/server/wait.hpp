// Waiting for a tick: interruptible, without a lock, visible in pg_stat_activity.
#pragma once

#include "ledger/clock.hpp"
#include "pg/pg.hpp"

namespace snowflake_ids {

// Sleeps about `us` microseconds (at most a second, so that a corrected clock is noticed),
// less if something happens, and serves interrupts: cancel, timeouts, terminate, death of
// the postmaster.
void nap(int64 us);

// What one call may wait in all, for whatever it has to wait for: snowflake_ids.max_wait from `since` on.
// What an operator calls is no draw: it waits for a relation in the server's queue, as ALTER SEQUENCE does.
struct Patience {
    uint64 since = ledger::monotonic_us();
    bool queues = false;

    // 0 or less: it is over.
    int64 left_us() const;
};

// Pauses between attempts at what another process has: longer each time, and never of the same length for all.
class Attempts {
public:
    void pause(const Patience& patience);

private:
    int64 next_us_ = 500;
};

// A random number of this run of the server's processes: another one after a crash restart, which makes the shared
// memory anew.
uint32 server_run();

}  // namespace snowflake_ids
