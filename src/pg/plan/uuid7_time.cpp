// Uuids of version 7 and time. A uuid of another version or variant was created at no time.
//
// The type uuid and its order are the server's, and between any two uuids of version 7 lie uuids of other versions. So
// comparisons of ids accept too many, and the predicate stays beside them: an index is searched with
//
//   id >= uuid7_first(range) AND id <= uuid7_last(range)        or constants, for a constant range
//
// and what it finds is filtered by the predicate, for the version.
//
// Partition pruning knows comparisons only. For a column of a partitioned table the predicate becomes
//
//   id >= ALL (ARRAY[first]) AND id <= ALL (ARRAY[last]) AND uuid7_created_in(id, range)
//
// which is the same three-valued expression: if id or range is NULL, all three are; if the predicate is true, so are the
// comparisons; if it is false, so is the AND. Arrays, because row estimates should be those of the predicate: the
// server's estimators cannot tell how far into a bin of the histogram a uuid lies. Plain comparisons would stand as a
// range, for one row if it lies within a bin. So the predicate, which is the last of the three, is estimated as
// the fraction of what the other two leave. They are no index conditions either: those come from the predicate.
#include "core/uuid7.hpp"

#include "pg/plan/bigint_time.hpp"
#include "pg/plan/estimates.hpp"

extern "C" {
#include "nodes/nodeFuncs.h"
#include "utils/array.h"
}

namespace snowflake_ids {

using uuid7::Id;

namespace {

Window<Id> window_argument(FunctionCallInfo fcinfo) { return window(Uuid7Bounds{}, range_argument(fcinfo, 0)); }

}  // namespace

FUNCTION(snowflake_ids_uuid7_created_in) {
    const Id& id = id_argument<Id>(fcinfo, 0);
    PG_RETURN_BOOL(uuid7::is_valid(id) && within(range_argument(fcinfo, 1), uuid7::time_us(id)));
}

FUNCTION(snowflake_ids_uuid7_first) { return id_datum(window_argument(fcinfo).first); }
FUNCTION(snowflake_ids_uuid7_last) { return id_datum(window_argument(fcinfo).last); }

namespace {

constexpr TimePredicate predicates[] = {{snowflake_ids_uuid7_created_in, Comparison::less, 0, 1, true}};

// The comparisons that an index can use.
List* index_conditions(const TimeCall& call) {
    if (!call.time_is_known()) return call.between("uuid7_first", "uuid7_last", list_make1(call.time));
    const Window<Id> ids = window(Uuid7Bounds{}, known_times(call));
    return list_make2(call.compare(Comparison::greater_equal, id_constant(call.id_type, ids.first)),
                      call.compare(Comparison::less_equal, id_constant(call.id_type, ids.last)));
}

// An array of one element. A constant one where that is a constant: pruning while planning sees no other.
Node* array_of(Node* element) {
    const Oid type = exprType(element), array_type = get_array_type(type);
    if (IsA(element, Const)) {
        Datum value = reinterpret_cast<Const*>(element)->constvalue;
        ArrayType* array = construct_array(&value, 1, type, sizeof(Id), false, TYPALIGN_CHAR);
        return reinterpret_cast<Node*>(makeConst(array_type, -1, InvalidOid, -1, PointerGetDatum(array), false, false));
    }
    auto* array = makeNode(ArrayExpr);
    array->array_typeid = array_type;
    array->element_typeid = type;
    array->elements = list_make1(element);
    array->location = -1;
    return reinterpret_cast<Node*>(array);
}

// id operator ALL (ARRAY[bound]) for a comparison.
Expr* with_array(Expr* comparison) {
    const auto* op = reinterpret_cast<const OpExpr*>(comparison);
    auto* all = makeNode(ScalarArrayOpExpr);
    all->opno = op->opno;
    all->opfuncid = op->opfuncid;
    all->useOr = false;
    all->args = list_make2(linitial(op->args), array_of(static_cast<Node*>(lsecond(op->args))));
    all->location = -1;
    return reinterpret_cast<Expr*>(all);
}

List* pruning_conditions(const TimeCall& call) {
    List* conditions = index_conditions(call);
    ListCell* cell;
    foreach (cell, conditions) lfirst(cell) = with_array(static_cast<Expr*>(lfirst(cell)));
    return conditions;
}

Expr* for_partitions(const TimeCall& call) {
    if (call.compared) return nullptr;
    List* conditions = pruning_conditions(call);
    return conditions != NIL ? make_andclause(lappend(conditions, marked_call(call))) : nullptr;
}

double selectivity(const SupportRequestSelectivity* request, const TimeCall& call) {
    Left<Id> left;
    left.compared = true;
    if (!IsA(call.time, Const)) {
        left.has_unknown_lower = left.has_unknown_upper = true;
    } else {
        const Window<Id> ids = window(Uuid7Bounds{}, call.time_is_known() ? known_times(call) : Times::none());
        left.nothing = ids.empty();
        left.add(Comparison::greater_equal, ids.first);
        left.add(Comparison::less_equal, ids.last);
    }
    VariableStatData variable;
    examine_variable(request->root, call.id, request->varRelid, &variable);
    Statistics<Id> statistics(request->root, variable, Order::of_type(call.id_type));
    double result = statistics.fraction(left) * statistics.fraction_that(left, uuid7::is_valid);
    statistics.release();
    ReleaseVariableStats(variable);
    if (call.compared) {
        double before = 1;
        ListCell* cell;
        foreach (cell, pruning_conditions(call))
            before *= clause_selectivity(request->root, static_cast<Node*>(lfirst(cell)), request->varRelid,
                                         request->jointype, request->sjinfo);
        if (before > 0) result /= before;
    }
    CLAMP_PROBABILITY(result);
    return result;
}

constexpr TimeFormat format = {.predicates = predicates,
                               .count = lengthof(predicates),
                               .with_constants = nullptr,
                               .index_conditions = index_conditions,
                               .for_partitions = for_partitions,
                               .lossy = true,
                               .selectivity = selectivity};

}  // namespace

FUNCTION(snowflake_ids_uuid7_time_support) { return time_support(fcinfo, format); }

}  // namespace snowflake_ids
