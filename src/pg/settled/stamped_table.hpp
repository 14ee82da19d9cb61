// The room of settled ids: an id or a time before which no new row can appear, or the transactions that hold it back,
// for a whole database or one table. Read ledger/settling.hpp first, then settled.cpp. promise/writer.cpp has what a
// writer shows.
//
// This file knows whether a trigger stamps all rows of a table.
#pragma once

#include "pg/pg.hpp"

namespace snowflake_ids {

enum class StampFormat { any, sno, mastic, snowflake_si, snowflake };

[[noreturn]] void fail_no_table(Oid table);

// Raises an error unless the oid is that of a table or partitioned table of this database, no other session's temporary
// one, and each row that comes into it, its partitions or its children passes a trigger that stamps it with an id of
// this format. Call it after the promise was lifted: then it knows all partitions with rows that do not keep the
// promise.
void check_stamped(Oid table, StampFormat format);

}  // namespace snowflake_ids
