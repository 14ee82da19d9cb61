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

FUNCTION(snowflake_ids_gid_out) { return id_to_text<Id, gid::text_size>(fcinfo); }

namespace {

Kind kind_named(const char* name, std::size_t length) {
    for (int k = 0; k < gid::kind_count; k++)
        if (gid::kind_names[k] == std::string_view(name, length)) return static_cast<Kind>(k);
    ereport(ERROR,
            (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("unrecognized gid kind: \"%s\"", pnstrdup(name, length)),
             errdetail("The kinds are volume, log and segment.")));
}

[[noreturn]] void fail_modifier() {
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("invalid type modifier for type gid"),
                    errdetail("The modifiers are gid(volume), gid(log) and gid(segment).")));
}

// Users can call these functions with any modifier.
Kind kind_of_modifier(int32 modifier) {
    if (modifier < 0 || modifier >= gid::kind_count) fail_modifier();
    return static_cast<Kind>(modifier);
}

// The id if it has the kind of the modifier. NULL after a soft error, also of the input function before.
Datum check_modifier(FunctionCallInfo fcinfo, Datum id, int32 modifier) {
    if (modifier == -1 || fcinfo->isnull) return id;
    const Kind wanted = kind_of_modifier(modifier), kind = gid::kind(id_in<Id>(id));
    if (kind == wanted) return id;
    const char* text = DatumGetCString(DirectFunctionCall1(snowflake_ids_gid_out, id));
    errsave(fcinfo->context, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                              errmsg("wrong kind of id for type gid(%s): \"%s\"", kind_name(wanted), text),
                              errdetail("gid(%1$s) accepts only ids of kind %1$s, but this is a %2$s id.",
                                        kind_name(wanted), kind_name(kind))));
    PG_RETURN_NULL();
}

}  // namespace

Kind kind_argument(FunctionCallInfo fcinfo, int n) {
    const text* name = PG_GETARG_TEXT_PP(n);
    return kind_named(VARDATA_ANY(name), VARSIZE_ANY_EXHDR(name));
}

ID_FUNCTIONS(gid)

// Argument 2 of the input functions is the type modifier.
FUNCTION(snowflake_ids_gid_in) {
    return check_modifier(fcinfo, id_from_text<gid::parse>(fcinfo, "gid"), PG_GETARG_INT32(2));
}
FUNCTION(snowflake_ids_gid_recv) {
    return check_modifier(fcinfo, id_from_message<gid::from_bytes>(fcinfo, "gid"), PG_GETARG_INT32(2));
}
FUNCTION(snowflake_ids_gid_send) { return bytea_datum(id_argument<Id>(fcinfo, 0).bytes, gid::binary_size); }
FUNCTION(snowflake_ids_gid_from_bytea) { return id_from_bytea<gid::from_bytes>(fcinfo, "gid"); }

// The modifier for the words in the brackets of gid(...), which must be exactly one kind.
FUNCTION(snowflake_ids_gid_typmod_in) {
    ArrayType* modifiers = PG_GETARG_ARRAYTYPE_P(0);
    Datum* names;
    int count;
    deconstruct_array(modifiers, CSTRINGOID, -2, false, TYPALIGN_CHAR, &names, nullptr, &count);
    if (count != 1) fail_modifier();
    const char* name = DatumGetCString(names[0]);
    PG_RETURN_INT32(static_cast<int32>(kind_named(name, std::strlen(name))));
}

FUNCTION(snowflake_ids_gid_typmod_out) {
    PG_RETURN_CSTRING(psprintf("(%s)", kind_name(kind_of_modifier(PG_GETARG_INT32(0)))));
}

// For a value that is stored in a column with a modifier, or cast to a type with one.
FUNCTION(snowflake_ids_gid_check_modifier) { return check_modifier(fcinfo, PG_GETARG_DATUM(0), PG_GETARG_INT32(1)); }

}  // namespace snowflake_ids
