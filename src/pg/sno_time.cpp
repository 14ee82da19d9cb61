// Comparing snos with time.
#include "core/sno.hpp"

#include "pg/time_predicate.hpp"

namespace snowflake_ids {

namespace {

struct Format {
    using Bounds = SnoBounds;
    static constexpr const char* first = "sno_first";
    static constexpr const char* last = "sno_last";

    static bool bounds(Node*, Bounds&) { return true; }
    static List* arguments(const Bounds&) { return NIL; }
};

Window<sno::Id> window_argument(FunctionCallInfo fcinfo) { return window(SnoBounds{}, times_argument(fcinfo, 0)); }

}  // namespace

TIME_PREDICATES(sno)

FUNCTION(sno_first) { return id_datum(window_argument(fcinfo).first); }
FUNCTION(sno_last) { return id_datum(window_argument(fcinfo).last); }
FUNCTION(sno_time_support) { return support(fcinfo, predicates, rewrite<Format>); }

}  // namespace snowflake_ids
