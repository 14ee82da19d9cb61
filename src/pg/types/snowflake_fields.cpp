// Fields of an id of a 64-bit layout, ids from fields, and the ids that bound a span of time.
//
// The layout of Snowflake-SI is fixed. For others it is an argument.
#include "core/snowflake_si.hpp"
#include "pg/datum.hpp"
#include "pg/errors.hpp"
#include "pg/layouts/layouts.hpp"
#include "pg/pg.hpp"
#include "pg/types/layout_ids.hpp"

namespace snowflake_ids {

namespace {

struct SplitId {
    Layout layout;
    Layout::Fields fields;
};

SplitId split_argument(FunctionCallInfo fcinfo, const Layout& layout, const char* what) {
    return {layout, split_id(layout, PG_GETARG_INT64(0), what)};
}

Datum created_datum(const SplitId& i) {
    return TimestampTzGetDatum(timestamptz(i.layout.timeline.start(i.fields.tick)));
}

Datum fields_record(FunctionCallInfo fcinfo, const SplitId& i) {
    Datum values[] = {created_datum(i), UInt32GetDatum(i.fields.node), UInt32GetDatum(i.fields.sequence)};
    return record(fcinfo, values, lengthof(values));
}

}  // namespace

// ---- Snowflake-SI

namespace {

constexpr const char* snowflake_si_id = "Snowflake-SI id";

SplitId snowflake_si_argument(FunctionCallInfo fcinfo) {
    return split_argument(fcinfo, snowflake_si::layout, snowflake_si_id);
}

Datum snowflake_si_bound(FunctionCallInfo fcinfo, Bound of) {
    return bound_datum(PG_GETARG_TIMESTAMPTZ(0), snowflake_si_id, snowflake_si::layout, of);
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
    return make_id(fcinfo, snowflake_si::layout, snowflake_si_id, 0, "machine_id", "uin");
}
FUNCTION(snowflake_ids_snowflake_si_lower_bound) { return snowflake_si_bound(fcinfo, &Layout::lower_bound); }
FUNCTION(snowflake_ids_snowflake_si_upper_bound) { return snowflake_si_bound(fcinfo, &Layout::upper_bound); }

// ---- any layout

namespace {

// The second argument is the name of a layout, or six fields begin with it.
SplitId snowflake_argument(FunctionCallInfo fcinfo) {
    return split_argument(fcinfo,
                          PG_NARGS() > 2 ? layouts::from_fields(fcinfo, 1) : layouts::argument(fcinfo, 1).layout, "id");
}

const char* word_for_ids(const NamedLayout& named) { return psprintf("%s id", named.name); }

Datum snowflake_bound(FunctionCallInfo fcinfo, Bound of) {
    const NamedLayout& named = layouts::argument(fcinfo, 0);
    return bound_datum(PG_GETARG_TIMESTAMPTZ(1), word_for_ids(named), named.layout, of);
}

}  // namespace

FUNCTION(snowflake_ids_snowflake_timestamp) { return created_datum(snowflake_argument(fcinfo)); }
FUNCTION(snowflake_ids_snowflake_decode) { return fields_record(fcinfo, snowflake_argument(fcinfo)); }
FUNCTION(snowflake_ids_make_snowflake) {
    const NamedLayout& named = layouts::argument(fcinfo, 0);
    return make_id(fcinfo, named.layout, word_for_ids(named), 1, "node", "sequence");
}
FUNCTION(snowflake_ids_snowflake_lower_bound) { return snowflake_bound(fcinfo, &Layout::lower_bound); }
FUNCTION(snowflake_ids_snowflake_upper_bound) { return snowflake_bound(fcinfo, &Layout::upper_bound); }

}  // namespace snowflake_ids
