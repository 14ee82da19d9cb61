// Until which time this backend may issue ids: below the durable ceiling of the slot (ledger/ceiling_file.hpp) and
// below the WAL ceiling of its database (server/wal_ceiling.hpp).
#pragma once

#include "ledger/memory.hpp"
#include "pg/generate/generator.hpp"
#include "pg/pg.hpp"
#include "pg/server/wait.hpp"

namespace snowflake_ids::issue_limit {

// Call this before a generator is bound to a slot. Returns the ledger, in a life that has begun. Outside recovery it
// also enters the database (uses it for the first time in this life): if another life lifted the database's ceiling, it
// lifts the ledger's floor above that ceiling.
const ledger::Ledger& enter_life_and_database(bool in_recovery, const Patience& patience);

// The latest time of the ids that the present transaction has drawn, or of what it was told has settled. 0: none. If
// synchronous replication is on, its COMMIT waits until a standby has a WAL ceiling above this time. An id of a
// transaction that is not committed is not protected, as a value of nextval() is not.
extern UnixTime latest;

inline void note_latest(UnixTime t) { latest = Max(latest, t); }

// Looks at `latest`. Call it before the commit, where an error is still possible. PREPARE TRANSACTION needs no such
// step: it writes WAL and waits for the standbys anyway.
void protect_commit();

// The ceiling of this database's ids, for a reader who wants it at `t` at least: looks again, or lifts it.
Ceiling wal_ceiling_at(UnixTime t, const Patience& patience);

// Forgets the WAL ceiling that this backend has read, because an operator's reset may have lowered it.
void forget_wal_ceiling();

// Sets g.limit and g.lift_from from the present ceilings.
void set_limit(Generator& g);

// A claim wants `tick`, which is at or above g.limit: lifts the ceilings above it. Waits if another process is
// lifting them. Raises an error if that fails, or if the patience ends.
void lift_above(Generator& g, uint64 tick, const Patience& patience);

// The limit is near: lifts the ceilings unless another backend does so. During this, other backends continue below
// the old ceilings. Waits for no other process.
void lift_ahead(Generator& g, uint64 tick);

}  // namespace snowflake_ids::issue_limit
