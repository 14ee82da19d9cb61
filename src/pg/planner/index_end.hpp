// Finds the present largest value of a column at the end of an index, because statistics may be old. Row estimates use
// it.
#pragma once

#include "pg/pg.hpp"

extern "C" {
#include "nodes/pathnodes.h"
#include "utils/selfuncs.h"
}

namespace snowflake_ids {

// A value of a column as a number. Numbers have the same order as the values. A ToKey makes the number of a value.
using Key = unsigned __int128;
using ToKey = Key (*)(Datum);

// Puts the largest value of a column of this type into `out`, as the number that `key` makes of it. Rows that are not
// committed yet count. Returns false if no index has the column first, if the index is empty, or if the search would
// take too long.
bool largest_in_index(PlannerInfo* root, const VariableStatData& variable, Oid type, ToKey key, Key& out);

// The fraction of the present rows of the table that were added since ANALYZE or VACUUM counted them. 0 if it is not
// known.
double growth_since_statistics(PlannerInfo* root, const VariableStatData& variable);

}  // namespace snowflake_ids
