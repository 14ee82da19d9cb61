// The type gid: input and output, type modifier, comparison, hashing, casts. Layout and text are
// in core/gid.hpp.
//
// The type modifier is the kind: 0 volume, 1 log, 2 segment, -1 none. It restricts values and never changes them.
#include "pg/type/gid_type.hpp"

#include <cstring>

#include "pg/datum.hpp"
#include "pg/errors.hpp"

extern "C" {
#include "catalog/pg_type.h"
#include "common/hashfn.h"
#include "libpq/pqformat.h"
#include "utils/array.h"
#include "utils/uuid.h"
}

namespace snowflake_ids {

using gid::Id;
using gid::Kind;

namespace {

Kind kind_named(const char* name, std::size_t length) {
    if (const Result<Kind> kind = gid::kind_of_name(name, length)) return kind.value;
    report(Error::bad_kind, {.source = Source::argument, .what = "gid kind", .shown = pnstrdup(name, length)});
    pg_unreachable();
}

// Checked, because SQL can call the functions here with any number; the server itself takes modifiers from the
// catalogs.
Kind kind_of_modifier(int32 modifier) {
    if (modifier < 0 || modifier >= gid::kind_count)
        report(Error::bad_length, {.source = Source::modifier, .what = "gid"});
    return static_cast<Kind>(modifier);
}

// Checks that a column with this modifier may contain the id. Otherwise an error; in a soft context, the error is
// saved and the result is false.
bool check_kind(const Id& id, int32 modifier, Node* escontext) {
    const Kind wanted = kind_of_modifier(modifier);
    if (gid::kind(id) == wanted) return true;
    char text[gid::text_size + 1];
    gid::print(id, text);
    text[gid::text_size] = '\0';
    report(
        Error::bad_kind,
        {Source::modifier, psprintf("gid(%s)", kind_name(wanted)), text, kind_name(wanted), kind_name(gid::kind(id))},
        escontext);
    return false;
}

inline bool check_modifier(const Id& id, int32 modifier, Node* escontext) {
    return modifier == -1 || check_kind(id, modifier, escontext);
}

}  // namespace

Kind kind_argument(FunctionCallInfo fcinfo, int n) {
    const text* name = PG_GETARG_TEXT_PP(n);
    return kind_named(VARDATA_ANY(name), VARSIZE_ANY_EXHDR(name));
}

FUNCTION(snowflake_ids_gid_in) {
    const char* text = PG_GETARG_CSTRING(0);
    const Result<Id> id = gid::parse(text, std::strlen(text));
    if (!id) {
        report(id.error, "gid", text, fcinfo->context);
        PG_RETURN_NULL();
    }
    if (!check_modifier(id.value, PG_GETARG_INT32(2), fcinfo->context)) PG_RETURN_NULL();
    return id_datum(id.value);
}

FUNCTION(snowflake_ids_gid_out) {
    char* text = static_cast<char*>(palloc(gid::text_size + 1));
    gid::print(id_argument<Id>(fcinfo, 0), text);
    text[gid::text_size] = '\0';
    PG_RETURN_CSTRING(text);
}

FUNCTION(snowflake_ids_gid_recv) {
    StringInfo message = reinterpret_cast<StringInfo>(PG_GETARG_POINTER(0));
    const int length = message->len - message->cursor;
    const auto* bytes = reinterpret_cast<const unsigned char*>(pq_getmsgbytes(message, length));
    const Result<Id> id = gid::from_bytes(bytes, static_cast<std::size_t>(length));
    if (!id) {
        report_bytes(id.error, "gid", bytes, static_cast<std::size_t>(length), fcinfo->context);
        PG_RETURN_NULL();
    }
    if (!check_modifier(id.value, PG_GETARG_INT32(2), fcinfo->context)) PG_RETURN_NULL();
    return id_datum(id.value);
}

FUNCTION(snowflake_ids_gid_send) { return bytea_datum(id_argument<Id>(fcinfo, 0).bytes, gid::binary_size); }

FUNCTION(snowflake_ids_gid_typmod_in) {
    ArrayType* modifiers = PG_GETARG_ARRAYTYPE_P(0);
    Datum* names;
    int count;
    deconstruct_array(modifiers, CSTRINGOID, -2, false, TYPALIGN_CHAR, &names, nullptr, &count);
    if (count != 1) report(Error::bad_length, {.source = Source::modifier, .what = "gid"});
    const char* name = DatumGetCString(names[0]);
    PG_RETURN_INT32(static_cast<int32>(kind_named(name, std::strlen(name))));
}

FUNCTION(snowflake_ids_gid_typmod_out) {
    PG_RETURN_CSTRING(psprintf("(%s)", kind_name(kind_of_modifier(PG_GETARG_INT32(0)))));
}

// The server calls this when a value is stored in a column with a modifier, or cast to a type with one.
FUNCTION(snowflake_ids_gid_check_modifier) {
    const Id& id = id_argument<Id>(fcinfo, 0);
    if (!check_modifier(id, PG_GETARG_INT32(1), fcinfo->context)) PG_RETURN_NULL();
    return PG_GETARG_DATUM(0);
}

namespace {

int compare_arguments(FunctionCallInfo fcinfo) {
    return compare(id_argument<Id>(fcinfo, 0), id_argument<Id>(fcinfo, 1));
}

}  // namespace

FUNCTION(snowflake_ids_gid_eq) { PG_RETURN_BOOL(compare_arguments(fcinfo) == 0); }
FUNCTION(snowflake_ids_gid_ne) { PG_RETURN_BOOL(compare_arguments(fcinfo) != 0); }
FUNCTION(snowflake_ids_gid_lt) { PG_RETURN_BOOL(compare_arguments(fcinfo) < 0); }
FUNCTION(snowflake_ids_gid_le) { PG_RETURN_BOOL(compare_arguments(fcinfo) <= 0); }
FUNCTION(snowflake_ids_gid_gt) { PG_RETURN_BOOL(compare_arguments(fcinfo) > 0); }
FUNCTION(snowflake_ids_gid_ge) { PG_RETURN_BOOL(compare_arguments(fcinfo) >= 0); }
FUNCTION(snowflake_ids_gid_cmp) { PG_RETURN_INT32(compare_arguments(fcinfo)); }

FUNCTION(snowflake_ids_gid_hash) {
    return UInt32GetDatum(hash_bytes(id_argument<Id>(fcinfo, 0).bytes, gid::binary_size));
}

FUNCTION(snowflake_ids_gid_hash_extended) {
    const uint64 seed = static_cast<uint64>(PG_GETARG_INT64(1));
    return UInt64GetDatum(hash_bytes_extended(id_argument<Id>(fcinfo, 0).bytes, gid::binary_size, seed));
}

FUNCTION(snowflake_ids_gid_to_bytea) { return bytea_datum(id_argument<Id>(fcinfo, 0).bytes, gid::binary_size); }

FUNCTION(snowflake_ids_gid_from_bytea) {
    const bytea* value = PG_GETARG_BYTEA_PP(0);
    const auto* bytes = reinterpret_cast<const unsigned char*>(VARDATA_ANY(value));
    const std::size_t length = VARSIZE_ANY_EXHDR(value);
    const Result<Id> id = gid::from_bytes(bytes, length);
    if (!id) {
        report_bytes(id.error, "gid", bytes, length, fcinfo->context);
        PG_RETURN_NULL();
    }
    return id_datum(id.value);
}

// The cast from gid to uuid needs no function: both types are 16 bytes in the same order.
FUNCTION(snowflake_ids_gid_from_uuid) {
    const pg_uuid_t* uuid = PG_GETARG_UUID_P(0);
    const Result<Id> id = gid::from_bytes(uuid->data, UUID_LEN);
    if (!id) {
        const char* shown = DatumGetCString(DirectFunctionCall1(uuid_out, PG_GETARG_DATUM(0)));
        report(id.error, {.source = Source::binary, .what = "gid", .shown = shown}, fcinfo->context);
        PG_RETURN_NULL();
    }
    return id_datum(id.value);
}

}  // namespace snowflake_ids
