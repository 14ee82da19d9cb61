// Fields of an id of a 64-bit layout, ids from fields, and the ids that bound a span of time.
#include "core/snowflake_si.hpp"
#include "pg/datum.hpp"
#include "pg/errors.hpp"
#include "pg/layouts/layouts.hpp"
#include "pg/pg.hpp"
#include "pg/types/make_id.hpp"

namespace snowflake_ids {

namespace {

// An id is argument 0. The name of its layout follows, or six fields; for Snowflake-SI, nothing.
Layout layout_of_id(FunctionCallInfo fcinfo) {
    return PG_NARGS() == 1   ? snowflake_si::layout
           : PG_NARGS() == 2 ? layouts::argument(fcinfo, 1).layout
                             : layouts::from_fields(fcinfo, 1);
}

// The layout of the ids that a function makes, and its words for errors. Argument 0 names the layout; a function
// without this argument makes Snowflake-SI ids.
struct Wanted {
    Layout layout;
    const char* ids;  // the word for them, and the arguments, in errors
    const char *node, *sequence;
    int created;  // the argument
};

Wanted wanted(FunctionCallInfo fcinfo, bool named) {
    if (!named) return {snowflake_si::layout, "Snowflake-SI id", "machine_id", "uin", 0};
    const NamedLayout& layout = layouts::argument(fcinfo, 0);
    return {layout.layout, psprintf("%s id", layout.name), "node", "sequence", 1};
}

Datum bound(FunctionCallInfo fcinfo, Bound of) {
    const Wanted w = wanted(fcinfo, PG_NARGS() == 2);
    return bound_datum(PG_GETARG_TIMESTAMPTZ(w.created), w.ids, w.layout, of);
}

}  // namespace

FUNCTION(snowflake_ids_snowflake_timestamp) {
    const Layout layout = layout_of_id(fcinfo);
    const Layout::Fields f = split_id(layout, PG_GETARG_INT64(0), "id");
    PG_RETURN_TIMESTAMPTZ(timestamptz(layout.timeline.start(f.tick)));
}

FUNCTION(snowflake_ids_snowflake_decode) {
    const Layout layout = layout_of_id(fcinfo);
    const Layout::Fields f = split_id(layout, PG_GETARG_INT64(0), "id");
    Datum values[] = {TimestampTzGetDatum(timestamptz(layout.timeline.start(f.tick))), UInt32GetDatum(f.node),
                      UInt32GetDatum(f.sequence)};
    return record(fcinfo, values, lengthof(values));
}

FUNCTION(snowflake_ids_make_snowflake) {
    const Wanted w = wanted(fcinfo, PG_NARGS() == 4);
    return make_id(fcinfo, w.layout, w.ids, w.created, w.node, w.sequence);
}

FUNCTION(snowflake_ids_snowflake_lower_bound) { return bound(fcinfo, &Layout::lower_bound); }
FUNCTION(snowflake_ids_snowflake_upper_bound) { return bound(fcinfo, &Layout::upper_bound); }

}  // namespace snowflake_ids
