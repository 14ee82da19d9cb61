// The Snowflake-SI layout of the ids of this database, that travels with WAL. The ledger
// freezes the layout for the whole server (ledger/freeze.hpp); its file does not go along to a
// standby, through pg_upgrade or into a restored copy, and may be removed. With another base
// clock the numbers of old ids would come again.
//
//   last_value  base clock in Unix milliseconds * 100 + machine bits + 1; 0: no id has been drawn in this database
//
// One number, because pg_upgrade takes along no more of a sequence.
#pragma once

#include "core/layout.hpp"
#include "pg/pg.hpp"

namespace snowflake_ids::wal_layout {

// As ledger::pack_layout(), 0 if there is none, or if the objects are of an older version.
uint64 read();

// Before the first id. Not in recovery.
void write(uint64 packed);

// For an operator's reset only.
void forget();

}  // namespace snowflake_ids::wal_layout
