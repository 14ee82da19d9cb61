// Fields of a mastic, mastics from fields, and those that bound a span of time. A Datum has the 64 bits of an id,
// whether its SQL type is mastic or bigint.
#include "core/mastic.hpp"
#include "pg/types/layout_ids.hpp"

namespace snowflake_ids {

namespace {

uint64 mastic_argument(FunctionCallInfo fcinfo) { return static_cast<uint64>(PG_GETARG_INT64(0)); }

// Every 64-bit number is a mastic, so splitting cannot fail.
Layout::Fields mastic_fields(FunctionCallInfo fcinfo) { return mastic::layout.split(mastic_argument(fcinfo)).value; }

TimestampTz mastic_created(FunctionCallInfo fcinfo) {
    return timestamptz(mastic::layout.time_of(mastic_argument(fcinfo)));
}

}  // namespace

FUNCTION(snowflake_ids_mastic_timestamp) { PG_RETURN_TIMESTAMPTZ(mastic_created(fcinfo)); }
FUNCTION(snowflake_ids_mastic_sequence) { PG_RETURN_INT32(static_cast<int32>(mastic_fields(fcinfo).sequence)); }

FUNCTION(snowflake_ids_mastic_decode) {
    Datum values[] = {TimestampTzGetDatum(mastic_created(fcinfo)), UInt32GetDatum(mastic_fields(fcinfo).sequence)};
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
