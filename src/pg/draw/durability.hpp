// How far this backend may issue: below the durable ceiling of the slot (ledger/ceiling.hpp)
// and below the ceiling of its database in WAL (wal_ceiling.hpp).
#pragma once

#include "ledger/file.hpp"
#include "ledger/reset.hpp"
#include "pg/draw/generator.hpp"
#include "pg/pg.hpp"
#include "pg/server/wait.hpp"

namespace snowflake_ids::durability {

// Before a generator is bound to a slot: begins this server's life if nobody has yet and,
// outside recovery, raises the ledger's floor above what this database has seen if that was
// another life's doing.
void enter(const ledger::Ledger& ledger, bool in_recovery, const Patience& patience);

// An operator's reset may have lowered the ceilings: look at them again.
void forget();

// Sets g.limit and g.raise_from from the ceilings as they stand.
void set_limit(Generator& g);

// A claim wants `tick`, which is at or beyond g.limit: raises the ceilings above it, waiting
// for another process that does so already. Raises an error if it cannot be done, or when the
// patience is at its end.
void raise_above(Generator& g, uint64 tick, const Patience& patience);

// The limit is near: raises the ceilings if nobody else is at it, while others go on below
// the old ones. Waits for no other process.
void raise_ahead(Generator& g, uint64 tick);

// The durable ceiling that a generator standing at `us` gets, in Unix ms.
uint64 ceiling_ms(int64 us);

// True if the ceiling file is damaged; and the way out of that, with an operator's floor.
bool ceilings_damaged();
void repair_ceilings(uint64 floor_ms);

// Applies an operator's reset to the ledger.
void apply(const ledger::Reset& reset);

}  // namespace snowflake_ids::durability
