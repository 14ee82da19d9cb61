// What this process shows readers of its transaction's ids, so that they know which ids may still appear. The protocol
// is in ledger/settling.hpp.
#pragma once

#include "ledger/memory.hpp"
#include "ledger/settling.hpp"
#include "pg/pg.hpp"

namespace snowflake_ids::writer {

// Shows readers that the present transaction has ids of time `t`. If false, readers were promised that no such id
// appears any more: throw the id away, and generate a later one. Call this before the first id of each time is used,
// and again once Header::promise is later than `t`.
bool admit(UnixTime t);

// Notes that the present transaction writes to this table, and to those that it is a part of. Call it in each statement
// before its first id, because the table may have become a part of others.
void will_write(Oid table);

// For a reader of all tables.
constexpr Oid every_table = ledger::all_tables;

// Copies what the transaction has shown to the ledger's table of prepared transactions. Call it in PREPARE TRANSACTION.
// Raises an error if the table is full.
void hand_over_to_prepared();

// Takes back what the transaction has shown. If `committed`, readers with an older snapshot still find it in the ring.
// If `committed` or `prepared`, wakes readers that wait for rows of its tables. Raises no error.
void end_transaction(bool committed, bool prepared);

ledger::Backend& own_backend(const ledger::Ledger& shared);

// True if the transaction is neither running nor prepared.
bool is_over(uint64 xid);

}  // namespace snowflake_ids::writer
