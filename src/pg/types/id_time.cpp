// Compares ids with times, for sno and mastic: operators in the btree families of the ids (src/sql/70-id_time.sql).
// core/time_order.hpp defines the order.
#include "core/time_order.hpp"

#include "pg/types/id_type.hpp"

namespace snowflake_ids {

namespace {

template <class Id>
TimeAmong<Id> time_argument(FunctionCallInfo fcinfo, int n) {
    return {unix_time(PG_GETARG_TIMESTAMPTZ(n))};
}

}  // namespace

// A family of btree operators has every pair of its types. Two times compare as the ids that they stand for, so those
// within one tick may be equal, unlike in the order of timestamptz.
#define TIME_FUNCTIONS(type)                                                                            \
    INEQUALITY_FUNCTIONS(type, _timestamptz,                                                            \
                         compare(id_argument<type::Id>(fcinfo, 0), time_argument<type::Id>(fcinfo, 1))) \
    INEQUALITY_FUNCTIONS(timestamptz, _##type,                                                          \
                         compare(time_argument<type::Id>(fcinfo, 0), id_argument<type::Id>(fcinfo, 1))) \
    INEQUALITY_FUNCTIONS(type##_times, ,                                                                \
                         compare(time_argument<type::Id>(fcinfo, 0), time_argument<type::Id>(fcinfo, 1)))

TIME_FUNCTIONS(sno)
TIME_FUNCTIONS(mastic)

}  // namespace snowflake_ids
