// Fields of a mastic, mastics from fields, and those that bound a span of time. A Datum has the 64 bits of an id,
// whether its SQL type is mastic or bigint.
#include "core/mastic.hpp"
#include "pg/types/make_id.hpp"

namespace snowflake_ids {

namespace {

// Every 64-bit number is a mastic, so splitting cannot fail.
Layout::Fields fields(FunctionCallInfo fcinfo) {
    return mastic::layout.split(id_argument<mastic::Id>(fcinfo, 0).number).value;
}

}  // namespace

FUNCTION(snowflake_ids_mastic_sequence) { PG_RETURN_INT32(static_cast<int32>(fields(fcinfo).sequence)); }

FUNCTION(snowflake_ids_mastic_decode) {
    const Layout::Fields f = fields(fcinfo);
    Datum values[] = {TimestampTzGetDatum(timestamptz(mastic::layout.timeline.start(f.tick))),
                      UInt32GetDatum(f.sequence)};
    return record(fcinfo, values, lengthof(values));
}

FUNCTION(snowflake_ids_make_mastic) { return make_id(fcinfo, mastic::layout, "mastic", 0, nullptr, "sequence"); }
FUNCTION(snowflake_ids_mastic_lower_bound) {
    return bound_datum(PG_GETARG_TIMESTAMPTZ(0), "mastic", mastic::layout, &Layout::lower_bound);
}
FUNCTION(snowflake_ids_mastic_upper_bound) {
    return bound_datum(PG_GETARG_TIMESTAMPTZ(0), "mastic", mastic::layout, &Layout::upper_bound);
}

}  // namespace snowflake_ids
