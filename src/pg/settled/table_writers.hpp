// The room of settled ids. Enters: sno_settled() and its like, of a whole database or of one table. Leaves: an id or a
// time before which no row will appear, and who holds it back. Read ledger/settling.hpp first, then settled.cpp. What a
// writer shows is in generate/unsettled.cpp.
//
// This file: which transactions may have generated an id for a row of a table. They hold a lock on it that a writer
// takes. A writer takes it before the row's DEFAULT is evaluated, and keeps it until its transaction has ended. The
// protocol is in ledger/settling.hpp.
#pragma once

#include "pg/generate/unsettled.hpp"
#include "pg/pg.hpp"

extern "C" {
#include "nodes/pg_list.h"
#include "storage/proc.h"
}

namespace snowflake_ids {

// Raises an error for a relation whose rows are elsewhere: a view, a foreign table, a temporary table of another
// session.
void check_is_table(Oid table);

// The writers of a table. A row may be inserted through the table itself, through its partitions and children, or
// through the tables that it is a part of. Ask after the promise was lifted. Then what is attached or locked later only
// gets ids that keep the promise. All transactions are writers of unsettled::every_table.
class TableWriters {
public:
    explicit TableWriters(Oid table) : table_(table) {}

    // True if the process holds the lock of a writer.
    bool has(PGPROC& process);

    // True if the prepared transaction with this place holds the lock of a writer. It has no fast path.
    bool has_prepared(PGPROC& place) { return has_in_main_table(place, false); }

private:
    bool is_relative(Oid relation) const;
    bool find_relatives();
    bool has_in_main_table(PGPROC& place, bool is_process);

    Oid table_;
    List* relatives_ = NIL;  // in order; with the table itself
    uint32 partitions_ = 0;  // of the main lock table: those that may have locks on them
};

}  // namespace snowflake_ids
