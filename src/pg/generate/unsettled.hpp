// What this process shows of the ids that its transaction has drawn, so that snowflake_ids_settled() can tell which
// ids may still appear. The protocol is in ledger/settling.hpp.
#pragma once

#include "ledger/settling.hpp"
#include "pg/pg.hpp"

extern "C" {
#include "catalog/pg_extension.h"
}

namespace snowflake_ids::unsettled {

// May the transaction have an id of this time (ledger/settling.hpp)? An id must be asked for before
// it is used, and again once Header::promise is later than that. False: it must be thrown away.
bool admit(UnixTime t);

// In place of locks that a transaction has lost (Backend::unlocked), it is prepared with a writer's lock on this table,
// so that it counts for every table. Nobody else keeps such a lock on it.
constexpr Oid every_table = ExtensionRelationId;

// A part of the transaction has failed. That releases the locks of a cursor that has failed in it. They may be those of
// rows that the cursor inserted before, and that remain: then the transaction counts for every table.
void count_for_every_table();

// For a transaction that is about to be prepared: the ledger's table takes over what it has shown. Raises an error if
// the table is full.
void hand_over_to_prepared();

// The transaction has ended: takes back what it has shown. Called after the commit too, where nothing may raise an
// error.
void end_transaction(bool committed);

// The next full transaction id.
uint64 next_xid();

}  // namespace snowflake_ids::unsettled
