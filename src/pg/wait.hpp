// Waiting for a tick: interruptible, without a lock, visible in pg_stat_activity.
#pragma once

#include "pg/pg.hpp"

namespace snowflake_ids {

// Sleeps about `us` microseconds (at most a second, so that a corrected clock is noticed),
// less if something happens, and serves interrupts: cancel, timeouts, terminate, death of
// the postmaster.
void nap(int64 us);

// A random number of this run of the server's processes: another one after a crash restart, which makes the shared
// memory anew.
uint32 server_run();

}  // namespace snowflake_ids
