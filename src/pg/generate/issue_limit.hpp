// The time until which this backend may issue ids: below the durable ceiling of the slot (ledger/ceiling_file.hpp) and
// below the WAL ceiling of its database (server/wal_ceiling.hpp).
#pragma once

#include "ledger/memory.hpp"
#include "pg/generate/generator.hpp"
#include "pg/pg.hpp"
#include "pg/server/wait.hpp"

namespace snowflake_ids::issue_limit {

// Returns the ledger, in a life that has begun. Outside recovery it also enters the database: if another life lifted
// the database's ceiling, it lifts the ledger's floor above that ceiling. Call it before a generator gets a slot.
const ledger::Ledger& enter_life_and_database(bool in_recovery, const Patience& patience);

// The latest time of the ids that the present transaction has generated, or of the settled ids that it has returned; 0:
// none. If synchronous replication is on, its COMMIT waits until a standby has a WAL ceiling above this time. An id is
// not protected before the commit of its transaction, as a value of nextval() is not.
extern UnixTime latest;

inline void note_latest(UnixTime t) { latest = Max(latest, t); }

// Makes COMMIT wait for the synchronous standbys if the ids up to `latest` need it. Call it before the commit, where an
// error is still possible. PREPARE TRANSACTION needs no such step, because it writes WAL and waits for the standbys
// anyway.
void protect_commit();

// The WAL ceiling of this database, for a reader who needs it at `t` at least. If the ceiling that this backend knows
// is lower, it reads the ceiling again, and lifts it if necessary.
Ceiling wal_ceiling_at(UnixTime t, const Patience& patience);

// Forgets the WAL ceiling that this backend has read, because an operator's reset may have lowered it.
void forget_wal_ceiling();

// Sets g.limit and g.lift_from from the present ceilings.
void set_limit(Generator& g);

// Lifts the ceilings above `tick`, which a claim wants and which is at or above g.limit. Waits if another process is
// lifting them. Raises an error if that fails, or if the patience ends.
void lift_above(Generator& g, uint64 tick, const Patience& patience);

// Lifts the ceilings because the limit is near, unless another backend does so already. During this, other backends
// continue below the old ceilings. It waits for no other process.
void lift_ahead(Generator& g, uint64 tick);

}  // namespace snowflake_ids::issue_limit
