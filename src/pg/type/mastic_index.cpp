// Indexes on mastic: the SQL functions of src/sql/install/32-mastic_index.sql.
#include "pg/type/id_index.hpp"

namespace snowflake_ids {

namespace {

struct Format {
    using Id = mastic::Id;
    static constexpr Id lowest = mastic::lowest();
    static constexpr Id highest = mastic::highest();
};

}  // namespace

// An id is its own sort key: the server has a sort that is specialised for plain numbers, as for bigint.
FUNCTION(snowflake_ids_mastic_sortsupport) {
    reinterpret_cast<SortSupport>(PG_GETARG_POINTER(0))->comparator = ssup_datum_unsigned_cmp;
    PG_RETURN_VOID();
}

FUNCTION(snowflake_ids_mastic_skipsupport) { return prepare_skip<Format>(fcinfo); }
FUNCTION(snowflake_ids_mastic_smaller) { return smaller<Format>(fcinfo); }
FUNCTION(snowflake_ids_mastic_larger) { return larger<Format>(fcinfo); }

}  // namespace snowflake_ids
