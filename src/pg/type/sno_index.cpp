// Indexes on sno: the SQL functions of src/sql/install/12-sno_index.sql.
#include "pg/type/id_index.hpp"

namespace snowflake_ids {

namespace {

struct Format {
    using Id = sno::Id;
    using SortKey = sno::SortKey;
    static constexpr const char* name = "sno";
    static constexpr Id lowest = sno::lowest();
    static constexpr Id highest = sno::highest();
};

}  // namespace

FUNCTION(snowflake_ids_sno_sortsupport) { return prepare_sort<Format>(fcinfo); }
FUNCTION(snowflake_ids_sno_skipsupport) { return prepare_skip<Format>(fcinfo); }
FUNCTION(snowflake_ids_sno_smaller) { return smaller<Format>(fcinfo); }
FUNCTION(snowflake_ids_sno_larger) { return larger<Format>(fcinfo); }

}  // namespace snowflake_ids
