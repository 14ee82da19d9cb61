// Time predicates on ids that are bigint.
#pragma once

#include "pg/time_predicate.hpp"

extern "C" {
#include "catalog/pg_type.h"
}

namespace snowflake_ids {

// An interval of bigints, both ends included. Nothing is 0 to -1, not the ends of the type: row estimates add up
// "above the first" and "below the last", which for neighbours is none, but for the ends would be less.
struct Span {
    int64 first = 0;
    int64 last = -1;

    constexpr bool empty() const { return last < first; }
};

// The part of a window that lies between two unsigned numbers, as bigints, which both have the same sign.
constexpr Span part(const Window<std::uint64_t>& w, std::uint64_t from, std::uint64_t to) {
    const std::uint64_t first = w.first > from ? w.first : from, last = w.last < to ? w.last : to;
    if (w.empty() || last < first) return {};
    return {static_cast<int64>(first), static_cast<int64>(last)};
}

inline Expr* bigint_constant(int64 value) {
    return reinterpret_cast<Expr*>(
        makeConst(INT8OID, -1, InvalidOid, sizeof(int64), Int64GetDatum(value), false, FLOAT8PASSBYVAL));
}

// id within the span, with no more comparisons than it takes; null for an empty span.
inline Expr* within_constants(const Sides& sides, const Span& span) {
    if (span.empty()) return nullptr;
    Expr* lower = sides.compare(Comparison::greater_equal, bigint_constant(span.first));
    Expr* upper = span.last == -1 ? sides.compare(Comparison::less, bigint_constant(0))
                                  : sides.compare(Comparison::less_equal, bigint_constant(span.last));
    if (span.last == PG_INT64_MAX) return lower;
    if (span.first == PG_INT64_MIN) return upper;
    return make_andclause(list_make2(lower, upper));
}

// False for every id, and NULL for NULL.
inline Expr* no_bigint(const Sides& sides) { return sides.compare(Comparison::less, bigint_constant(PG_INT64_MIN)); }

// False where the predicate must be left as it is or the range is NULL.
inline bool bigint_may_rewrite(PlannerInfo* root, const Sides& sides) {
    return sides.may_rewrite(root) &&
           !(IsA(sides.time, Const) && reinterpret_cast<const Const*>(sides.time)->constisnull);
}

// The times of a constant range.
inline Times constant_times(const Node* range) {
    return times_of(range_ends(DatumGetRangeTypeP(reinterpret_cast<const Const*>(range)->constvalue)));
}

}  // namespace snowflake_ids
