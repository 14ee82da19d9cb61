// What this process shows to readers of the ids that its transaction has generated. From that, readers know which ids
// may still appear (snowflake_ids_settled()). The protocol is in ledger/settling.hpp.
#pragma once

#include "ledger/memory.hpp"
#include "ledger/settling.hpp"
#include "pg/pg.hpp"

namespace snowflake_ids::writer {

// Shows readers that the present transaction has ids of time `t` (ledger/settling.hpp). Returns true if it may use such
// an id. If the result is false, readers were promised that no id of this time appears any more. Then the id must be
// thrown away, and a later one generated. Call this before the first id of each time is used, and again once
// Header::promise is later than `t`.
bool admit(UnixTime t);

// Notes that the present transaction writes to this table, and so to each table that it is a part of. Call it in each
// statement before its first id of the table is generated or checked: the table may have become a part of others.
// Returns the time before which readers may have been told that no id of the table appears any more.
UnixTime will_write(Oid table);

// True if a row of a table may have an id of time `t` that was not generated for it. `noted` is what will_write() has
// returned. Readers of the table then wait for the transaction.
bool may_bring(UnixTime t, UnixTime noted);

// In place of the table of a reader of all tables.
constexpr Oid every_table = InvalidOid;
static_assert(every_table == ledger::all_tables);

// Copies what the transaction has shown to the ledger's table of prepared transactions. Call it when the transaction is
// about to be prepared. Raises an error if the table is full.
void hand_over_to_prepared();

// Takes back what the transaction has shown, because it has ended or is prepared. If `committed` is true, readers with
// an older snapshot can still find it in the ring. If it is committed or `prepared`, readers that wait for rows of its
// tables are woken. This is called after the commit too, where nothing may raise an error.
void end_transaction(bool committed, bool prepared);

// Where in the ledger this process shows its ids.
ledger::Backend& own_backend(const ledger::Ledger& shared);

}  // namespace snowflake_ids::writer
