// What this process shows to readers of the ids that its transaction has generated. From that, readers know which ids
// may still appear (snowflake_ids_settled()). The protocol is in ledger/settling.hpp.
#pragma once

#include "ledger/settling.hpp"
#include "pg/pg.hpp"

extern "C" {
#include "catalog/pg_extension.h"
}

namespace snowflake_ids::unsettled {

// Shows readers that the present transaction has ids of time `t` (ledger/settling.hpp). Returns true if it may use such
// an id. If the result is false, readers were promised that no id of this time appears any more. Then the id must be
// thrown away, and a later one generated. Call this before the first id of each time is used, and again once
// Header::promise is later than `t`.
bool admit(UnixTime t);

// The oid that stands for every table. It is that of pg_extension, so that it can be locked: a transaction that has
// lost locks (Backend::unlocked) is prepared with a writer's lock on this table instead, and so counts for every table.
// Nobody else keeps such a lock on it until the end of a transaction.
constexpr Oid every_table = ExtensionRelationId;

// From now on a transaction that has generated ids counts as a writer of every table. Call this when a part of the
// transaction, a subtransaction or a cursor, has failed, before PostgreSQL releases the locks of this part. For the
// subtransaction itself it does nothing, because the rows of the subtransaction are gone. But a cursor that has failed
// in a subtransaction loses its locks too, and the rows that it inserted before the subtransaction remain.
void count_for_every_table();

// Copies what the transaction has shown to the ledger's table of prepared transactions. Call it when the transaction is
// about to be prepared. Raises an error if the table is full.
void hand_over_to_prepared();

// Takes back what the transaction has shown, because it has ended or is prepared. If `committed` is true, readers with
// an older snapshot can still find it in the ring. This is called after the commit too, where nothing may raise an
// error.
void end_transaction(bool committed);

// The full id that PostgreSQL will give to the next transaction that needs one.
uint64 next_xid();

}  // namespace snowflake_ids::unsettled
