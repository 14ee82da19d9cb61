// The table of a feed, its partitions and its children: whether a poll reads all their rows.
#pragma once

#include "pg/feed/position.hpp"
#include "pg/pg.hpp"

extern "C" {
#include "nodes/plannodes.h"
}

namespace snowflake_ids::feed {

// Checks the table before a poll reads it. `plan` is that of the poll, or null if it is unknown. `deletions` is the
// table of deletions, or InvalidOid. Raises
//   - mend_the_table if rows can come or go without a poll telling it, or if row security hides rows from this role;
//   - 40001 if the plan has other parts than the snapshot, or if a part was rewritten after the snapshot was taken;
//   - copy_again if a part was added with rows that this reader counts as read, or may have been truncated unnoticed.
void check_parts(Oid table, Oid deletions, const Since& since, Snapshot snapshot, const PlannedStmt* plan);

}  // namespace snowflake_ids::feed
