// The type sno: input and output, comparison, hashing, casts. Layout and text are in core/sno.hpp.
#include "core/sno.hpp"

#include <cstring>

#include "pg/datum.hpp"
#include "pg/errors.hpp"
#include "pg/pg.hpp"

extern "C" {
#include "common/hashfn.h"
#include "libpq/pqformat.h"
#include "utils/uuid.h"
}

namespace snowflake_ids {

using sno::Id;

FUNCTION(snowflake_ids_sno_in) {
    const char* text = PG_GETARG_CSTRING(0);
    const Result<Id> id = sno::parse(text, std::strlen(text));
    if (!id) {
        report(id.error, "sno", text, fcinfo->context);
        PG_RETURN_NULL();
    }
    return id_datum(id.value);
}

FUNCTION(snowflake_ids_sno_out) {
    char* text = static_cast<char*>(palloc(sno::text_size + 1));
    sno::print(id_argument<Id>(fcinfo, 0), text);
    text[sno::text_size] = '\0';
    PG_RETURN_CSTRING(text);
}

FUNCTION(snowflake_ids_sno_recv) {
    StringInfo message = reinterpret_cast<StringInfo>(PG_GETARG_POINTER(0));
    const int length = message->len - message->cursor;
    const auto* bytes = reinterpret_cast<const unsigned char*>(pq_getmsgbytes(message, length));
    const Result<Id> id = sno::from_bytes(bytes, static_cast<std::size_t>(length));
    if (!id) {
        report_bytes(id.error, "sno", bytes, static_cast<std::size_t>(length), fcinfo->context);
        PG_RETURN_NULL();
    }
    return id_datum(id.value);
}

FUNCTION(snowflake_ids_sno_send) { return bytea_datum(id_argument<Id>(fcinfo, 0).bytes, sno::binary_size); }

namespace {

int compare_arguments(FunctionCallInfo fcinfo) {
    return compare(id_argument<Id>(fcinfo, 0), id_argument<Id>(fcinfo, 1));
}

}  // namespace

FUNCTION(snowflake_ids_sno_eq) { PG_RETURN_BOOL(compare_arguments(fcinfo) == 0); }
FUNCTION(snowflake_ids_sno_ne) { PG_RETURN_BOOL(compare_arguments(fcinfo) != 0); }
FUNCTION(snowflake_ids_sno_lt) { PG_RETURN_BOOL(compare_arguments(fcinfo) < 0); }
FUNCTION(snowflake_ids_sno_le) { PG_RETURN_BOOL(compare_arguments(fcinfo) <= 0); }
FUNCTION(snowflake_ids_sno_gt) { PG_RETURN_BOOL(compare_arguments(fcinfo) > 0); }
FUNCTION(snowflake_ids_sno_ge) { PG_RETURN_BOOL(compare_arguments(fcinfo) >= 0); }
FUNCTION(snowflake_ids_sno_cmp) { PG_RETURN_INT32(compare_arguments(fcinfo)); }

FUNCTION(snowflake_ids_sno_hash) {
    return UInt32GetDatum(hash_bytes(id_argument<Id>(fcinfo, 0).bytes, sno::binary_size));
}

FUNCTION(snowflake_ids_sno_hash_extended) {
    const uint64 seed = static_cast<uint64>(PG_GETARG_INT64(1));
    return UInt64GetDatum(hash_bytes_extended(id_argument<Id>(fcinfo, 0).bytes, sno::binary_size, seed));
}

FUNCTION(snowflake_ids_sno_to_bytea) { return bytea_datum(id_argument<Id>(fcinfo, 0).bytes, sno::binary_size); }

FUNCTION(snowflake_ids_sno_from_bytea) {
    const bytea* value = PG_GETARG_BYTEA_PP(0);
    const auto* bytes = reinterpret_cast<const unsigned char*>(VARDATA_ANY(value));
    const std::size_t length = VARSIZE_ANY_EXHDR(value);
    const Result<Id> id = sno::from_bytes(bytes, length);
    if (!id) {
        report_bytes(id.error, "sno", bytes, length, fcinfo->context);
        PG_RETURN_NULL();
    }
    return id_datum(id.value);
}

// As the sno document says, a uuid has the 16 characters of the text, not the 10 bytes. The order is the same.
FUNCTION(snowflake_ids_sno_to_uuid) {
    static_assert(sno::text_size == UUID_LEN);
    pg_uuid_t* uuid = static_cast<pg_uuid_t*>(palloc(sizeof(pg_uuid_t)));
    sno::print(id_argument<Id>(fcinfo, 0), reinterpret_cast<char*>(uuid->data));
    PG_RETURN_UUID_P(uuid);
}

FUNCTION(snowflake_ids_sno_from_uuid) {
    const pg_uuid_t* uuid = PG_GETARG_UUID_P(0);
    const Result<Id> id = sno::parse(reinterpret_cast<const char*>(uuid->data), UUID_LEN);
    if (!id) {
        const char* shown = DatumGetCString(DirectFunctionCall1(uuid_out, PG_GETARG_DATUM(0)));
        report(id.error, {.source = Source::uuid, .what = "sno", .shown = shown}, fcinfo->context);
        PG_RETURN_NULL();
    }
    return id_datum(id.value);
}

}  // namespace snowflake_ids
