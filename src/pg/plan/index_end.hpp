// The end of an index: the present largest value of a column, even if its statistics are old. For row estimates.
#pragma once

#include "pg/pg.hpp"

extern "C" {
#include "nodes/pathnodes.h"
#include "utils/selfuncs.h"
}

namespace snowflake_ids {

// The largest value of a column. Its values must have `length` bytes and be sorted by the btree `family`. Rows that are
// not committed yet count. False if there is no index for it, if the index is empty, or if the search would take too
// long.
bool largest_in_index(PlannerInfo* root, const VariableStatData& variable, Oid family, void* value, std::size_t length);

// The fraction of the table's rows that were added since ANALYZE or VACUUM counted them.
double growth_since_statistics(PlannerInfo* root, const VariableStatData& variable);

}  // namespace snowflake_ids
