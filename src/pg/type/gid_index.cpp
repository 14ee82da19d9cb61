// Indexes on gid: the SQL functions of src/sql/install/22-gid_index.sql.
#include "pg/type/id_index.hpp"

namespace snowflake_ids {

namespace {

struct Format {
    using Id = gid::Id;
    using SortKey = gid::SortKey;
    static constexpr const char* name = "gid";
    static constexpr Id lowest = gid::lowest();
    static constexpr Id highest = gid::highest();
};

}  // namespace

FUNCTION(snowflake_ids_gid_sortsupport) { return prepare_sort<Format>(fcinfo); }
FUNCTION(snowflake_ids_gid_skipsupport) { return prepare_skip<Format>(fcinfo); }
FUNCTION(snowflake_ids_gid_smaller) { return smaller<Format>(fcinfo); }
FUNCTION(snowflake_ids_gid_larger) { return larger<Format>(fcinfo); }

}  // namespace snowflake_ids
