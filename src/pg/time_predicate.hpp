// Comparing ids with time: the operators themselves, and what the planner makes of them.
//
// A time predicate ("id >= t", "id <@ range") means what it says of the id's timestamp. Before
// planning, a support function turns it into comparisons between the id and ids at the bounds, which is all
// that indexes, BRIN, partition pruning, constraint exclusion and row estimates need.
//
// The rewrite happens wherever the predicate stands (WHERE, NOT, OR, CHECK, SELECT list), so the
// result must be the same three-valued expression, not only accept the same rows:
//
//   constant t      one comparison with a constant id. Where all ids or none are meant: "id >= first id" and
//                   "id < first id", which are true and false, but NULL for a NULL id, as the operator is.
//   any other t     id >= first(t) AND id <= last(t), where first and last are functions giving the first and
//                   the last id of those meant, and for none the last id of the format and the first
//
// Proof for the second: let S be the set of ids meant, an interval in the order of ids. If id or t is
// NULL both comparisons are NULL (all functions here are strict), and so is the AND; so is the operator.
// Else neither is NULL: first() and last() never are. If S is not empty, the AND is true exactly within S.
// If S is empty, "id >= last id of the format AND id <= first id" is false for every id, for the two
// differ. One comparison would not do: there is one more set than there are ids.
//
// Left alone (the operator then works as a filter): volatile expressions, sub-selects and set-returning
// functions, which must not be evaluated twice; a time from the same row as the id, which no index can use.
#pragma once

#include "core/window.hpp"
#include "pg/datum.hpp"
#include "pg/pg.hpp"

extern "C" {
#include "nodes/makefuncs.h"
#include "nodes/pathnodes.h"
#include "nodes/primnodes.h"
#include "nodes/supportnodes.h"
#include "utils/rangetypes.h"
}

namespace snowflake_ids {

// ---- at run time

// The times of the tstzrange in argument `n`.
Times range_argument(FunctionCallInfo fcinfo, int n);

// The times meant by a comparison as SQL spells it ("<", "<=", ">=", ">") with t. No times for any other text:
// this must not raise.
Times comparison_times(const text* comparison, TimestampTz t);

inline bool within(const Times& times, int64 us) { return times.from <= us && us <= times.to; }

// The times in the arguments from `n` on: a range, or a comparison and a time.
inline Times times_argument(FunctionCallInfo fcinfo, int n) {
    if (PG_NARGS() == n + 1) return range_argument(fcinfo, n);
    return comparison_times(PG_GETARG_TEXT_PP(n), PG_GETARG_TIMESTAMPTZ(n + 1));
}

// id comparison t, or t comparison id where the time stands first.
template <class Id>
bool compare_with_time(FunctionCallInfo fcinfo, Comparison comparison, bool time_first) {
    const int64 us = time_us(id_argument<Id>(fcinfo, time_first ? 1 : 0));
    const Comparison c = time_first ? commuted(comparison) : comparison;
    return within(Times::that_are(c, unix_us(PG_GETARG_TIMESTAMPTZ(time_first ? 0 : 1))), us);
}

// id <@ range for an id of time `us`. The operator is declared for any range: declared for tstzrange, it would be the
// best match for an untyped literal or parameter beside a tstzrange, and queries that compare ranges with each
// other would read it as an id.
bool range_contains(FunctionCallInfo fcinfo, int64 us);

// ---- at planning time

// One SQL function that is a time predicate.
struct TimePredicate {
    PGFunction function;
    Comparison comparison;  // id comparison time, unless it is about a range
    bool time_first;
    bool range;
};

// The two sides of a predicate in a query, and how ids are compared.
struct Sides {
    Node* id;
    Node* time;
    Oid id_type;
    Oid function;  // the predicate's: functions to call are looked for beside it

    // False: leave the predicate as it is.
    bool may_rewrite(PlannerInfo* root) const;

