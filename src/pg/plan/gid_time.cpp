// Comparing gids with time. Gids are ordered by kind, then by time. So the gids of a span of time are next to each
// other only if there is one kind, which a type modifier tells.
#include "core/gid.hpp"

#include <cstring>

#include "pg/plan/time_predicate.hpp"
#include "pg/type/gid_type.hpp"

extern "C" {
#include "nodes/nodeFuncs.h"
#include "utils/lsyscache.h"
}

namespace snowflake_ids {

namespace {

using gid::Kind;

struct Format {
    using Bounds = GidBounds;
    static constexpr const char* first = "gid_first";
    static constexpr const char* last = "gid_last";

    // Values with the modifier have been checked against it: columns, casts, variables, and domains over such a type.
    static bool bounds(Node* id, Bounds& out) {
        int32 modifier = exprTypmod(id);
        if (modifier < 0 && IsA(id, RelabelType)) {
            Node* inner = reinterpret_cast<Node*>(reinterpret_cast<RelabelType*>(id)->arg);
            modifier = exprTypmod(inner);
            if (getBaseTypeAndTypmod(exprType(inner), &modifier) != exprType(id)) return false;
        }
        out.kind = static_cast<Kind>(modifier);
        return modifier >= 0 && modifier < gid::kind_count;
    }
    static List* arguments(const Bounds& bounds) { return list_make1(text_constant(kind_name(bounds.kind))); }
    static const char* name(Comparison comparison) {
        static constexpr const char* names[] = {"", "gid_last_before", "gid_last_until",
                                                "", "gid_first_from",  "gid_first_after"};
        return names[static_cast<int>(comparison)];
    }
};

// False for a kind that does not exist: an index condition must not raise an error.
bool kind_argument(FunctionCallInfo fcinfo, GidBounds& out) {
    const text* name = PG_GETARG_TEXT_PP(0);
    const std::size_t length = VARSIZE_ANY_EXHDR(name);
    for (int k = 0; k < gid::kind_count; k++) {
        out.kind = static_cast<Kind>(k);
        if (length == std::strlen(gid::kind_names[k]) &&
            std::memcmp(VARDATA_ANY(name), gid::kind_names[k], length) == 0)
            return true;
    }
    return false;
}

Window<gid::Id> window_argument(FunctionCallInfo fcinfo) {
    GidBounds bounds;
    if (kind_argument(fcinfo, bounds)) return window(bounds, range_argument(fcinfo, 1));
    return {GidBounds{Kind::segment}.last(), GidBounds{Kind::volume}.first()};
}

Datum bound_argument(FunctionCallInfo fcinfo, Comparison comparison) {
    GidBounds bounds;
    if (!kind_argument(fcinfo, bounds)) PG_RETURN_NULL();
    return bound_datum(fcinfo, bounds, comparison, 1);
}

}  // namespace

FUNCTION(snowflake_ids_gid_lt_timestamptz) {
    PG_RETURN_BOOL(compare_with_time<gid::Id>(fcinfo, Comparison::less, 0, 1));
}
FUNCTION(snowflake_ids_gid_le_timestamptz) {
    PG_RETURN_BOOL(compare_with_time<gid::Id>(fcinfo, Comparison::less_equal, 0, 1));
}
FUNCTION(snowflake_ids_gid_ge_timestamptz) {
    PG_RETURN_BOOL(compare_with_time<gid::Id>(fcinfo, Comparison::greater_equal, 0, 1));
}
FUNCTION(snowflake_ids_gid_gt_timestamptz) {
    PG_RETURN_BOOL(compare_with_time<gid::Id>(fcinfo, Comparison::greater, 0, 1));
}
FUNCTION(snowflake_ids_timestamptz_lt_gid) {
    PG_RETURN_BOOL(compare_with_time<gid::Id>(fcinfo, commuted(Comparison::less), 1, 0));
}
FUNCTION(snowflake_ids_timestamptz_le_gid) {
    PG_RETURN_BOOL(compare_with_time<gid::Id>(fcinfo, commuted(Comparison::less_equal), 1, 0));
}
FUNCTION(snowflake_ids_timestamptz_ge_gid) {
    PG_RETURN_BOOL(compare_with_time<gid::Id>(fcinfo, commuted(Comparison::greater_equal), 1, 0));
}
FUNCTION(snowflake_ids_timestamptz_gt_gid) {
    PG_RETURN_BOOL(compare_with_time<gid::Id>(fcinfo, commuted(Comparison::greater), 1, 0));
}
FUNCTION(snowflake_ids_gid_contained_by) {
    PG_RETURN_BOOL(range_contains(fcinfo, time_us(id_argument<gid::Id>(fcinfo, 0))));
}

static constexpr TimeOperators operators{{snowflake_ids_gid_lt_timestamptz, snowflake_ids_gid_le_timestamptz,
                                          snowflake_ids_gid_ge_timestamptz, snowflake_ids_gid_gt_timestamptz},
                                         {snowflake_ids_timestamptz_lt_gid, snowflake_ids_timestamptz_le_gid,
                                          snowflake_ids_timestamptz_ge_gid, snowflake_ids_timestamptz_gt_gid},
                                         snowflake_ids_gid_contained_by};

static constexpr TimeFormat format = {operators.rows, lengthof(operators.rows), id_with_constants<Format>,
                                      id_index_conditions<Format>};

FUNCTION(snowflake_ids_gid_first) { return id_datum(window_argument(fcinfo).first); }
FUNCTION(snowflake_ids_gid_last) { return id_datum(window_argument(fcinfo).last); }
FUNCTION(snowflake_ids_gid_last_before) { return bound_argument(fcinfo, Comparison::less); }
FUNCTION(snowflake_ids_gid_last_until) { return bound_argument(fcinfo, Comparison::less_equal); }
FUNCTION(snowflake_ids_gid_first_from) { return bound_argument(fcinfo, Comparison::greater_equal); }
FUNCTION(snowflake_ids_gid_first_after) { return bound_argument(fcinfo, Comparison::greater); }
FUNCTION(snowflake_ids_gid_time_support) { return time_support(fcinfo, format); }

bool time_span(PlannerInfo* root, Oid function, List* arguments, TimeSpan<gid::Id>& out) {
    return id_time_span<Format>(root, format, function, arguments, out);
}

}  // namespace snowflake_ids
