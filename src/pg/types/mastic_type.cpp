// The type mastic: input and output, comparison, sorting, casts. Layout and text are in core/mastic.hpp.
//
// It has the 8 bytes of a bigint, by value, compared without a sign. Where that makes no difference the SQL functions
// are PostgreSQL's own for bigint: hashing, binary input and output, smaller integers as bigint.
#include "pg/types/id_type.hpp"

extern "C" {
#include "nodes/makefuncs.h"
#include "nodes/supportnodes.h"
#include "utils/numeric.h"
}

namespace snowflake_ids {

using mastic::Id;

namespace {

// Raises the error that a text is no mastic. In a soft context, the error is saved.
void fail_text(Error error, const char* text, Node* escontext) {
    report(error, {Source::text, "mastic", text, "0", psprintf(UINT64_FORMAT, mastic::layout.max_id())}, escontext);
}

}  // namespace

FUNCTION(snowflake_ids_mastic_in) {
    const char* text = PG_GETARG_CSTRING(0);
    const Result<std::uint64_t> id = mastic::parse(text, std::strlen(text));
    if (unlikely(!id)) {
        fail_text(id.error, text, fcinfo->context);
        PG_RETURN_NULL();
    }
    return id_datum(Id{id.value});
}

FUNCTION(snowflake_ids_mastic_out) {
    // As int8out() does it: the same function writes the digits, and the result has its own length.
    char text[mastic::max_text_size];
    const auto length = static_cast<std::size_t>(pg_ulltoa_n(id_argument<Id>(fcinfo, 0).number, text));
    char* out = static_cast<char*>(palloc(length + 1));
    std::memcpy(out, text, length);
    out[length] = '\0';
    PG_RETURN_CSTRING(out);
}

ORDER_FUNCTIONS(mastic)

// ---- bigint, which has the same bits

// The planner support function of casts that keep the bits. It replaces the call by a relabeling, as varchar's own cast
// does. That costs nothing, and a column can change its type without a rewrite.
FUNCTION(snowflake_ids_same_bits_support) {
    Node* request = reinterpret_cast<Node*>(PG_GETARG_POINTER(0));
    if (!IsA(request, SupportRequestSimplify)) return Datum{0};
    const FuncExpr* call = reinterpret_cast<SupportRequestSimplify*>(request)->fcall;
    PG_RETURN_POINTER(makeRelabelType(static_cast<Expr*>(linitial(call->args)), call->funcresulttype, -1, InvalidOid,
                                      call->funcformat));
}

// ---- numeric, which has all ids as they are written

FUNCTION(snowflake_ids_mastic_to_numeric) {
    char text[mastic::max_text_size + 1];
    text[pg_ulltoa_n(id_argument<Id>(fcinfo, 0).number, text)] = '\0';
    return DirectFunctionCall3(numeric_in, CStringGetDatum(text), ObjectIdGetDatum(InvalidOid), Int32GetDatum(-1));
}

// The number is rounded to a whole one, as PostgreSQL does when it converts a numeric to a bigint.
FUNCTION(snowflake_ids_mastic_from_numeric) {
    const Datum given = PG_GETARG_DATUM(0);
    const Numeric number = DatumGetNumeric(given);
    if (numeric_is_nan(number) || numeric_is_inf(number))
        ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                        errmsg("cannot convert %s to %s", numeric_is_nan(number) ? "NaN" : "infinity", "mastic")));
    const Datum whole = DirectFunctionCall2(numeric_round, given, Int32GetDatum(0));
    const char* text = DatumGetCString(DirectFunctionCall1(numeric_out, whole));
    const Result<std::uint64_t> id = mastic::parse(text, std::strlen(text));
    // A whole number can only be out of range; a negative one also counts as that.
    if (!id) fail_text(Error::id_range, text, nullptr);
    return id_datum(Id{id.value});
}

}  // namespace snowflake_ids
