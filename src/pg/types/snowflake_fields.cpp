// Fields of an id of a 64-bit layout, making an id from fields, and the ids that bound a span of time.
//
// The functions of the formats differ only in where the layout comes from:
//   Snowflake-SI           the layout is fixed, as that of Mastic (mastic_fields.cpp)
//   other layouts          a name, or six arguments at the end: a function here serves both forms
//
// A Datum has the 64 bits of an id, whether its type in SQL is mastic or bigint. As a bigint, ids in the last half of a
// 64-bit layout are negative. That matters only for the order of bigint, not here. SQL declares all these functions
// STRICT, so no argument is NULL.
#include "core/snowflake_si.hpp"
#include "pg/datum.hpp"
#include "pg/errors.hpp"
#include "pg/layouts/layouts.hpp"
#include "pg/pg.hpp"
#include "pg/types/layout_fields.hpp"

namespace snowflake_ids {

namespace {

// An id of a layout, split into its fields.
struct SplitId {
    Layout layout;
    Layout::Fields fields;
};

// Splits the id in argument 0. Raises an error if it has bits above the layout; `what` names the ids in that error.
SplitId split_argument(FunctionCallInfo fcinfo, const Layout& layout, const char* what) {
    const int64 id = PG_GETARG_INT64(0);
    const Result<Layout::Fields> fields = layout.split(static_cast<uint64>(id));
    if (!fields) fail_range(fields.error, what, id, 0, static_cast<int64>(layout.max_id()));
    return {layout, fields.value};
}

// The time of an id, as timestamptz.
Datum created_datum(const SplitId& i) {
    return TimestampTzGetDatum(timestamptz(i.layout.timeline.start(i.fields.tick)));
}

// The time, node and sequence of an id, as a row.
Datum fields_record(FunctionCallInfo fcinfo, const SplitId& i) {
    Datum values[] = {created_datum(i), UInt32GetDatum(i.fields.node), UInt32GetDatum(i.fields.sequence)};
    return record(fcinfo, values, lengthof(values));
}

}  // namespace

// ---- Snowflake-SI

namespace {

// The words for these ids in messages.
const char* snowflake_si_id() { return "Snowflake-SI id"; }

// The fields of the Snowflake-SI id in argument 0. Raises an error if it has more than 53 bits.
SplitId snowflake_si_argument(FunctionCallInfo fcinfo) {
    return split_argument(fcinfo, snowflake_si::layout, snowflake_si_id());
}

// The lowest or highest id for the time in argument 0: see bound_of_time().
Datum snowflake_si_bound(FunctionCallInfo fcinfo, Bound of) {
    const TimestampTz t = PG_GETARG_TIMESTAMPTZ(0);
    return bound_of_time(snowflake_si::layout, of, t, snowflake_si_id);
}

}  // namespace

FUNCTION(snowflake_ids_snowflake_si_timestamp) { return created_datum(snowflake_si_argument(fcinfo)); }
FUNCTION(snowflake_ids_snowflake_si_machine_id) {
    PG_RETURN_INT32(static_cast<int32>(snowflake_si_argument(fcinfo).fields.node));
}
FUNCTION(snowflake_ids_snowflake_si_uin) {
    PG_RETURN_INT32(static_cast<int32>(snowflake_si_argument(fcinfo).fields.sequence));
}
FUNCTION(snowflake_ids_snowflake_si_decode) { return fields_record(fcinfo, snowflake_si_argument(fcinfo)); }
FUNCTION(snowflake_ids_make_snowflake_si) {
    return make_from_arguments(fcinfo, snowflake_si::layout, {0, "machine_id", "uin"}, snowflake_si_id);
}
FUNCTION(snowflake_ids_snowflake_si_lower_bound) { return snowflake_si_bound(fcinfo, &Layout::lower_bound); }
FUNCTION(snowflake_ids_snowflake_si_upper_bound) { return snowflake_si_bound(fcinfo, &Layout::upper_bound); }

// ---- any layout

namespace {

// Returns a function that makes the words for ids in messages: "NAME id" if `named` (argument 0 is the name of a
// layout), or just "id" if the fields of a layout are given.
auto words_for_ids(FunctionCallInfo fcinfo, bool named) {
    return [fcinfo, named] { return named ? psprintf("%s id", text_to_cstring(PG_GETARG_TEXT_PP(0))) : "id"; };
}

// The id in argument 0, split. Argument 1 is the name of its layout, or the fields of the layout begin there. Raises an
// error if there is no such layout, or if the id has bits above it.
SplitId snowflake_argument(FunctionCallInfo fcinfo) {
    return split_argument(fcinfo, layouts::named_or_fields(fcinfo, {.name = 1, .fields = 1, .count = 2}), "id");
}

// The lowest or highest id for a time, as bigint: see bound_of_time(). The arguments are the name of a layout and the
// time, or the time and the six fields of a layout.
Datum snowflake_bound(FunctionCallInfo fcinfo, Bound of) {
    const bool named = PG_NARGS() == 2;
    const TimestampTz t = PG_GETARG_TIMESTAMPTZ(named ? 1 : 0);
    return bound_of_time(layouts::named_or_fields(fcinfo, {.name = 0, .fields = 1, .count = 2}), of, t,
                         words_for_ids(fcinfo, named));
}

}  // namespace

FUNCTION(snowflake_ids_snowflake_timestamp) { return created_datum(snowflake_argument(fcinfo)); }
FUNCTION(snowflake_ids_snowflake_decode) { return fields_record(fcinfo, snowflake_argument(fcinfo)); }
// make_snowflake(layout, created, node, sequence), or (created, node, sequence) and the six fields of a layout.
FUNCTION(snowflake_ids_make_snowflake) {
    const bool named = PG_NARGS() == 4;
    return make_from_arguments(fcinfo, layouts::named_or_fields(fcinfo, {.name = 0, .fields = 3, .count = 4}),
                               {named ? 1 : 0, "node", "sequence"}, words_for_ids(fcinfo, named));
}
FUNCTION(snowflake_ids_snowflake_lower_bound) { return snowflake_bound(fcinfo, &Layout::lower_bound); }
FUNCTION(snowflake_ids_snowflake_upper_bound) { return snowflake_bound(fcinfo, &Layout::upper_bound); }

}  // namespace snowflake_ids
