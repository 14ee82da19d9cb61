// Comparing gids with time. Gids are ordered by kind, then time: only where one kind is known, from a type modifier,
// do the gids of a span of time lie together.
#include "core/gid.hpp"

#include <cstring>

#include "pg/gid_type.hpp"
#include "pg/time_predicate.hpp"

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

    // What has the modifier has been checked against it: columns, casts, variables, and domains over such a type.
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

// False for a kind that there is not: an index condition must not raise.
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

TIME_PREDICATES(gid)

static constexpr TimeFormat format = {predicates, lengthof(predicates), id_with_constants<Format>,
                                      id_index_conditions<Format>};

FUNCTION(gid_first) { return id_datum(window_argument(fcinfo).first); }
FUNCTION(gid_last) { return id_datum(window_argument(fcinfo).last); }
FUNCTION(gid_last_before) { return bound_argument(fcinfo, Comparison::less); }
FUNCTION(gid_last_until) { return bound_argument(fcinfo, Comparison::less_equal); }
FUNCTION(gid_first_from) { return bound_argument(fcinfo, Comparison::greater_equal); }
FUNCTION(gid_first_after) { return bound_argument(fcinfo, Comparison::greater); }
FUNCTION(gid_time_support) { return time_support(fcinfo, format); }

bool time_span(PlannerInfo* root, Oid function, List* arguments, TimeSpan<gid::Id>& out) {
    return id_time_span<Format>(root, format, function, arguments, out);
}

}  // namespace snowflake_ids
