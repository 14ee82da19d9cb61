// Snowflake-SI ids and time. A bigint that is no id (negative, or of more than 53 bits) was created at no time.
//
// A base clock and width from the settings are looked up when the query runs, for the settings can change after it was
// planned. Those from arguments are used where they are valid constants; else the predicate remains as it is, and
// complains about them as the function does.
#include "core/snowflake_si.hpp"

#include "pg/bigint_time.hpp"
#include "pg/snowflake_si_fields.hpp"

namespace snowflake_ids {

namespace {

Span ids_of(const Layout& layout, const Times& times) {
    return part(window(LayoutBounds{layout}, times), 0, layout.max_id());
}

// The layout from the arguments base_clock and machine_bits.
Result<Layout> constant_layout(const FuncExpr* call) {
    const auto* base_clock = static_cast<const Const*>(lthird(call->args));
    const auto* machine_bits = static_cast<const Const*>(lfourth(call->args));
    if (!IsA(base_clock, Const) || base_clock->constisnull || !IsA(machine_bits, Const) || machine_bits->constisnull)
        return Error::bad_base_clock;
    return snowflake_si::layout(unix_us(DatumGetTimestampTz(base_clock->constvalue)),
                                DatumGetInt32(machine_bits->constvalue));
}

Expr* rewrite_created_in(PlannerInfo* root, const FuncExpr* call, const TimePredicate& predicate) {
    const Sides s = sides(call, predicate);
    const bool from_settings = list_length(call->args) == 2;
    if (!bigint_may_rewrite(root, s)) return nullptr;
    if (from_settings) return s.between("snowflake_si_first", "snowflake_si_last", list_make1(s.time));
    const Result<Layout> layout = constant_layout(call);
    if (!layout) return nullptr;
    if (!IsA(s.time, Const))
        return s.between("snowflake_si_first", "snowflake_si_last",
                         list_make3(s.time, lthird(call->args), lfourth(call->args)));
    Expr* ids = within_constants(s, ids_of(layout.value, constant_times(s.time)));
    return ids != nullptr ? ids : no_bigint(s);
}

}  // namespace

FUNCTION(snowflake_si_created_in) {
    const auto id = static_cast<uint64>(PG_GETARG_INT64(0));
    const Layout layout = layout_argument(fcinfo, 2);
    PG_RETURN_BOOL(id <= layout.max_id() && within(range_argument(fcinfo, 1), layout.time_us(id)));
}

FUNCTION(snowflake_si_first) { PG_RETURN_INT64(ids_of(layout_argument(fcinfo, 1), range_argument(fcinfo, 0)).first); }
FUNCTION(snowflake_si_last) { PG_RETURN_INT64(ids_of(layout_argument(fcinfo, 1), range_argument(fcinfo, 0)).last); }

FUNCTION(snowflake_si_time_support) {
    static constexpr TimePredicate predicates[] = {
        {snowflake_ids_snowflake_si_created_in, Comparison::less, false, true}};
    return support(fcinfo, predicates, rewrite_created_in);
}

}  // namespace snowflake_ids
