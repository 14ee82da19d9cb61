// The Snowflake-SI layout of the ids of this database, that travels with WAL. The ledger
// freezes the layout for the whole server (ledger/formats.hpp); its file does not go along to a
// standby, through pg_upgrade or into a restored copy, and may be removed. With another base
// clock the numbers of old ids would come again.
//
//   last_value  base clock in Unix milliseconds << 4 | machine bits, sealed; 0: no id has been drawn in this database
#pragma once

#include <optional>

#include "core/layout.hpp"
#include "pg/pg.hpp"
#include "pg/server/wait.hpp"

namespace snowflake_ids::wal_layout {

// Empty if there is none.
std::optional<Layout> read(const Patience& patience);

// Before the first id. Not in recovery.
void write(const Layout& layout, const Patience& patience);

// For an operator's reset only.
void forget(const Patience& patience);

// A damaged page: see wal_sequence.hpp. What nobody knows any more becomes `layout`, or none.
bool is_damaged(const Patience& patience);
void repair(const std::optional<Layout>& layout, const Patience& patience);

}  // namespace snowflake_ids::wal_layout
