// Comparing ids with time: the operators themselves, and what the planner turns them into.
//
// A time predicate ("id >= t", "id <@ range") compares the timestamp of an id. The planner asks its support function
// for other forms of it:
//
//   constant time   Replaced by comparisons with constant ids, wherever it appears. Indexes, BRIN, partition pruning,
//                   constraint exclusion and estimates need no more. If all ids or none are meant: "id >= first id"
//                   and "id < first id". These are true and false, but NULL for a NULL id, like the predicate.
//   any other time  The predicate stays, and works as a filter: one call for each row. For an index it becomes
//                   "id >= sno_first_from(t)" and the like. The index then needs no filter.
//   partitions      Pruning at run time understands only comparisons of the partition key. So for the column of a
//                   partitioned table the comparison is added: "id >= t AND id >= sno_first_from(t)".
//
// An index condition only has to accept the right rows. So if no id is meant, sno_first_from(t) is NULL, and the index
// finds nothing.
//
// The replacement must be the same three-valued expression, because it may be below a NOT. Proof for P AND C, where P
// is the predicate and C the index condition:
//   - If id or t is NULL, P and C are both NULL.
//   - Else P is true or false. If P is true, C is true. If P is false, C is false or NULL, and the AND is false.
// For ranges two comparisons replace the predicate: id >= first AND id <= last. If the range is NULL, both are NULL.
// If ids belong to the range, this is true exactly for them. If none do, first is the last id of all and last the
// first id of all: no id passes both, because the two differ.
#pragma once

#include "core/window.hpp"
#include "pg/datum.hpp"
#include "pg/pg.hpp"

extern "C" {
#include "nodes/makefuncs.h"
#include "nodes/pathnodes.h"
#include "nodes/primnodes.h"
#include "nodes/supportnodes.h"
#include "optimizer/optimizer.h"
#include "utils/rangetypes.h"
}

namespace snowflake_ids {

// ---- at run time

// The times of the tstzrange in argument `n`. The last range is kept for the next call at this call site, because it
// is usually the same for all rows of a query.
Times range_argument(FunctionCallInfo fcinfo, int n);

inline bool within(const Times& times, int64 us) { return times.from <= us && us <= times.to; }

// The id that bounds all ids whose time compares like this with argument `n`: the first one for >= and >, the last one
// for < and <=. NULL if there are none.
template <class Bounds>
Datum bound_datum(FunctionCallInfo fcinfo, const Bounds& bounds, Comparison comparison, int n) {
    const auto ids = window(bounds, Times::that_are(comparison, unix_us(PG_GETARG_TIMESTAMPTZ(n))));
    if (ids.empty()) PG_RETURN_NULL();
    return id_datum(is_lower(comparison) ? ids.first : ids.last);
}

template <class Id>
bool compare_with_time(FunctionCallInfo fcinfo, Comparison comparison, int id, int time) {
    const int64 us = time_us(id_argument<Id>(fcinfo, id));
    // No id has an infinite time.
    const int64 t = unix_us(PG_GETARG_TIMESTAMPTZ(time));
    switch (comparison) {
        case Comparison::less:
            return us < t;
        case Comparison::less_equal:
            return us <= t;
        case Comparison::greater_equal:
            return us >= t;
        case Comparison::greater:
            return us > t;
    }
    pg_unreachable();
}

// id <@ range for an id of time `us`. The operator is declared for any range. Declared for tstzrange, it would be the
// best match for an untyped literal or parameter next to a tstzrange: then queries that compare two ranges would read
// the literal as an id.
bool range_contains(FunctionCallInfo fcinfo, int64 us);

// ---- at planning time

// One SQL function that is a time predicate, and which of its arguments are the id and the time.
struct TimePredicate {
    PGFunction function;
    Comparison comparison;  // as in "id comparison time"; not used for a range
    int id_argument, time_argument;
    bool range;
};

// A time predicate in a query, and how ids are compared.
struct TimeCall {
    const TimePredicate* predicate;
    Oid function;
    List* arguments;
    Node* id;
    Node* time;
    Oid id_type;
    bool compared;  // the comparison for pruning has been added already

