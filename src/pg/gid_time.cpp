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
};

// Nothing, for a kind that there is not: this must not raise.
Window<gid::Id> window_argument(FunctionCallInfo fcinfo) {
    const text* name = PG_GETARG_TEXT_PP(0);
    const std::size_t length = VARSIZE_ANY_EXHDR(name);
    for (int k = 0; k < gid::kind_count; k++)
        if (length == std::strlen(gid::kind_names[k]) &&
            std::memcmp(VARDATA_ANY(name), gid::kind_names[k], length) == 0)
            return window(GidBounds{static_cast<Kind>(k)}, times_argument(fcinfo, 1));
    return {GidBounds{Kind::segment}.last(), GidBounds{Kind::volume}.first()};
}

}  // namespace

TIME_PREDICATES(gid)

FUNCTION(gid_first) { return id_datum(window_argument(fcinfo).first); }
FUNCTION(gid_last) { return id_datum(window_argument(fcinfo).last); }
FUNCTION(gid_time_support) { return support(fcinfo, predicates, rewrite<Format>); }

}  // namespace snowflake_ids
