// Time predicates on ids that are bigint.
#pragma once

#include "pg/plan/time_predicate.hpp"

extern "C" {
#include "catalog/pg_type.h"
}

namespace snowflake_ids {

// An interval of bigints, both ends included. The empty one is 0 to -1, not the ends of the type. A row estimate adds
// up "above the first" and "below the last". For neighbours that gives no rows, for the ends it would give less.
struct Span {
    int64 first = 0;
    int64 last = -1;

    constexpr bool empty() const { return last < first; }
};

// The part of a window between two unsigned numbers, as bigints. Both numbers must have the same sign as bigints.
constexpr Span part(const Window<std::uint64_t>& w, std::uint64_t from, std::uint64_t to) {
    const std::uint64_t first = w.first > from ? w.first : from, last = w.last < to ? w.last : to;
    if (w.empty() || last < first) return {};
    return {static_cast<int64>(first), static_cast<int64>(last)};
}

inline Expr* bigint_constant(int64 value) {
    return reinterpret_cast<Expr*>(
        makeConst(INT8OID, -1, InvalidOid, sizeof(int64), Int64GetDatum(value), false, FLOAT8PASSBYVAL));
}

// False for every id, and NULL for NULL.
inline Expr* no_bigint(const TimeCall& call) { return call.compare(Comparison::less, bigint_constant(PG_INT64_MIN)); }

// id within the span, with as few comparisons as possible.
inline Expr* within_constants(const TimeCall& call, const Span& span) {
    if (span.empty()) return no_bigint(call);
    Expr* lower = call.compare(Comparison::greater_equal, bigint_constant(span.first));
    Expr* upper = span.last == -1 ? call.compare(Comparison::less, bigint_constant(0))
                                  : call.compare(Comparison::less_equal, bigint_constant(span.last));
    if (span.last == PG_INT64_MAX) return lower;
    if (span.first == PG_INT64_MIN) return upper;
    return make_andclause(list_make2(lower, upper));
}

// The times of a constant range.
inline Times known_times(const TimeCall& call) { return times_of(range_ends(DatumGetRangeTypeP(call.known_time()))); }

// ---- layouts of 64 bits
//
// SQL compares ids as signed numbers. Ids in the last half of the layout's time (the far half) are negative, so they
// sort below all others. The ids of a span of time are therefore up to two intervals. A range that is not constant may
// reach into the far half, so the predicate is replaced by
//
//   id >= first(range) AND id <= last(range)   OR   id < 0 AND id >= far_first(range) AND id <= far_last(range)
//
// An index uses it as two conditions, and needs no filter. As a filter it computes the range once for most rows: "id <
// 0" ends the second half at once. It is NULL if id or range is NULL.

constexpr std::uint64_t far_half = std::uint64_t{1} << 63;

struct Halves {
    const char *first, *last, *far_first, *far_last;
};

// The arguments of first() and the others are those of the predicate without the id.
inline Expr* both_halves(const TimeCall& call, const Halves& names) {
    List* arguments = list_copy_tail(call.arguments, 1);
    List* near = call.between(names.first, names.last, arguments);
    List* far = call.between(names.far_first, names.far_last, arguments);
    if (near == NIL || far == NIL) return nullptr;
    Expr* negative = call.compare(Comparison::less, bigint_constant(0));
    return make_orclause(list_make2(make_andclause(near), make_andclause(lcons(negative, far))));
}

}  // namespace snowflake_ids
