// Looking inside a Snowflake-SI id, putting one together, and the ids that bound a time range.
//
// Base clock and machine id width are not in the id. Each function here serves two SQL functions:
// one takes them from the settings, the other as two more arguments at the end.
#include "pg/snowflake_si_fields.hpp"

#include "core/snowflake_si.hpp"
#include "pg/datum.hpp"
#include "pg/errors.hpp"
#include "pg/pg.hpp"
#include "pg/settings.hpp"

namespace snowflake_ids {

namespace {

constexpr const char* name = "Snowflake-SI id";

[[noreturn]] void report_base_clock(TimestampTz given) {
    constexpr int64 last = 253402300799999000;  // 9999-12-31 23:59:59.999+00, as core has it
    static_assert(snowflake_si::layout(last, 0) && !snowflake_si::layout(last + 1000, 0));
    report(Error::bad_base_clock,
           {Source::argument, "base_clock", show_time(given), show_time(timestamptz(snowflake_si::min_base_clock_us)),
            show_time(timestamptz(last))});
    pg_unreachable();
}

}  // namespace

Layout layout_argument(FunctionCallInfo fcinfo, int n) {
    if (PG_NARGS() == n) return settings::snowflake_si_layout();
    const TimestampTz base_clock = PG_GETARG_TIMESTAMPTZ(n);
    const uint32 machine_bits =
        number_argument(fcinfo, n + 1, "machine_bits", Error::bad_width, snowflake_si::max_machine_bits);
    const Result<Layout> layout = snowflake_si::layout(unix_us(base_clock), machine_bits);
    if (!layout) report_base_clock(base_clock);
    return layout.value;
}

namespace {

struct Inside {
    Layout layout;
    Layout::Fields fields;
};

Inside inside_argument(FunctionCallInfo fcinfo) {
    const int64 id = PG_GETARG_INT64(0);
    const Layout layout = layout_argument(fcinfo, 1);
    const Result<Layout::Fields> fields = layout.split(static_cast<uint64>(id));
    if (!fields) report_range(fields.error, name, id, 0, static_cast<int64>(layout.max_id()));
    return {layout, fields.value};
}

Datum created_datum(const Inside& i) {
    return TimestampTzGetDatum(timestamptz(i.layout.timeline.start_us(i.fields.tick)));
}

}  // namespace

FUNCTION(snowflake_si_timestamp) { return created_datum(inside_argument(fcinfo)); }
FUNCTION(snowflake_si_machine_id) { PG_RETURN_INT32(static_cast<int32>(inside_argument(fcinfo).fields.node)); }
FUNCTION(snowflake_si_uin) { PG_RETURN_INT32(static_cast<int32>(inside_argument(fcinfo).fields.sequence)); }

FUNCTION(snowflake_si_decode) {
    const Inside i = inside_argument(fcinfo);
    Datum values[] = {created_datum(i), UInt32GetDatum(i.fields.node), UInt32GetDatum(i.fields.sequence)};
    return record(fcinfo, values, lengthof(values));
}

FUNCTION(make_snowflake_si) {
    const TimestampTz t = PG_GETARG_TIMESTAMPTZ(0);
    const Layout layout = layout_argument(fcinfo, 3);
    const Result<std::uint64_t> tick = layout.timeline.floor_tick(unix_us(t));
    if (!tick) report_time(tick.error, name, layout.timeline, t);
    const uint32 machine_id = number_argument(fcinfo, 1, "machine_id", Error::node_range, layout.max_node());
    const uint32 uin = number_argument(fcinfo, 2, "uin", Error::sequence_range, layout.max_sequence());
    PG_RETURN_INT64(static_cast<int64>(layout.compose({tick.value, machine_id, uin})));
}

FUNCTION(snowflake_si_lower_bound) {
    const TimestampTz t = PG_GETARG_TIMESTAMPTZ(0);
    const Layout layout = layout_argument(fcinfo, 1);
    const Result<std::uint64_t> id = layout.lower_bound(unix_us(t));
    if (!id) report_bound(id.error, name, layout.timeline, t);
    PG_RETURN_INT64(static_cast<int64>(id.value));
}

FUNCTION(snowflake_si_upper_bound) {
    const TimestampTz t = PG_GETARG_TIMESTAMPTZ(0);
    const Layout layout = layout_argument(fcinfo, 1);
    const Result<std::uint64_t> id = layout.upper_bound(unix_us(t));
    if (!id) report_bound(id.error, name, layout.timeline, t);
    PG_RETURN_INT64(static_cast<int64>(id.value));
}

}  // namespace snowflake_ids
