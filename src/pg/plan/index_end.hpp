// The end of an index: the largest value of a column now, however old its statistics are. For row estimates.
#pragma once

#include "pg/pg.hpp"

extern "C" {
#include "nodes/pathnodes.h"
#include "utils/selfuncs.h"
}

namespace snowflake_ids {

// The largest value of a column whose values have `length` bytes, passed by reference, and are sorted by the btree
// `family`. Rows that are not committed yet count. False if there is no index for it, or nothing in it, or if it would
// take too long to find.
bool largest_in_index(PlannerInfo* root, const VariableStatData& variable, Oid family, void* value, std::size_t length);

// The fraction of the rows of the variable's table that were added since the server counted them, by ANALYZE or VACUUM.
double growth_since_statistics(PlannerInfo* root, const VariableStatData& variable);

}  // namespace snowflake_ids
