// A bigint next to a time is an error, because the bigint may have ids of any layout.
#include "pg/datum.hpp"
#include "pg/pg.hpp"

extern "C" {
#include "nodes/supportnodes.h"
}

namespace snowflake_ids {

namespace {

[[noreturn]] void fail() {
    ereport(
        ERROR,
        (errcode(ERRCODE_UNDEFINED_FUNCTION), errmsg("a bigint cannot be compared with a time"),
         errdetail("A bigint may have ids of any layout, and each layout has other ids for a time."),
         errhint(
             "Compare with the first id of the time: mastic_lower_bound(time), snowflake_si_lower_bound(time) or snowflake_lower_bound('layout', time).")));
}

}  // namespace

// The planner asks the support function first, so this is called only where nothing is planned.
FUNCTION(snowflake_ids_bigint_time) { fail(); }

// Raises the error for a query on an empty table too.
FUNCTION(snowflake_ids_bigint_time_support) {
    if (IsA(reinterpret_cast<Node*>(PG_GETARG_POINTER(0)), SupportRequestSimplify)) fail();
    return Datum{0};
}

}  // namespace snowflake_ids
