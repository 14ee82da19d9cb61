// Comparing snos with time.
#include "core/sno.hpp"

#include "pg/plan/time_predicate.hpp"

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

FUNCTION(snowflake_ids_sno_lt_timestamptz) {
    PG_RETURN_BOOL(compare_with_time<sno::Id>(fcinfo, Comparison::less, 0, 1));
}
FUNCTION(snowflake_ids_sno_le_timestamptz) {
    PG_RETURN_BOOL(compare_with_time<sno::Id>(fcinfo, Comparison::less_equal, 0, 1));
}
FUNCTION(snowflake_ids_sno_ge_timestamptz) {
    PG_RETURN_BOOL(compare_with_time<sno::Id>(fcinfo, Comparison::greater_equal, 0, 1));
}
FUNCTION(snowflake_ids_sno_gt_timestamptz) {
    PG_RETURN_BOOL(compare_with_time<sno::Id>(fcinfo, Comparison::greater, 0, 1));
}
FUNCTION(snowflake_ids_timestamptz_lt_sno) {
    PG_RETURN_BOOL(compare_with_time<sno::Id>(fcinfo, commuted(Comparison::less), 1, 0));
}
FUNCTION(snowflake_ids_timestamptz_le_sno) {
    PG_RETURN_BOOL(compare_with_time<sno::Id>(fcinfo, commuted(Comparison::less_equal), 1, 0));
}
FUNCTION(snowflake_ids_timestamptz_ge_sno) {
    PG_RETURN_BOOL(compare_with_time<sno::Id>(fcinfo, commuted(Comparison::greater_equal), 1, 0));
}
FUNCTION(snowflake_ids_timestamptz_gt_sno) {
    PG_RETURN_BOOL(compare_with_time<sno::Id>(fcinfo, commuted(Comparison::greater), 1, 0));
}
FUNCTION(snowflake_ids_sno_contained_by) {
    PG_RETURN_BOOL(range_contains(fcinfo, time_us(id_argument<sno::Id>(fcinfo, 0))));
}

static constexpr TimeOperators operators{{snowflake_ids_sno_lt_timestamptz, snowflake_ids_sno_le_timestamptz,
                                          snowflake_ids_sno_ge_timestamptz, snowflake_ids_sno_gt_timestamptz},
                                         {snowflake_ids_timestamptz_lt_sno, snowflake_ids_timestamptz_le_sno,
                                          snowflake_ids_timestamptz_ge_sno, snowflake_ids_timestamptz_gt_sno},
                                         snowflake_ids_sno_contained_by};

static constexpr TimeFormat format = {operators.rows, lengthof(operators.rows), id_with_constants<Format>,
                                      id_index_conditions<Format>};

FUNCTION(snowflake_ids_sno_first) { return id_datum(window_argument(fcinfo).first); }
FUNCTION(snowflake_ids_sno_last) { return id_datum(window_argument(fcinfo).last); }
FUNCTION(snowflake_ids_sno_last_before) { return bound_datum(fcinfo, SnoBounds{}, Comparison::less, 0); }
FUNCTION(snowflake_ids_sno_last_until) { return bound_datum(fcinfo, SnoBounds{}, Comparison::less_equal, 0); }
FUNCTION(snowflake_ids_sno_first_from) { return bound_datum(fcinfo, SnoBounds{}, Comparison::greater_equal, 0); }
FUNCTION(snowflake_ids_sno_first_after) { return bound_datum(fcinfo, SnoBounds{}, Comparison::greater, 0); }
FUNCTION(snowflake_ids_sno_time_support) { return time_support(fcinfo, format); }

bool time_span(PlannerInfo* root, Oid function, List* arguments, TimeSpan<sno::Id>& out) {
    return id_time_span<Format>(root, format, function, arguments, out);
}

}  // namespace snowflake_ids
