// The time until which this backend may issue ids. An id must be below the durable ceiling of its slot
// (ledger/ceiling_file.hpp) and below the WAL ceiling of the database (ceilings/database_ceiling.hpp).
#pragma once

#include "core/timeline.hpp"
#include "ledger/memory.hpp"
#include "pg/pg.hpp"
#include "pg/server/patience.hpp"

namespace snowflake_ids::issue_limit {

// What the ceilings limit of a generator (generate/generator.hpp).
struct Limited {
    ledger::Slot* slot = nullptr;  // null: the generator has never been set up
    Timeline timeline{};
    uint64 limit = 0;          // ticks from here on need a higher ceiling first
    uint64 lift_from = 0;      // a claim of a tick from here on lifts the ceilings early
    bool in_recovery = false;  // the generator was set up in recovery, with standby_machine_id
};

// Returns the ledger, and begins a life of the server if none has begun. Outside recovery it also enters the database:
// if another life lifted the database's ceiling, it lifts the ledger's floor above that ceiling. Call it before a
// generator gets a slot. Raises an error if a ceiling cannot be read or written before the patience ends.
const ledger::Ledger& enter_life_and_database(bool in_recovery, const Patience& patience);

// The latest time of the ids that the present transaction has generated. 0: there are none. If synchronous replication is on, the transaction's COMMIT waits until the standbys have a WAL
// ceiling above this time. Before the COMMIT, nothing protects an id. The same is true of a value of nextval().
extern UnixTime latest;

inline void note_latest(UnixTime t) { latest = Max(latest, t); }

// Makes the COMMIT of this transaction wait for the synchronous standbys, if they do not have a WAL ceiling above
// `latest` yet. Call it before the commit, where an error is still possible. PREPARE TRANSACTION needs no such step,
// because it writes WAL and waits for the standbys anyway.
void protect_commit();

// The WAL ceiling of this database. A reader of settled ids needs it to be at least `t`. If the ceiling that this
// backend knows is lower, it reads the ceiling again, and lifts it to `t` if necessary. Call it only in a database that
// was entered. Raises an error if that fails before the patience ends.
Ceiling wal_ceiling_at(UnixTime t, const Patience& patience);

// How far a ceiling is lifted above an id that is ahead of the clock: a small step. Otherwise each life would begin a
// window above the last one, and frequent restarts would add up. A life that has just begun takes steps that are not
// longer than the life has lasted, but at least 10 ms. Then the clock gains on the ids also when the server crashes
// several times a second.
microseconds lift_step();

// Until when a reader may call ids settled that wants to call them settled until `wanted`, if COMMIT waits for standbys
// (ledger/replicated.hpp). `promised` is the promise before. If the ledger has no room for another database, the result
// is `wanted`, and COMMIT waits. Call it only in a database that was entered. Raises an error if the WAL ceiling cannot
// be read before the patience ends.
UnixTime replicated_until(UnixTime wanted, UnixTime promised, const Patience& patience);

// Forgets the WAL ceiling that this backend knows, because it may be lower now: a forced reset may have lowered it, or
// its relation may be another one. The database must then be entered again.
void forget_wal_ceiling();

// Sets g.limit and g.lift_from from the present ceiling of the slot, and from the WAL ceiling that this backend knows.
void set_limit(Limited& g);

// Lifts those of the ceilings that are not above `tick`, and sets g.limit. Waits if another process is lifting them.
// Raises an error if that fails, or if the patience ends.
void lift_above(Limited& g, uint64 tick, const Patience& patience);

// Lifts the ceilings because `tick`, that of the last claim, is near the limit, unless another backend does so already.
// During this, other backends continue below the old ceilings. It waits for no other process. If the file cannot be
// written, the old ceilings remain, and there is no error.
void lift_ahead(Limited& g, uint64 tick);

}  // namespace snowflake_ids::issue_limit
