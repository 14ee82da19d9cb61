// Comparing mastics with time.
#include "core/mastic.hpp"

#include "pg/plan/time_predicate.hpp"

namespace snowflake_ids {

using mastic::Id;

namespace {

struct Format {
    using Bounds = MasticBounds;
    static constexpr const char* first = "mastic_first";
    static constexpr const char* last = "mastic_last";

    static bool bounds(Node*, Bounds&) { return true; }
    static List* arguments(const Bounds&) { return NIL; }
    static const char* name(Comparison comparison) {
        static constexpr const char* names[] = {"", "mastic_last_before", "mastic_last_until",
                                                "", "mastic_first_from",  "mastic_first_after"};
        return names[static_cast<int>(comparison)];
    }
};

Window<Id> window_argument(FunctionCallInfo fcinfo) { return window(MasticBounds{}, range_argument(fcinfo, 0)); }

}  // namespace

FUNCTION(snowflake_ids_mastic_lt_timestamptz) { PG_RETURN_BOOL(compare_with_time<Id>(fcinfo, Comparison::less, 0, 1)); }
FUNCTION(snowflake_ids_mastic_le_timestamptz) {
    PG_RETURN_BOOL(compare_with_time<Id>(fcinfo, Comparison::less_equal, 0, 1));
}
FUNCTION(snowflake_ids_mastic_ge_timestamptz) {
    PG_RETURN_BOOL(compare_with_time<Id>(fcinfo, Comparison::greater_equal, 0, 1));
}
FUNCTION(snowflake_ids_mastic_gt_timestamptz) {
    PG_RETURN_BOOL(compare_with_time<Id>(fcinfo, Comparison::greater, 0, 1));
}
FUNCTION(snowflake_ids_timestamptz_lt_mastic) {
    PG_RETURN_BOOL(compare_with_time<Id>(fcinfo, commuted(Comparison::less), 1, 0));
}
FUNCTION(snowflake_ids_timestamptz_le_mastic) {
    PG_RETURN_BOOL(compare_with_time<Id>(fcinfo, commuted(Comparison::less_equal), 1, 0));
}
FUNCTION(snowflake_ids_timestamptz_ge_mastic) {
    PG_RETURN_BOOL(compare_with_time<Id>(fcinfo, commuted(Comparison::greater_equal), 1, 0));
}
FUNCTION(snowflake_ids_timestamptz_gt_mastic) {
    PG_RETURN_BOOL(compare_with_time<Id>(fcinfo, commuted(Comparison::greater), 1, 0));
}
FUNCTION(snowflake_ids_mastic_contained_by) {
    PG_RETURN_BOOL(within(range_argument(fcinfo, 1), time_us(id_argument<Id>(fcinfo, 0))));
}

static constexpr TimeOperators operators{{snowflake_ids_mastic_lt_timestamptz, snowflake_ids_mastic_le_timestamptz,
                                          snowflake_ids_mastic_ge_timestamptz, snowflake_ids_mastic_gt_timestamptz},
                                         {snowflake_ids_timestamptz_lt_mastic, snowflake_ids_timestamptz_le_mastic,
                                          snowflake_ids_timestamptz_ge_mastic, snowflake_ids_timestamptz_gt_mastic},
                                         snowflake_ids_mastic_contained_by};

static constexpr TimeFormat format = {operators.rows, lengthof(operators.rows), id_with_constants<Format>,
                                      id_index_conditions<Format>};

FUNCTION(snowflake_ids_mastic_first) { return id_datum(window_argument(fcinfo).first); }
FUNCTION(snowflake_ids_mastic_last) { return id_datum(window_argument(fcinfo).last); }
FUNCTION(snowflake_ids_mastic_last_before) { return bound_datum(fcinfo, MasticBounds{}, Comparison::less, 0); }
FUNCTION(snowflake_ids_mastic_last_until) { return bound_datum(fcinfo, MasticBounds{}, Comparison::less_equal, 0); }
FUNCTION(snowflake_ids_mastic_first_from) { return bound_datum(fcinfo, MasticBounds{}, Comparison::greater_equal, 0); }
FUNCTION(snowflake_ids_mastic_first_after) { return bound_datum(fcinfo, MasticBounds{}, Comparison::greater, 0); }
FUNCTION(snowflake_ids_mastic_time_support) { return time_support(fcinfo, format); }

bool time_span(PlannerInfo* root, Oid function, List* arguments, TimeSpan<Id>& out) {
    return id_time_span<Format>(root, format, function, arguments, out);
}

}  // namespace snowflake_ids
