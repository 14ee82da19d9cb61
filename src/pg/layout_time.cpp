// Ids of any layout, and time. A bigint that is no id of the layout was created at no time.
//
// The layout is looked up when the query runs: a plan may outlive it. What the planner must know is only whether ids
// of the last half are negative, as Mastic's: those of layouts with 64 bits, all of them known ones.
#include "pg/bigint_time.hpp"
#include "pg/layouts.hpp"

namespace snowflake_ids {

namespace {

constexpr std::uint64_t far_half = std::uint64_t{1} << 63;

// snowflake_first(layout, created) and its like.
struct Half {
    Span near, far;
};

Half ids_argument(FunctionCallInfo fcinfo) {
    const Layout layout = layouts::argument(fcinfo, 0).layout;
    const auto ids = window(LayoutBounds{layout}, range_argument(fcinfo, 1));
    return {part(ids, 0, far_half - 1), part(ids, far_half, ~std::uint64_t{0})};
}

Expr* rewrite_created_in(PlannerInfo* root, const FuncExpr* call, const TimePredicate&) {
    Node* layout = static_cast<Node*>(lsecond(call->args));
    const auto* name = reinterpret_cast<const Const*>(layout);
    const Sides s{static_cast<Node*>(linitial(call->args)), static_cast<Node*>(lthird(call->args)), INT8OID,
                  call->funcid};
    if (!IsA(layout, Const) || name->constisnull || !bigint_may_rewrite(root, s)) return nullptr;
    const text* given = DatumGetTextPP(name->constvalue);
    // Without one the predicate remains, and complains when it is called.
    const NamedLayout* named = layouts::find(VARDATA_ANY(given), VARSIZE_ANY_EXHDR(given));
    if (named == nullptr) return nullptr;
    List* arguments = list_make2(layout, s.time);
    Expr* near = s.between("snowflake_first", "snowflake_last", arguments);
    if (near == nullptr || named->layout.bits() < 64) return near;
    Expr* far = s.between("snowflake_far_first", "snowflake_far_last", arguments);
    return far == nullptr ? nullptr : make_orclause(list_make2(near, far));
}

}  // namespace

FUNCTION(snowflake_created_in) {
    const auto id = static_cast<uint64>(PG_GETARG_INT64(0));
    const Layout& layout = layouts::argument(fcinfo, 1).layout;
    PG_RETURN_BOOL(id <= layout.max_id() && within(range_argument(fcinfo, 2), layout.time_us(id)));
}

FUNCTION(snowflake_first) { PG_RETURN_INT64(ids_argument(fcinfo).near.first); }
FUNCTION(snowflake_last) { PG_RETURN_INT64(ids_argument(fcinfo).near.last); }
FUNCTION(snowflake_far_first) { PG_RETURN_INT64(ids_argument(fcinfo).far.first); }
FUNCTION(snowflake_far_last) { PG_RETURN_INT64(ids_argument(fcinfo).far.last); }

FUNCTION(snowflake_time_support) {
    static constexpr TimePredicate predicates[] = {{snowflake_ids_snowflake_created_in, Comparison::less, false, true}};
    return support(fcinfo, predicates, rewrite_created_in);
}

}  // namespace snowflake_ids
