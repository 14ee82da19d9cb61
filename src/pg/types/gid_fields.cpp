// Fields of a gid, gids from fields, and the gids that bound a span of time.
#include "core/gid.hpp"

#include "pg/datum.hpp"
#include "pg/errors.hpp"
#include "pg/pg.hpp"
#include "pg/types/gid_type.hpp"

namespace snowflake_ids {

using gid::Id;
using gid::Kind;

namespace {

Datum kind_datum(const Id& id) { return PointerGetDatum(cstring_to_text(kind_name(gid::kind(id)))); }

}  // namespace

FUNCTION(snowflake_ids_gid_kind) { return kind_datum(id_argument<Id>(fcinfo, 0)); }

FUNCTION(snowflake_ids_gid_decode) {
    const Id& id = id_argument<Id>(fcinfo, 0);
    Datum values[] = {kind_datum(id), TimestampTzGetDatum(timestamptz(gid::time_of(id))),
                      bytea_datum(id.bytes + 8, gid::random_size)};
    return record(fcinfo, values, lengthof(values));
}

// make_gid(kind, created, random)
FUNCTION(snowflake_ids_make_gid) {
    const Kind kind = kind_argument(fcinfo, 0);
    const uint64 ms = tick_argument(fcinfo, 1, "gid", gid::timeline);
    const bytea* random = PG_GETARG_BYTEA_PP(2);
    const auto* bytes = reinterpret_cast<const unsigned char*>(VARDATA_ANY(random));
    const std::size_t length = VARSIZE_ANY_EXHDR(random);
    if (length != gid::random_size)
        ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                        errmsg("invalid random part for gid: %s", show_bytes(bytes, length)),
                        errdetail("The random part has 8 bytes.")));
    return id_datum(gid::make(kind, ms, load_be<gid::random_size>(bytes)));
}

FUNCTION(snowflake_ids_gid_lower_bound) {
    const Kind kind = kind_argument(fcinfo, 0);
    return bound_datum(PG_GETARG_TIMESTAMPTZ(1), "gid", gid::timeline,
                       [kind](UnixTime t) { return gid::lower_bound(kind, t); });
}

FUNCTION(snowflake_ids_gid_upper_bound) {
    const Kind kind = kind_argument(fcinfo, 0);
    return bound_datum(PG_GETARG_TIMESTAMPTZ(1), "gid", gid::timeline,
                       [kind](UnixTime t) { return gid::upper_bound(kind, t); });
}

}  // namespace snowflake_ids
