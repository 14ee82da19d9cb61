// The type mastic: text, order, casts.
// A mastic is passed by value and compared without a sign. Its binary input and output are those of bigint.
#include "pg/types/id_type.hpp"

extern "C" {
#include "utils/numeric.h"
}

namespace snowflake_ids {

using mastic::Id;

namespace {

// Returns only after a soft error.
void fail_text(Error error, const char* text, Node* escontext) {
    report(error, {Source::text, "mastic", text, "0", psprintf(UINT64_FORMAT, mastic::layout.max_id())}, escontext);
}

}  // namespace

// NULL only after a soft error.
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
    // As in int8out(): the result has only as many bytes as it needs.
    char text[mastic::max_text_size];
    const auto length = static_cast<std::size_t>(pg_ulltoa_n(id_argument<Id>(fcinfo, 0).number, text));
    char* out = static_cast<char*>(palloc(length + 1));
    std::memcpy(out, text, length);
    out[length] = '\0';
    PG_RETURN_CSTRING(out);
}

ORDER_FUNCTIONS(mastic)

// ---- numeric, which can hold every mastic as a number

FUNCTION(snowflake_ids_mastic_to_numeric) {
    char text[mastic::max_text_size + 1];
    text[pg_ulltoa_n(id_argument<Id>(fcinfo, 0).number, text)] = '\0';
    return DirectFunctionCall3(numeric_in, CStringGetDatum(text), ObjectIdGetDatum(InvalidOid), Int32GetDatum(-1));
}

// Rounds first, as PostgreSQL does from numeric to bigint.
FUNCTION(snowflake_ids_mastic_from_numeric) {
    const Datum given = PG_GETARG_DATUM(0);
    const Numeric number = DatumGetNumeric(given);
    if (numeric_is_nan(number) || numeric_is_inf(number))
        ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                        errmsg("cannot convert %s to %s", numeric_is_nan(number) ? "NaN" : "infinity", "mastic")));
    const Datum whole = DirectFunctionCall2(numeric_round, given, Int32GetDatum(0));
    const char* text = DatumGetCString(DirectFunctionCall1(numeric_out, whole));
    const Result<std::uint64_t> id = mastic::parse(text, std::strlen(text));
    // parse() finds another error in a negative number, but it is out of range too.
    if (!id) fail_text(Error::id_range, text, nullptr);
    return id_datum(Id{id.value});
}

// ---- integers

namespace {

Datum mastic_of(int64 number) {
    if (unlikely(number < 0))
        ereport(ERROR, (errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE), errmsg("mastic out of range"),
                        errdetail("The number is " INT64_FORMAT ". A mastic is 0 or greater.", number)));
    return id_datum(Id{static_cast<std::uint64_t>(number)});
}

}  // namespace

FUNCTION(snowflake_ids_mastic_from_bigint) { return mastic_of(PG_GETARG_INT64(0)); }
FUNCTION(snowflake_ids_mastic_from_integer) { return mastic_of(PG_GETARG_INT32(0)); }
FUNCTION(snowflake_ids_mastic_from_smallint) { return mastic_of(PG_GETARG_INT16(0)); }

FUNCTION(snowflake_ids_mastic_to_bigint) {
    const std::uint64_t number = id_argument<Id>(fcinfo, 0).number;
    if (unlikely(number > static_cast<std::uint64_t>(PG_INT64_MAX)))
        ereport(ERROR, (errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE), errmsg("bigint out of range"),
                        errdetail("The mastic is " UINT64_FORMAT ".", number)));
    PG_RETURN_INT64(static_cast<int64>(number));
}

}  // namespace snowflake_ids
