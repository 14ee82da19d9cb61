// Waits of a session: for the next tick, for the lock of the ceiling file or of a relation, for its turn. They can be
// interrupted, hold no lock, and are shown in pg_stat_activity as SnowflakeIdsNextTick. Patience limits all waits of
// one call together.
#pragma once

#include "ledger/clock.hpp"
#include "pg/pg.hpp"
#include "pg/server/settings.hpp"

namespace snowflake_ids {

// Sleeps for about the wanted time, but at most a second, so that a corrected clock is noticed. A signal ends the sleep
// early. It handles interrupts: cancel, timeouts, termination, death of the postmaster.
void nap(microseconds wanted);

// The limit for all waits of one call together: snowflake_ids.max_wait, from the construction of this object on. For
// functions that an administrator calls, `queues` is true: a wait for the lock of a relation then has no limit, and
// takes place in the lock's queue, as that of ALTER SEQUENCE does.
struct Patience {
    MonotonicTime until = ledger::monotonic_clock() + settings::max_wait();
    bool queues = false;

    // The time that is left; 0 or less if it is over.
    microseconds left() const { return until - ledger::monotonic_clock(); }
    bool is_over() const { return left().count() <= 0; }
    microseconds used() const { return settings::max_wait() - left(); }
};

// Pauses between attempts to get something that another process has. Each pause is longer than the last, and differs
// between processes.
class Attempts {
public:
    void pause(const Patience& patience);

private:
    microseconds next_{500};
};

}  // namespace snowflake_ids
