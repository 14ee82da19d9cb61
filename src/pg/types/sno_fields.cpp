// Fields of a sno, snos from fields, and the snos that bound a span of time.
#include "pg/types/sno_fields.hpp"

#include "core/sno.hpp"
#include "pg/datum.hpp"
#include "pg/errors.hpp"
#include "pg/pg.hpp"

namespace snowflake_ids {

using sno::Fields;
using sno::Id;

namespace {

constexpr int64 max_partition = 65535;

uint64 sno_tick_argument(FunctionCallInfo fcinfo, int n) { return tick_argument(fcinfo, n, "sno", sno::timeline); }

uint32 partition_argument(FunctionCallInfo fcinfo, int n) {
    return number_argument(fcinfo, n, "partition", Error::node_range, max_partition);
}

uint32 sequence_argument(FunctionCallInfo fcinfo, int n) {
    return number_argument(fcinfo, n, "sequence", Error::sequence_range, sno::max_sequence);
}

uint32 ticktock_argument(FunctionCallInfo fcinfo, int n) {
    return number_argument(fcinfo, n, "ticktock", Error::ticktock_range, 1);
}

Fields fields_argument(FunctionCallInfo fcinfo) { return sno::split(id_argument<Id>(fcinfo, 0)); }

// `argument` reads argument 1.
template <class Field>
Datum with_field(FunctionCallInfo fcinfo, Field Fields::*field, Field (*argument)(FunctionCallInfo, int)) {
    Fields f = fields_argument(fcinfo);
    f.*field = argument(fcinfo, 1);
    return id_datum(sno::compose(f));
}

}  // namespace

FUNCTION(snowflake_ids_sno_timestamp) { PG_RETURN_TIMESTAMPTZ(timestamptz(sno::time_of(id_argument<Id>(fcinfo, 0)))); }
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
    f.units = sno_tick_argument(fcinfo, 0);
    f.metabyte = metabyte_argument(fcinfo, 1);
    f.partition = partition_argument(fcinfo, 2);
    f.sequence = sequence_argument(fcinfo, 3);
    f.ticktock = ticktock_argument(fcinfo, 4);
    return id_datum(sno::compose(f));
}

FUNCTION(snowflake_ids_sno_set_timestamp) { return with_field(fcinfo, &Fields::units, sno_tick_argument); }
FUNCTION(snowflake_ids_sno_set_metabyte) { return with_field(fcinfo, &Fields::metabyte, metabyte_argument); }
FUNCTION(snowflake_ids_sno_set_partition) { return with_field(fcinfo, &Fields::partition, partition_argument); }
FUNCTION(snowflake_ids_sno_set_sequence) { return with_field(fcinfo, &Fields::sequence, sequence_argument); }
FUNCTION(snowflake_ids_sno_set_ticktock) { return with_field(fcinfo, &Fields::ticktock, ticktock_argument); }

// Two bytes, as the sno library for Go has it: 16650 is Partition{'A', 10}. They are bytes 6 and 7 of an id.
FUNCTION(snowflake_ids_sno_partition_to_bytes) {
    unsigned char bytes[2];
    store_be<2>(bytes, partition_argument(fcinfo, 0));
    return bytea_datum(bytes, sizeof bytes);
}

FUNCTION(snowflake_ids_sno_partition_from_bytes) {
    const bytea* given = PG_GETARG_BYTEA_PP(0);
    const auto* bytes = reinterpret_cast<const unsigned char*>(VARDATA_ANY(given));
    const std::size_t length = VARSIZE_ANY_EXHDR(given);
    if (length != 2)
        report(Error::bad_length,
               {.source = Source::argument, .what = "sno partition", .shown = show_bytes(bytes, length)});
    PG_RETURN_INT32(static_cast<int32>(load_be<2>(bytes)));
}

FUNCTION(snowflake_ids_sno_lower_bound) {
    return bound_datum(PG_GETARG_TIMESTAMPTZ(0), "sno", sno::timeline, sno::lower_bound);
}
FUNCTION(snowflake_ids_sno_upper_bound) {
    return bound_datum(PG_GETARG_TIMESTAMPTZ(0), "sno", sno::timeline, sno::upper_bound);
}

}  // namespace snowflake_ids
