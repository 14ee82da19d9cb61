// Waits of a session: for the next tick, and for the lock of the ceiling file or of a relation. A wait can be
// interrupted, and pg_stat_activity shows it as SnowflakeIdsNextTick. Patience limits all these waits of one call
// together. snowflake_ids.pass_now() also waits here, for its turn.
#pragma once

#include "ledger/clock.hpp"
#include "pg/pg.hpp"
#include "pg/server/settings.hpp"

namespace snowflake_ids {

// Sleeps for about the wanted time, but at most a second, so that the caller notices a corrected clock. A signal ends
// the sleep early. A cancel, a timeout of PostgreSQL or the end of the session raises its error here. If the postmaster
// is gone, the process ends.
void nap(microseconds wanted);

// The limit for all waits of one call together: snowflake_ids.max_wait, from the construction of this object on. For
// functions that an administrator calls, `queues` is true: a wait for the lock of a relation then has no limit, and
// takes place in the lock's queue, as that of ALTER SEQUENCE does.
struct Patience {
    MonotonicTime until = ledger::monotonic_clock() + settings::max_wait();
    bool queues = false;

    // The time that is left; 0 or less if the patience is over.
    microseconds left() const { return until - ledger::monotonic_clock(); }
    bool is_over() const { return left().count() <= 0; }
    // The time since the construction.
    microseconds used() const { return settings::max_wait() - left(); }
};

// Pauses between attempts to get something that another process has. Each pause is longer than the last, and differs
// between processes.
class Attempts {
public:
    // Sleeps before the next attempt, but not longer than the patience lasts. Interrupts are handled as in nap().
    void pause(const Patience& patience);

private:
    microseconds next_{500};
};

}  // namespace snowflake_ids
