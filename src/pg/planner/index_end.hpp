// The end of an index is the present largest value of a column, even if its statistics are old. Row estimates use it.
#pragma once

#include "pg/pg.hpp"

extern "C" {
#include "nodes/pathnodes.h"
#include "utils/selfuncs.h"
}

namespace snowflake_ids {

// The values of a column as numbers in the same order.
using Key = unsigned __int128;
using ToKey = Key (*)(Datum);

// The largest value of a column of this type, as the number that `key` makes of it. Rows that are not committed yet
// count. False if there is no index for it, if the index is empty, or if the search would take too long.
bool largest_in_index(PlannerInfo* root, const VariableStatData& variable, Oid type, ToKey key, Key& out);

// The fraction of the table's rows that were added since ANALYZE or VACUUM counted them.
double growth_since_statistics(PlannerInfo* root, const VariableStatData& variable);

}  // namespace snowflake_ids
