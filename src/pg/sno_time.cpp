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
    static const char* name(Comparison comparison) {
        static constexpr const char* names[] = {"", "sno_last_before", "sno_last_until",
                                                "", "sno_first_from",  "sno_first_after"};
        return names[static_cast<int>(comparison)];
    }
};

Window<sno::Id> window_argument(FunctionCallInfo fcinfo) { return window(SnoBounds{}, range_argument(fcinfo, 0)); }

}  // namespace

TIME_PREDICATES(sno)

static constexpr TimeFormat format = {predicates, lengthof(predicates), id_with_constants<Format>,
                                      id_index_conditions<Format>};

FUNCTION(sno_first) { return id_datum(window_argument(fcinfo).first); }
FUNCTION(sno_last) { return id_datum(window_argument(fcinfo).last); }
FUNCTION(sno_last_before) { return bound_datum(fcinfo, SnoBounds{}, Comparison::less, 0); }
FUNCTION(sno_last_until) { return bound_datum(fcinfo, SnoBounds{}, Comparison::less_equal, 0); }
FUNCTION(sno_first_from) { return bound_datum(fcinfo, SnoBounds{}, Comparison::greater_equal, 0); }
FUNCTION(sno_first_after) { return bound_datum(fcinfo, SnoBounds{}, Comparison::greater, 0); }
FUNCTION(sno_time_support) { return time_support(fcinfo, format); }

bool time_span(PlannerInfo* root, Oid function, List* arguments, TimeSpan<sno::Id>& out) {
    return id_time_span<Format>(root, format, function, arguments, out);
}

}  // namespace snowflake_ids
