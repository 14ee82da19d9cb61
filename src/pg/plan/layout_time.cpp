// Ids of any layout, and time. A bigint that is no id of the layout has no time.
//
// The layout is looked up when the query runs, because a plan may live longer than the layout. The planner only has to
// know whether ids of the last half are negative. That is so for layouts with 64 bits, which are all built-in.
#include "pg/plan/bigint_time.hpp"
#include "pg/type/layouts.hpp"

namespace snowflake_ids {

namespace {

constexpr Halves names = {"snowflake_first", "snowflake_last", "snowflake_far_first", "snowflake_far_last"};

Window<std::uint64_t> ids_argument(FunctionCallInfo fcinfo) {
    const Layout layout = layouts::argument(fcinfo, 0).layout;
    return window(LayoutBounds{layout}, range_argument(fcinfo, 1));
}

Span near_argument(FunctionCallInfo fcinfo) { return part(ids_argument(fcinfo), 0, far_half - 1); }
Span far_argument(FunctionCallInfo fcinfo) { return part(ids_argument(fcinfo), far_half, ~std::uint64_t{0}); }

}  // namespace

FUNCTION(snowflake_ids_snowflake_created_in) {
    const auto id = static_cast<uint64>(PG_GETARG_INT64(0));
    const Layout& layout = layouts::argument(fcinfo, 1).layout;
    PG_RETURN_BOOL(id <= layout.max_id() && within(range_argument(fcinfo, 2), layout.time_us(id)));
}

FUNCTION(snowflake_ids_snowflake_first) { PG_RETURN_INT64(near_argument(fcinfo).first); }
FUNCTION(snowflake_ids_snowflake_last) { PG_RETURN_INT64(near_argument(fcinfo).last); }
FUNCTION(snowflake_ids_snowflake_far_first) { PG_RETURN_INT64(far_argument(fcinfo).first); }
FUNCTION(snowflake_ids_snowflake_far_last) { PG_RETURN_INT64(far_argument(fcinfo).last); }

namespace {

constexpr TimePredicate predicates[] = {{snowflake_ids_snowflake_created_in, Comparison::less, 0, 2, true}};

// The layout that a constant names. Without one, the predicate stays and raises its error when it is called.
const NamedLayout* named(const TimeCall& call) {
    const auto* name = static_cast<const Const*>(lsecond(call.arguments));
    if (!IsA(name, Const) || name->constisnull) return nullptr;
    const text* given = DatumGetTextPP(name->constvalue);
    return layouts::find(VARDATA_ANY(given), VARSIZE_ANY_EXHDR(given));
}

bool has_far_half(const NamedLayout* layout) { return layout->layout.bits() == 64; }

List* index_conditions(const TimeCall& call) {
    const NamedLayout* layout = named(call);
    if (layout == nullptr || has_far_half(layout)) return NIL;
    return call.between(names.first, names.last, list_copy_tail(call.arguments, 1));
}

Expr* elsewhere(const TimeCall& call) {
    const NamedLayout* layout = named(call);
    return layout != nullptr && has_far_half(layout) ? both_halves(call, names) : nullptr;
}

// A constant range is treated like any other, because the layout of that name may change.
Expr* for_partitions(const TimeCall& call) {
    Expr* halves = elsewhere(call);
    if (halves != nullptr) return halves;
    List* conditions = index_conditions(call);
    return conditions != NIL ? make_andclause(conditions) : nullptr;
}

constexpr TimeFormat format = {predicates, lengthof(predicates), nullptr, index_conditions, for_partitions, elsewhere};

}  // namespace

FUNCTION(snowflake_ids_snowflake_time_support) { return time_support(fcinfo, format); }

}  // namespace snowflake_ids
