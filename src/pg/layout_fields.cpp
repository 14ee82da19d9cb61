// Looking inside an id of any layout, putting one together, and the ids that bound a time range.
//
// Each function here serves two SQL functions: one is told the layout's name, the other its fields, as six more
// arguments at the end.
#include "pg/datum.hpp"
#include "pg/errors.hpp"
#include "pg/layouts.hpp"
#include "pg/pg.hpp"

namespace snowflake_ids {

namespace {

struct Inside {
    Layout layout;
    Layout::Fields fields;
};

// Arguments id and layout, or id and fields. As for Mastic, the ids of a layout of 64 bits are all bigints: those of
// the last half are negative.
Inside inside_argument(FunctionCallInfo fcinfo) {
    const int64 id = PG_GETARG_INT64(0);
    const Layout layout = layouts::named_or_fields(fcinfo, 1, 1, 2);
    const Result<Layout::Fields> fields = layout.split(static_cast<uint64>(id));
    if (!fields) report_range(fields.error, "id", id, 0, static_cast<int64>(layout.max_id()));
    return {layout, fields.value};
}

Datum created_datum(const Inside& i) {
    return TimestampTzGetDatum(timestamptz(i.layout.timeline.start_us(i.fields.tick)));
}

const char* what(FunctionCallInfo fcinfo, int n, int count) {
    return PG_NARGS() > count ? "id" : psprintf("%s id", text_to_cstring(PG_GETARG_TEXT_PP(n)));
}

// The bound of a time: with the layout's name the time is the second argument, else the first.
Datum bound(FunctionCallInfo fcinfo, Result<std::uint64_t> (Layout::*of)(int64) const) {
    const TimestampTz t = PG_GETARG_TIMESTAMPTZ(PG_NARGS() > 2 ? 0 : 1);
    const Layout layout = layouts::named_or_fields(fcinfo, 0, 1, 2);
    const Result<std::uint64_t> id = (layout.*of)(unix_us(t));
    if (!id) report_bound(id.error, what(fcinfo, 0, 2), layout.timeline, t);
    PG_RETURN_INT64(static_cast<int64>(id.value));
}

}  // namespace

FUNCTION(snowflake_timestamp) { return created_datum(inside_argument(fcinfo)); }

FUNCTION(snowflake_decode) {
    const Inside i = inside_argument(fcinfo);
    Datum values[] = {created_datum(i), UInt32GetDatum(i.fields.node), UInt32GetDatum(i.fields.sequence)};
    return record(fcinfo, values, lengthof(values));
}

FUNCTION(make_snowflake) {
    // layout, created, node, sequence; or created, node, sequence and fields
    const int first = PG_NARGS() > 4 ? 0 : 1;
    const TimestampTz t = PG_GETARG_TIMESTAMPTZ(first);
    const Layout layout = layouts::named_or_fields(fcinfo, 0, 3, 4);
    const Result<std::uint64_t> tick = layout.timeline.floor_tick(unix_us(t));
    if (!tick) report_time(tick.error, what(fcinfo, 0, 4), layout.timeline, t);
    const uint32 node = number_argument(fcinfo, first + 1, "node", Error::node_range, layout.max_node());
    const uint32 sequence =
        number_argument(fcinfo, first + 2, "sequence", Error::sequence_range, layout.max_sequence());
    PG_RETURN_INT64(static_cast<int64>(layout.compose({tick.value, node, sequence})));
}

FUNCTION(snowflake_lower_bound) { return bound(fcinfo, &Layout::lower_bound); }
FUNCTION(snowflake_upper_bound) { return bound(fcinfo, &Layout::upper_bound); }

}  // namespace snowflake_ids
