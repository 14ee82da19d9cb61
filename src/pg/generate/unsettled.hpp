// What this process shows of the ids that its transaction has generated, so that readers know which ids may still
// appear (snowflake_ids_settled()). The protocol is in ledger/settling.hpp.
#pragma once

#include "ledger/settling.hpp"
#include "pg/pg.hpp"

extern "C" {
#include "catalog/pg_extension.h"
}

namespace snowflake_ids::unsettled {

// True if the present transaction may use an id of time `t`, which is then shown to readers (ledger/settling.hpp). If
// it is false, the id must be thrown away. Call it before the first id of that time is used, and again once
// Header::promise is later than `t`.
bool admit(UnixTime t);

// A transaction that has lost locks (Backend::unlocked) is prepared with a writer's lock on this table instead, so that
// it counts for every table. Nobody else keeps such a lock on it.
constexpr Oid every_table = ExtensionRelationId;

// From now on the transaction counts as a writer of every table. Call it when a part of the transaction has failed:
// that releases the locks of a cursor that has failed in it, but rows that the cursor inserted before may remain.
void count_for_every_table();

// Hands what the transaction has shown over to the ledger's table of prepared transactions. Call it when the
// transaction is about to be prepared. Raises an error if the table is full.
void hand_over_to_prepared();

// Takes back what the transaction has shown, because it has ended. It is called after the commit too, where nothing may
// raise an error.
void end_transaction(bool committed);

// The next full transaction id.
uint64 next_xid();

}  // namespace snowflake_ids::unsettled
