// The room of settled ids. It receives calls of sno_settled() and similar functions, for a whole database or for one
// table. It returns an id or a time before which no new row can appear, or the transactions that hold this time back.
// Read ledger/settling.hpp first, then settled.cpp. generate/unsettled.cpp has what a writer shows.
//
// This file finds out which transactions may have generated an id for a row of a table. Such a transaction holds the
// lock on the table that each writer takes. It takes the lock before the row's DEFAULT is evaluated, and keeps it until
// it has ended. The protocol is in ledger/settling.hpp.
#pragma once

#include "pg/generate/unsettled.hpp"
#include "pg/pg.hpp"

extern "C" {
#include "nodes/pg_list.h"
#include "storage/proc.h"
}

namespace snowflake_ids {

// Raises an error unless the oid is that of a table or a partitioned table of this database. Also raises an error for a
// temporary table of another session, whose rows this session cannot read.
void check_is_table(Oid table);

// The transactions that may write to a table. A row may be inserted through the table itself, through its partitions
// and children, or through the tables that it is a part of. So a lock on any of these relatives counts. Call has() and
// has_prepared() after the promise was lifted. A table that is attached later, or a lock that is taken later, then only
// leads to ids that keep the promise. All transactions are writers of unsettled::every_table.
class TableWriters {
public:
    explicit TableWriters(Oid table) : table_(table) {}

    // True if the process holds the lock of a writer, in the fast path of its locks or in the main lock table.
    bool has(PGPROC& process);

    // True if the prepared transaction with this place holds the lock of a writer. A prepared transaction has no locks
    // in a fast path.
    bool has_prepared(PGPROC& place) { return has_in_main_table(place, false); }

private:
    bool is_relative(Oid relation) const;
    bool find_relatives();
    bool has_in_main_table(PGPROC& place, bool is_process);

    Oid table_;
    List* relatives_ = NIL;  // oids in order, with the table itself and every_table; NIL: not found yet
    uint32 partitions_ = 0;  // a bit for each partition of the main lock table that may have locks on the relatives
};

}  // namespace snowflake_ids
