// The Snowflake-SI layout of this database's ids, in a sequence that is WAL-logged. The ledger remembers (freezes) one
// layout for the whole server (ledger/formats.hpp). But its file does not reach a standby, a restored copy or a server
// after pg_upgrade, and somebody may remove it. With another base clock old ids would be issued again.
//
//   last_value  base clock in Unix milliseconds << 4 | machine bits, sealed (ledger/sealed.hpp);
//               0: no id has been drawn in this database
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

// For a damaged page, see wal_sequence.hpp. repair() writes `layout`, or none, in place of what is lost.
bool is_damaged(const Patience& patience);
void repair(const std::optional<Layout>& layout, const Patience& patience);

}  // namespace snowflake_ids::wal_layout
