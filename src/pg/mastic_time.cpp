// Mastic ids and time.
//
// SQL compares a Mastic id as a signed number: ids from the year 6485 on, the far half, are below all others. So the
// ids of a span of time are up to two intervals, one in each half, and a predicate is an OR of two: for a constant
// range mostly one of them, for any other range both, for its end is not known when the query is planned.
#include "core/mastic.hpp"

#include "pg/bigint_time.hpp"

namespace snowflake_ids {

namespace {

constexpr std::uint64_t far_half = std::uint64_t{1} << 63;

constexpr Window<std::uint64_t> ids_of(const Times& times) { return window(LayoutBounds{mastic::layout}, times); }
constexpr Span near(const Times& times) { return part(ids_of(times), 0, far_half - 1); }
constexpr Span far(const Times& times) { return part(ids_of(times), far_half, ~std::uint64_t{0}); }

Expr* rewrite_created_in(PlannerInfo* root, const FuncExpr* call, const TimePredicate& predicate) {
    const Sides s = sides(call, predicate);
    if (!bigint_may_rewrite(root, s)) return nullptr;
    if (!IsA(s.time, Const)) {
        Expr* near_half = s.between("mastic_first", "mastic_last", list_make1(s.time));
        Expr* other_half = s.between("mastic_far_first", "mastic_far_last", list_make1(s.time));
        return near_half != nullptr && other_half != nullptr ? make_orclause(list_make2(near_half, other_half))
                                                             : nullptr;
    }
    const Times times = constant_times(s.time);
    Expr* near_half = within_constants(s, near(times));
    Expr* other_half = within_constants(s, far(times));
    if (near_half != nullptr && other_half != nullptr) return make_orclause(list_make2(near_half, other_half));
    if (near_half != nullptr) return near_half;
    return other_half != nullptr ? other_half : no_bigint(s);
}

}  // namespace

FUNCTION(mastic_created_in) {
    const int64 us = mastic::layout.time_us(static_cast<uint64>(PG_GETARG_INT64(0)));
    PG_RETURN_BOOL(within(range_argument(fcinfo, 1), us));
}

FUNCTION(mastic_first) { PG_RETURN_INT64(near(range_argument(fcinfo, 0)).first); }
FUNCTION(mastic_last) { PG_RETURN_INT64(near(range_argument(fcinfo, 0)).last); }
FUNCTION(mastic_far_first) { PG_RETURN_INT64(far(range_argument(fcinfo, 0)).first); }
FUNCTION(mastic_far_last) { PG_RETURN_INT64(far(range_argument(fcinfo, 0)).last); }

FUNCTION(mastic_time_support) {
    static constexpr TimePredicate predicates[] = {{snowflake_ids_mastic_created_in, Comparison::less, false, true}};
    return support(fcinfo, predicates, rewrite_created_in);
}

}  // namespace snowflake_ids