    Expr* compare(Comparison comparison, Expr* bound) const;
    // The function of this name in the predicate's own schema called with `arguments`, or null if there is none.
    Expr* call(const char* name, List* arguments) const;
    // id >= first(arguments) AND id <= last(arguments), or with the upper end first; null if a function is missing.
    Expr* between(const char* first, const char* last, List* arguments, bool upper_end_first = false) const;
};

// The entry for the function that is called, or null.
const TimePredicate* find_predicate(const FuncExpr* call, const TimePredicate* table, int count);
Sides sides(const FuncExpr* call, const TimePredicate& predicate);

Const* text_constant(const char* text);
const char* spelling(Comparison comparison);

// The ends of a constant range as comparisons; absent where the range is not bounded.
struct RangeEnds {
    bool empty, has_lower, has_upper;
    Comparison lower, upper;
    int64 lower_us, upper_us;
};
RangeEnds range_ends(const RangeType* range);
Times times_of(const RangeEnds& ends);

template <class Id>
Expr* id_constant(Oid type, const Id& id) {
    return reinterpret_cast<Expr*>(makeConst(type, -1, InvalidOid, sizeof(Id), id_datum(id), false, false));
}

// One end of the times meant, as comparison with a constant. For `all` null, and `none` is told.
template <class Bounds>
Expr* constant_end(const Sides& sides, const Bounds& bounds, Comparison comparison, int64 us, bool& none) {
    const auto c = cut(bounds, comparison, us);
    none = none || c.kind == c.none;
    return c.kind == c.at ? sides.compare(comparison, id_constant(sides.id_type, c.id)) : nullptr;
}

template <class Bounds>
Expr* constant_predicate(const Sides& sides, const Bounds& bounds, const TimePredicate& predicate, Datum time) {
    bool none = false;
    Expr *lower = nullptr, *upper = nullptr;
    if (predicate.range) {
        const RangeEnds ends = range_ends(DatumGetRangeTypeP(time));
        none = ends.empty;
        if (ends.has_lower) lower = constant_end(sides, bounds, ends.lower, ends.lower_us, none);
        if (ends.has_upper) upper = constant_end(sides, bounds, ends.upper, ends.upper_us, none);
    } else {
        lower = constant_end(sides, bounds, predicate.comparison, unix_us(DatumGetTimestampTz(time)), none);
    }
    Expr* first = id_constant(sides.id_type, bounds.first());
    if (none) return sides.compare(Comparison::less, first);
    if (lower == nullptr && upper == nullptr) return sides.compare(Comparison::greater_equal, first);
    if (lower != nullptr && upper != nullptr) return make_andclause(list_make2(lower, upper));
    return lower != nullptr ? lower : upper;
}

// Is this the bound in the second comparison that a rewritten "id comparison t" has, which only is there for sets that are
// empty? `beside` is the function of the comparison.
bool is_guard(const Node* bound, Oid beside);

// What a format says for the rewrite of its predicates.
//   bounds(id, out)    the bounds of the ids that `id` can be; false if that is not known
//   arguments(bounds)  what first() and last() are told before the times
//   first, last        their names
template <class Format>
Expr* rewrite(PlannerInfo* root, const FuncExpr* call, const TimePredicate& predicate) {
    const Sides s = sides(call, predicate);
    typename Format::Bounds bounds;
    if (!s.may_rewrite(root) || !Format::bounds(s.id, bounds)) return nullptr;
    if (IsA(s.time, Const)) {
        const Const* time = reinterpret_cast<const Const*>(s.time);
        return time->constisnull ? nullptr : constant_predicate(s, bounds, predicate, time->constvalue);
    }
    List* arguments = Format::arguments(bounds);
    if (!predicate.range) arguments = lappend(arguments, text_constant(spelling(predicate.comparison)));
    arguments = lappend(arguments, s.time);
    const bool upper_matters = !predicate.range && !is_lower(predicate.comparison);
    return s.between(Format::first, Format::last, arguments, upper_matters);
}

// The body of a support function for the predicates in `table`.
template <int count>
Datum support(FunctionCallInfo fcinfo, const TimePredicate (&table)[count],
              Expr* (*rewrite)(PlannerInfo*, const FuncExpr*, const TimePredicate&) ) {
    Node* request = reinterpret_cast<Node*>(PG_GETARG_POINTER(0));
    if (!IsA(request, SupportRequestSimplify)) return Datum{0};
    auto* simplify = reinterpret_cast<SupportRequestSimplify*>(request);
    const TimePredicate* predicate = find_predicate(simplify->fcall, table, count);
    PG_RETURN_POINTER(predicate == nullptr ? nullptr : rewrite(simplify->root, simplify->fcall, *predicate));
}

}  // namespace snowflake_ids

// The functions of the operators between the type `id` and time, and the table of them.
#define TIME_COMPARISON(id, word, comparison)                                             \
    FUNCTION(id##_##word##_timestamptz) {                                                 \
        PG_RETURN_BOOL(compare_with_time<id::Id>(fcinfo, Comparison::comparison, false)); \
    }                                                                                     \
    FUNCTION(timestamptz_##word##_##id) {                                                 \
        PG_RETURN_BOOL(compare_with_time<id::Id>(fcinfo, Comparison::comparison, true));  \
    }
#define TIME_COMPARISON_ROWS(id, word, comparison)                                             \
    {snowflake_ids_##id##_##word##_timestamptz, Comparison::comparison, false, false}, {       \
        snowflake_ids_timestamptz_##word##_##id, commuted(Comparison::comparison), true, false \
    }
#define TIME_PREDICATES(id)                                                                                          \
    TIME_COMPARISON(id, lt, less)                                                                                    \
    TIME_COMPARISON(id, le, less_equal)                                                                              \
    TIME_COMPARISON(id, ge, greater_equal)                                                                           \
    TIME_COMPARISON(id, gt, greater)                                                                                 \
    FUNCTION(id##_contained_by) { PG_RETURN_BOOL(range_contains(fcinfo, time_us(id_argument<id::Id>(fcinfo, 0)))); } \
    static constexpr TimePredicate predicates[] = {                                                                  \
        TIME_COMPARISON_ROWS(id, lt, less),                                                                          \
        TIME_COMPARISON_ROWS(id, le, less_equal),                                                                    \
        TIME_COMPARISON_ROWS(id, ge, greater_equal),                                                                 \
        TIME_COMPARISON_ROWS(id, gt, greater),                                                                       \
        {snowflake_ids_##id##_contained_by, Comparison::less, false, true}};
