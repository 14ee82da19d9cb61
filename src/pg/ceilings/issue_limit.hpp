// Until when this backend may issue ids: up to the ceiling of the slot (ledger/ceiling_file.hpp) and the WAL ceiling of
// the database (ceilings/wal_ceiling.hpp). These functions raise an error if a ceiling cannot be read or written before
// the deadline.
#pragma once

#include "core/timeline.hpp"
#include "ledger/memory.hpp"
#include "pg/pg.hpp"
#include "pg/server/deadline.hpp"

namespace snowflake_ids::issue_limit {

struct Limited {
    ledger::Slot* slot = nullptr;
    Timeline timeline{};
    uint64 limit = 0;          // ticks from here on need a higher ceiling first
    uint64 lift_from = 0;      // a claim of a tick from here on lifts the ceilings early
    bool in_recovery = false;  // set up in recovery, with standby_machine_id
};

// Enters the database (ledger/wal_ceiling.hpp) only outside recovery. Call it before a generator gets a slot.
const ledger::Ledger& enter_life_and_database(bool in_recovery, const Deadline& deadline);

// The latest time of the transaction's ids; 0: none.
extern UnixTime latest;

inline void note_latest(UnixTime t) { latest = Max(latest, t); }

// Makes COMMIT wait for the synchronous standbys, if they have no WAL ceiling above `latest` yet. Call it where an
// error is still possible. PREPARE TRANSACTION waits anyway.
void protect_commit();

// How far a ceiling is lifted above an id that is ahead of the clock: at most the age of the life (at least 10 ms). So
// the clock gains on the ids even if the server crashes several times a second.
microseconds lift_step();

// Call this when the WAL ceiling may be lower now: after a forced reset, or if its relation may be another one. The
// database must then be entered again.
void forget_wal_ceiling();

void set_limit(Limited& g);

// Lifts those ceilings that are not above `tick`, and sets g.limit. Waits if another process is lifting them.
void lift_above(Limited& g, uint64 tick, const Deadline& deadline);

// Lifts the ceilings early; `tick` is that of the last claim. Never waits for another process. If the file cannot be
// written, the old ceilings remain.
void lift_ahead(Limited& g, uint64 tick);

}  // namespace snowflake_ids::issue_limit
