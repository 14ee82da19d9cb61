// A bigint next to a time is an error, because the bigint may have ids of any layout.
#include "pg/pg.hpp"

// The planner's support function, too: called first, it raises the error also for a query on an empty table.
FUNCTION(snowflake_ids_bigint_time) {
    (void) fcinfo;
    ereport(
        ERROR,
        (errcode(ERRCODE_UNDEFINED_FUNCTION), errmsg("a bigint cannot be compared with a time"),
         errdetail("A bigint may have ids of any layout, and each layout has other ids for a time."),
         errhint(
             "Compare with the first id of the time: mastic_lower_bound(time), snowflake_si_lower_bound(time) or snowflake_lower_bound('layout', time).")));
}
