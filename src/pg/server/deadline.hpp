// Waits of a session, for the next tick or a lock. They can be interrupted; pg_stat_activity shows
// SnowflakeIdsNextTick.
#pragma once

#include "ledger/clock.hpp"
#include "pg/pg.hpp"
#include "pg/server/settings.hpp"

namespace snowflake_ids {

// Sleeps for at most a second, so that the caller notices a corrected clock. A signal ends the sleep early; a cancel, a
// timeout or the end of the session raises its error. Ends an orphan.
void nap(microseconds wanted);
void nap(microseconds wanted, uint32 wait_event);

// The limit for all waits of one call together: snowflake_ids.max_wait from construction on. With `queues`, the wait
// for a relation has no limit, as in ALTER TABLE.
struct Deadline {
    MonotonicTime until = ledger::monotonic_clock() + settings::max_wait();
    bool queues = false;

    microseconds left() const { return until - ledger::monotonic_clock(); }
    bool is_over() const { return left().count() <= 0; }
};

// Pauses between attempts to get what another process has.
class Attempts {
public:
    // Not beyond the deadline. Interrupts are handled as in nap().
    void pause(const Deadline& deadline);

private:
    microseconds next_{500};
};

}  // namespace snowflake_ids
