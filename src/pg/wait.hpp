// Waiting for a tick: interruptible, without a lock, visible in pg_stat_activity.
#pragma once

#include "pg/pg.hpp"

namespace snowflake_ids {

// Sleeps about `us` microseconds (at most a second, so that a corrected clock is noticed),
// less if something happens, and serves interrupts: cancel, timeouts, terminate, death of
// the postmaster.
void nap(int64 us);

}  // namespace snowflake_ids
