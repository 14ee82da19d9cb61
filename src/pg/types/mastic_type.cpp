// The type mastic: text, order, casts.
// A mastic is passed by value and compared without a sign. Its binary input and output are those of bigint.
#include "pg/types/id_type.hpp"

namespace snowflake_ids {

using mastic::Id;

FUNCTION(snowflake_ids_mastic_in) { return id_from_text<mastic::parse>(fcinfo, "mastic"); }

FUNCTION(snowflake_ids_mastic_out) {
    char* text = static_cast<char*>(palloc(mastic::max_text_size + 1));
    text[pg_ulltoa_n(id_argument<Id>(fcinfo, 0).number, text)] = '\0';
    PG_RETURN_CSTRING(text);
}

ID_FUNCTIONS(mastic)

// ---- integers

FUNCTION(snowflake_ids_mastic_from_bigint) {
    const int64 number = PG_GETARG_INT64(0);
    if (unlikely(number < 0))
        ereport(ERROR, (errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE), errmsg("mastic out of range"),
                        errdetail("The number is " INT64_FORMAT ". A mastic is 0 or greater.", number)));
    PG_RETURN_INT64(number);
}

FUNCTION(snowflake_ids_mastic_to_bigint) {
    const std::uint64_t number = id_argument<Id>(fcinfo, 0).number;
    if (unlikely(number > static_cast<std::uint64_t>(PG_INT64_MAX)))
        ereport(ERROR, (errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE), errmsg("bigint out of range"),
                        errdetail("The mastic is " UINT64_FORMAT ".", number)));
    PG_RETURN_INT64(static_cast<int64>(number));
}

}  // namespace snowflake_ids
