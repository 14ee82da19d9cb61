// Compares ids with times, for sno and mastic: operators in the btree families of the ids (src/sql/70-id_time.sql).
// core/time_order.hpp defines the order.
#include "core/time_order.hpp"

#include "pg/datum.hpp"
#include "pg/pg.hpp"

namespace snowflake_ids {

namespace {

template <class Id>
int compare_id_time(FunctionCallInfo fcinfo) {
    return compare(id_argument<Id>(fcinfo, 0), TimeAmong<Id>{unix_time(PG_GETARG_TIMESTAMPTZ(1))});
}

template <class Id>
int compare_time_id(FunctionCallInfo fcinfo) {
    return compare(TimeAmong<Id>{unix_time(PG_GETARG_TIMESTAMPTZ(0))}, id_argument<Id>(fcinfo, 1));
}

// Times between the same two ticks are equal.
template <class Id>
int compare_times(FunctionCallInfo fcinfo) {
    return compare(TimeAmong<Id>{unix_time(PG_GETARG_TIMESTAMPTZ(0))},
                   TimeAmong<Id>{unix_time(PG_GETARG_TIMESTAMPTZ(1))});
}

}  // namespace

// The operators < <= >= > and the btree comparison: snowflake_ids_sno_lt_timestamptz and so on.
#define MEMBERS(before, after, compare)                                            \
    FUNCTION(snowflake_ids_##before##_lt##after) { PG_RETURN_BOOL(compare < 0); }  \
    FUNCTION(snowflake_ids_##before##_le##after) { PG_RETURN_BOOL(compare <= 0); } \
    FUNCTION(snowflake_ids_##before##_ge##after) { PG_RETURN_BOOL(compare >= 0); } \
    FUNCTION(snowflake_ids_##before##_gt##after) { PG_RETURN_BOOL(compare > 0); }  \
    FUNCTION(snowflake_ids_##before##_cmp##after) { PG_RETURN_INT32(compare); }

MEMBERS(sno, _timestamptz, compare_id_time<sno::Id>(fcinfo))
MEMBERS(timestamptz, _sno, compare_time_id<sno::Id>(fcinfo))
MEMBERS(sno_times, , compare_times<sno::Id>(fcinfo))
MEMBERS(mastic, _timestamptz, compare_id_time<mastic::Id>(fcinfo))
MEMBERS(timestamptz, _mastic, compare_time_id<mastic::Id>(fcinfo))
MEMBERS(mastic_times, , compare_times<mastic::Id>(fcinfo))

}  // namespace snowflake_ids
