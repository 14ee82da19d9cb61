// Mastic ids and time. From the year 6485 on the ids are negative: the far half (bigint_time.hpp).
#include "core/mastic.hpp"

#include "pg/plan/bigint_time.hpp"

namespace snowflake_ids {

namespace {

constexpr Halves names = {"mastic_first", "mastic_last", "mastic_far_first", "mastic_far_last"};

constexpr Window<std::uint64_t> ids_of(const Times& times) { return window(LayoutBounds{mastic::layout}, times); }
constexpr Span near(const Times& times) { return part(ids_of(times), 0, far_half - 1); }
constexpr Span far(const Times& times) { return part(ids_of(times), far_half, ~std::uint64_t{0}); }

}  // namespace

FUNCTION(snowflake_ids_mastic_created_in) {
    const int64 us = mastic::layout.time_us(static_cast<uint64>(PG_GETARG_INT64(0)));
    PG_RETURN_BOOL(within(range_argument(fcinfo, 1), us));
}

FUNCTION(snowflake_ids_mastic_first) { PG_RETURN_INT64(near(range_argument(fcinfo, 0)).first); }
FUNCTION(snowflake_ids_mastic_last) { PG_RETURN_INT64(near(range_argument(fcinfo, 0)).last); }
FUNCTION(snowflake_ids_mastic_far_first) { PG_RETURN_INT64(far(range_argument(fcinfo, 0)).first); }
FUNCTION(snowflake_ids_mastic_far_last) { PG_RETURN_INT64(far(range_argument(fcinfo, 0)).last); }

namespace {

constexpr TimePredicate predicates[] = {{snowflake_ids_mastic_created_in, Comparison::less, 0, 1, true}};

Expr* with_constants(const TimeCall& call) {
    const Times times = known_times(call);
    const Span near_ids = near(times), far_ids = far(times);
    if (far_ids.empty()) return within_constants(call, near_ids);
    if (near_ids.empty()) return within_constants(call, far_ids);
    return make_orclause(list_make2(within_constants(call, near_ids), within_constants(call, far_ids)));
}

// One index condition cannot describe both halves.
List* index_conditions(const TimeCall&) { return NIL; }

Expr* replacement(const TimeCall& call) { return both_halves(call, names); }

constexpr TimeFormat format = {predicates,       lengthof(predicates), with_constants,
                               index_conditions, replacement,          replacement};

}  // namespace

FUNCTION(snowflake_ids_mastic_time_support) { return time_support(fcinfo, format); }

}  // namespace snowflake_ids
