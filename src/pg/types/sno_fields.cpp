// Fields of a sno, snos from fields, and the snos that bound a span of time.
#include "pg/types/sno_fields.hpp"

#include "core/sno.hpp"
#include "pg/datum.hpp"
#include "pg/pg.hpp"

namespace snowflake_ids {

using sno::Fields;
using sno::Id;

namespace {

Fields fields_argument(FunctionCallInfo fcinfo) { return sno::split(id_argument<Id>(fcinfo, 0)); }

}  // namespace

FUNCTION(snowflake_ids_sno_ticktock) { PG_RETURN_INT32(static_cast<int32>(fields_argument(fcinfo).ticktock)); }
FUNCTION(snowflake_ids_sno_metabyte) { PG_RETURN_INT32(static_cast<int32>(fields_argument(fcinfo).metabyte)); }
FUNCTION(snowflake_ids_sno_partition) { PG_RETURN_INT32(static_cast<int32>(fields_argument(fcinfo).partition)); }
FUNCTION(snowflake_ids_sno_sequence) { PG_RETURN_INT32(static_cast<int32>(fields_argument(fcinfo).sequence)); }

FUNCTION(snowflake_ids_sno_decode) {
    const Fields f = fields_argument(fcinfo);
    Datum values[] = {TimestampTzGetDatum(timestamptz(sno::timeline.start(f.units))), UInt32GetDatum(f.ticktock),
                      UInt32GetDatum(f.metabyte), UInt32GetDatum(f.partition), UInt32GetDatum(f.sequence)};
    return record(fcinfo, values, lengthof(values));
}

// make_sno(created, metabyte, partition, sequence, ticktock)
FUNCTION(snowflake_ids_make_sno) {
    Fields f;
    f.units = tick_argument(fcinfo, 0, "sno", sno::timeline);
    f.metabyte = metabyte_argument(fcinfo, 1);
    f.partition = number_argument(fcinfo, 2, "partition", 65535);
    f.sequence = number_argument(fcinfo, 3, "sequence", sno::max_sequence);
    f.ticktock = number_argument(fcinfo, 4, "ticktock", 1);
    return id_datum(sno::compose(f));
}

FUNCTION(snowflake_ids_sno_lower_bound) {
    return bound_datum(PG_GETARG_TIMESTAMPTZ(0), "sno", sno::timeline, sno::lower_bound);
}
FUNCTION(snowflake_ids_sno_upper_bound) {
    return bound_datum(PG_GETARG_TIMESTAMPTZ(0), "sno", sno::timeline, sno::upper_bound);
}

}  // namespace snowflake_ids
