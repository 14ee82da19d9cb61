// The type gid: input, type modifier, casts.
//
// The type modifier of gid(kind) is the kind: 0 volume, 1 log, 2 segment; -1: none. It restricts the values of a
// column, and never changes one.
#include "pg/types/gid_type.hpp"

#include "pg/types/id_type.hpp"

extern "C" {
#include "catalog/pg_type.h"
#include "utils/array.h"
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

// Users can call these functions with any modifier.
Kind kind_of_modifier(int32 modifier) {
    if (modifier < 0 || modifier >= gid::kind_count)
        report(Error::bad_length, {.source = Source::modifier, .what = "gid"});
    return static_cast<Kind>(modifier);
}

// After a soft error, the result is false.
bool check_kind(const Id& id, int32 modifier, Node* escontext) {
    if (modifier == -1) return true;
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

}  // namespace

Kind kind_argument(FunctionCallInfo fcinfo, int n) {
    const text* name = PG_GETARG_TEXT_PP(n);
    return kind_named(VARDATA_ANY(name), VARSIZE_ANY_EXHDR(name));
}

ORDER_FUNCTIONS(gid)
BYTE_FUNCTIONS(gid)

namespace {

// Argument 2 is the type modifier.
Datum kept_id(FunctionCallInfo fcinfo, const Result<Id>& id) {
    if (id && !check_kind(id.value, PG_GETARG_INT32(2), fcinfo->context)) PG_RETURN_NULL();
    return id_or_null(fcinfo, id);
}

}  // namespace

FUNCTION(snowflake_ids_gid_in) { return kept_id(fcinfo, id_from_text<gid::Type>(fcinfo)); }
FUNCTION(snowflake_ids_gid_recv) { return kept_id(fcinfo, id_from_message<gid::Type>(fcinfo)); }

// The modifier for the words in the brackets of gid(...), which must be exactly one kind.
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

// For a value that is stored in a column with a modifier, or cast to a type with one. NULL after a soft error.
FUNCTION(snowflake_ids_gid_check_modifier) {
    const Id& id = id_argument<Id>(fcinfo, 0);
    if (!check_kind(id, PG_GETARG_INT32(1), fcinfo->context)) PG_RETURN_NULL();
    return PG_GETARG_DATUM(0);
}

// The cast from gid to uuid needs no function, because both have 16 bytes in the same order.
FUNCTION(snowflake_ids_gid_from_uuid) {
    return id_or_null(fcinfo, id_from_uuid<gid::Type>(fcinfo, Source::binary, [](const unsigned char* bytes) {
                          return gid::from_bytes(bytes, UUID_LEN);
                      }));
}

}  // namespace snowflake_ids