    bool time_is_known() const { return IsA(time, Const) && !reinterpret_cast<const Const*>(time)->constisnull; }
    Datum known_time() const { return reinterpret_cast<const Const*>(time)->constvalue; }

    Expr* compare(Comparison comparison, Expr* bound) const;
    // The function of this name in the predicate's own schema called with `arguments`, or null if there is none.
    Expr* call(const char* name, List* arguments, Oid result) const;
    // "id >= first(arguments)" and "id <= last(arguments)"; NIL if a function is missing.
    List* between(const char* first, const char* last, List* arguments) const;
};

// What the planner must know about the time predicates of a format.
struct TimeFormat {
    const TimePredicate* predicates;
    int count;
    // The predicate as comparisons with constants, if the time is constant; null if it must stay.
    Expr* (*with_constants)(const TimeCall&);
    // Comparisons that together accept the same ids, for an index; NIL if there are none.
    List* (*index_conditions)(const TimeCall&);
    // What replaces the predicate for a column of a partitioned table. Null: for a comparison "predicate AND index
    // condition", for a range the index conditions.
    Expr* (*for_partitions)(const TimeCall&) = nullptr;
    // What replaces it for other ids. Null: it stays.
    Expr* (*elsewhere)(const TimeCall&) = nullptr;
    // Do the index conditions accept more than the predicate? Then the predicate stays as a filter.
    bool lossy = false;
    // Estimates a call of a range function. Before that, estimate_expression_value() has simplified the time in the
    // call. Null: the estimate is that of the comparisons that replace the call.
    double (*selectivity)(const SupportRequestSelectivity*, const TimeCall&) = nullptr;
};

// The range function of the predicate, marked as `compared`.
Expr* marked_call(const TimeCall& call);

// The operator <@ of mastic is declared for a domain over tstzrange: its right side as a tstzrange.
Node* without_domain(Node* range);

// False if this is a call of another function.
bool find_call(const TimeFormat& format, Oid function, List* arguments, TimeCall& out);

// The body of a support function.
Datum time_support(FunctionCallInfo fcinfo, const TimeFormat& format);

Const* text_constant(const char* text);

// The ends of a constant range as comparisons. On a side without a bound there is none.
struct RangeEnds {
    bool empty, has_lower, has_upper;
    Comparison lower, upper;
    int64 lower_us, upper_us;
};
RangeEnds range_ends(const RangeType* range);
Times times_of(const RangeEnds& ends);

// The ids that a time predicate accepts, for estimates.
template <class Id>
struct TimeSpan {
    Node* id;
    Node* time;
    bool has_lower, has_upper;  // does it bound the ids on this side?
    bool known;                 // is the time constant? Only then there is a window
    Window<Id> window;
};

// False if this is no time predicate on ids of that type, or if the ids of one span of time are not next to each
// other.
bool time_span(PlannerInfo* root, Oid function, List* arguments, TimeSpan<sno::Id>& out);
bool time_span(PlannerInfo* root, Oid function, List* arguments, TimeSpan<gid::Id>& out);
bool time_span(PlannerInfo* root, Oid function, List* arguments, TimeSpan<mastic::Id>& out);

template <class Id>
Expr* id_constant(Oid type, const Id& id) {
    return reinterpret_cast<Expr*>(
        makeConst(type, -1, InvalidOid, sizeof(Id), id_datum(id), false, passed_by_value<Id>));
}

// One end of the predicate's time span, as a comparison with a constant. Null if all ids are on the right side. If no
// id is, null too, and `none` becomes true.
template <class Bounds>
Expr* constant_end(const TimeCall& call, const Bounds& bounds, Comparison comparison, int64 us, bool& none) {
    const auto c = cut(bounds, comparison, us);
    none = none || c.kind == c.none;
    return c.kind == c.at ? call.compare(comparison, id_constant(call.id_type, c.id)) : nullptr;
}

// For sno, gid and mastic. A Format has
//   bounds(id, out)    the bounds of the ids that `id` can be; false if they are not known
//   arguments(bounds)  the arguments of its functions before the times
//   name(comparison)   the function that returns the bound; first, last: those for a range
template <class Format>
Expr* id_with_constants(const TimeCall& call) {
    typename Format::Bounds bounds;
    if (!Format::bounds(call.id, bounds)) return nullptr;
    bool none = false;
    Expr *lower = nullptr, *upper = nullptr;
    if (call.predicate->range) {
        const RangeEnds ends = range_ends(DatumGetRangeTypeP(call.known_time()));
        none = ends.empty;
        if (ends.has_lower) lower = constant_end(call, bounds, ends.lower, ends.lower_us, none);
        if (ends.has_upper) upper = constant_end(call, bounds, ends.upper, ends.upper_us, none);
    } else {
        const int64 us = unix_us(DatumGetTimestampTz(call.known_time()));
        lower = constant_end(call, bounds, call.predicate->comparison, us, none);
    }
    Expr* first = id_constant(call.id_type, bounds.first());
    if (none) return call.compare(Comparison::less, first);
    if (lower == nullptr && upper == nullptr) return call.compare(Comparison::greater_equal, first);
    if (lower != nullptr && upper != nullptr) return make_andclause(list_make2(lower, upper));
    return lower != nullptr ? lower : upper;
}

template <class Format>
List* id_index_conditions(const TimeCall& call) {
    typename Format::Bounds bounds;
    if (!Format::bounds(call.id, bounds)) return NIL;
    List* arguments = lappend(Format::arguments(bounds), call.time);
    if (call.predicate->range) return call.between(Format::first, Format::last, arguments);
    const Comparison comparison = call.predicate->comparison;
    Expr* bound = call.call(Format::name(comparison), arguments, call.id_type);
    if (bound == nullptr) return NIL;
    return list_make1(call.compare(is_lower(comparison) ? Comparison::greater_equal : Comparison::less_equal, bound));
}

template <class Format, class Id>
bool id_time_span(PlannerInfo* root, const TimeFormat& format, Oid function, List* arguments, TimeSpan<Id>& out) {
    TimeCall call;
    typename Format::Bounds bounds;
    if (!find_call(format, function, arguments, call) || !Format::bounds(call.id, bounds)) return false;
    out.id = call.id;
    out.time = call.time;
    call.time = estimate_expression_value(root, call.time);
    const TimePredicate& predicate = *call.predicate;
    out.has_lower = predicate.range || is_lower(predicate.comparison);
    out.has_upper = predicate.range || !is_lower(predicate.comparison);
    out.known = IsA(call.time, Const);
    if (!out.known) return true;
    Times times = Times::none();
    if (call.time_is_known() && predicate.range) {
        const RangeEnds ends = range_ends(DatumGetRangeTypeP(call.known_time()));
        times = times_of(ends);
        out.has_lower = ends.has_lower;
        out.has_upper = ends.has_upper;
    } else if (call.time_is_known()) {
        times = Times::that_are(predicate.comparison, unix_us(DatumGetTimestampTz(call.known_time())));
    }
    out.window = window(bounds, times);
    return true;
}

// The rows of a table of predicates, for the functions of the operators between a type and time, in the order <, <=,
// >=, >. `contained`: the function of <@.
struct TimeOperators {
    TimePredicate rows[9];

    constexpr TimeOperators(const PGFunction (&id_first)[4], const PGFunction (&time_first)[4], PGFunction contained)
        : rows{} {
        constexpr Comparison comparisons[] = {Comparison::less, Comparison::less_equal, Comparison::greater_equal,
                                              Comparison::greater};
        for (int i = 0; i < 4; i++) {
            rows[2 * i] = {id_first[i], comparisons[i], 0, 1, false};
            rows[2 * i + 1] = {time_first[i], commuted(comparisons[i]), 1, 0, false};
        }
        rows[8] = {contained, Comparison::less, 0, 1, true};
    }
};

}  // namespace snowflake_ids
