// The room of settled ids. It receives calls of sno_settled() and similar functions, for a whole database or for one
// table. It returns an id or a time before which no new row can appear, or the transactions that hold this time back.
// Read ledger/settling.hpp first, then settled.cpp. promise/writer.cpp has what a writer shows.
//
// This file knows whether a trigger stamps all rows of a table.
#pragma once

#include "pg/pg.hpp"

namespace snowflake_ids {

// The formats of stamps.
enum class StampFormat { any, sno, mastic, snowflake_si, snowflake };

// Raises the error that there is no table with this oid.
[[noreturn]] void fail_no_table(Oid table);

// Raises an error unless the oid is that of a table or a partitioned table of this database; if it is a temporary table
// of another session; and if a row can come into it, its partitions or its children past a trigger that stamps the row
// with an id of this format. Call it after the promise was lifted: then it knows all partitions with rows that do not
// keep the promise.
void check_stamped(Oid table, StampFormat format);

}  // namespace snowflake_ids
