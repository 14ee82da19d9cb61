// Snowflake-SI ids and time. A bigint that is no id (negative, or more than 53 bits) has no time.
//
// Base clock and width from the settings are looked up when the query runs, because the settings can change after
// planning. If they are arguments and valid constants, the planner uses them. Otherwise the predicate stays, and
// raises the same errors about them as the function.
#include "core/snowflake_si.hpp"

#include "pg/plan/bigint_time.hpp"
#include "pg/type/layouts.hpp"

namespace snowflake_ids {

namespace {

Span ids_of(const Layout& layout, const Times& times) {
    return part(window(LayoutBounds{layout}, times), 0, layout.max_id());
}

}  // namespace

FUNCTION(snowflake_ids_snowflake_si_created_in) {
    const auto id = static_cast<uint64>(PG_GETARG_INT64(0));
    const Layout layout = layouts::snowflake_si_argument(fcinfo, 2);
    PG_RETURN_BOOL(id <= layout.max_id() && within(range_argument(fcinfo, 1), layout.time_us(id)));
}

FUNCTION(snowflake_ids_snowflake_si_first) {
    PG_RETURN_INT64(ids_of(layouts::snowflake_si_argument(fcinfo, 1), range_argument(fcinfo, 0)).first);
}
FUNCTION(snowflake_ids_snowflake_si_last) {
    PG_RETURN_INT64(ids_of(layouts::snowflake_si_argument(fcinfo, 1), range_argument(fcinfo, 0)).last);
}

namespace {

constexpr TimePredicate predicates[] = {{snowflake_ids_snowflake_si_created_in, Comparison::less, 0, 1, true}};

bool from_settings(const TimeCall& call) { return list_length(call.arguments) == 2; }

// The layout from the arguments base_clock and machine_bits.
Result<Layout> constant_layout(const TimeCall& call) {
    const auto* base_clock = static_cast<const Const*>(lthird(call.arguments));
    const auto* machine_bits = static_cast<const Const*>(lfourth(call.arguments));
    if (!IsA(base_clock, Const) || base_clock->constisnull || !IsA(machine_bits, Const) || machine_bits->constisnull)
        return Error::bad_base_clock;
    return snowflake_si::layout(unix_us(DatumGetTimestampTz(base_clock->constvalue)),
                                DatumGetInt32(machine_bits->constvalue));
}

List* index_conditions(const TimeCall& call) {
    if (!from_settings(call) && !constant_layout(call)) return NIL;
    return call.between("snowflake_si_first", "snowflake_si_last", list_copy_tail(call.arguments, 1));
}

Expr* with_constants(const TimeCall& call) {
    if (from_settings(call)) return nullptr;
    const Result<Layout> layout = constant_layout(call);
    return layout ? within_constants(call, ids_of(layout.value, known_times(call))) : nullptr;
}

constexpr TimeFormat format = {predicates, lengthof(predicates), with_constants, index_conditions};

}  // namespace

FUNCTION(snowflake_ids_snowflake_si_time_support) { return time_support(fcinfo, format); }

}  // namespace snowflake_ids
