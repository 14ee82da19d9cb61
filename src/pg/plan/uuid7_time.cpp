// Uuids of version 7 and time. A uuid of another version or variant has no time.
//
// The type uuid and its order are the server's. Between any two uuids of version 7 there are uuids of other versions.
// So comparisons of ids accept too many, and the predicate stays as a filter for the version. An index is searched
// with
//
//   id >= uuid7_first(range) AND id <= uuid7_last(range)        or constants, for a constant range
//
// Partition pruning understands comparisons only. For a column of a partitioned table the predicate becomes
//
//   id >= ALL (ARRAY[first]) AND id <= ALL (ARRAY[last]) AND uuid7_created_in(id, range)
//
// This is the same three-valued expression. If id or range is NULL, all three parts are NULL. If the predicate is
// true, both comparisons are true. If it is false, the AND is false.
//
// Why arrays: the row estimate should be the predicate's. Two plain comparisons would be taken for a range, and the
// server cannot tell how far into a histogram bin a uuid is, so a range within one bin would get one row. With arrays,
// each comparison is estimated alone, and the predicate, which comes last, as the fraction of what they leave. The
// arrays are no index conditions: those come from the predicate.
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

// An array of one element. For a constant element it is a constant, because pruning at planning time sees only
// constants.
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
