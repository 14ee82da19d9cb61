// Finds the present largest value of a column at the end of an index, because statistics may be old.
#pragma once

#include "pg/pg.hpp"

extern "C" {
#include "nodes/pathnodes.h"
#include "utils/selfuncs.h"
}

namespace snowflake_ids {

// A value of a column as a number, in the same order.
using Key = unsigned __int128;
using ToKey = Key (*)(Datum);

// Rows that are not committed yet count. False if no index has the column first, if the index is empty, or if the
// search takes too long.
bool largest_in_index(PlannerInfo* root, const VariableStatData& variable, Oid type, ToKey key, Key& out);

// The fraction of the table's rows added since ANALYZE or VACUUM counted them; 0 if unknown.
double growth_since_statistics(PlannerInfo* root, const VariableStatData& variable);

}  // namespace snowflake_ids
