// Row estimates for < <= >= > between ids, and between ids and time.
//
// If the server's own estimators cannot tell how far into a bin of the histogram a value is, they take half of the
// bin. They can tell it for built-in types only. A bin is a hundredth of the table: with a year of ids, an hour would
// be estimated as half of four days. Ids are numbers, so these estimators interpolate.
//
// Ranges. For "id >= a AND id < b" the server adds the two estimates instead of multiplying them, but only if both
// operators have its own estimators, by name. With others it multiplies. So each estimate here depends on the clause's
// position in its AND: it is the fraction of the rows that pass the clauses before it. The product is then the
// fraction of the whole range:
//
//   S(c1) * S(c1 AND c2) / S(c1) * … = S(c1 AND c2 AND …)
//
// How the AND is found: among the restrictions of the relation, look for the clause with the same arguments (by
// address). An index condition ("id >= sno_first_from(t)") is not among them, but it was made from one that is: look
// for its time argument. If nothing is found, the clause is estimated alone. The planner may estimate a clause before
// it is a restriction.
//
// As in the server, an unknown bound gives a third, and a range with an unknown bound 0.005. A range beyond the
// histogram is not taken as empty, because rows may have come since.
//
// New rows. Ids grow, so rows newer than the last ANALYZE are beyond the histogram. If a bound is in the last bin or
// beyond, the largest id is looked up in an index. The table's growth tells how many rows are between.
#include "pg/plan/estimates.hpp"

extern "C" {
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
}

namespace snowflake_ids {

namespace {

Node* without_relabel(Node* node) {
    while (node != nullptr && IsA(node, RelabelType))
        node = reinterpret_cast<Node*>(reinterpret_cast<RelabelType*>(node)->arg);
    return node;
}

const OpExpr* comparison_clause(Node* clause) {
    if (IsA(clause, RestrictInfo)) clause = reinterpret_cast<Node*>(reinterpret_cast<RestrictInfo*>(clause)->clause);
    return IsA(clause, OpExpr) ? reinterpret_cast<const OpExpr*>(clause) : nullptr;
}

// The clause that is estimated.
struct Clause {
    const List* arguments;
    // If the clause compares an id with the bound of a time, as those do that the planner makes of time predicates:
    // that id and that time. Otherwise null.
    Node *id = nullptr, *time = nullptr;

    Clause(const List* given, Node* variable, bool between_ids) : arguments(given) {
        if (!between_ids) return;
        Node* other = static_cast<Node*>(linitial(given));
        if (other == variable) other = static_cast<Node*>(lsecond(given));
        if (!IsA(other, FuncExpr)) return;
        List* bound = reinterpret_cast<FuncExpr*>(other)->args;
        if (bound == NIL) return;
        const Oid type = exprType(static_cast<Node*>(llast(bound)));
        if (type != TIMESTAMPTZOID && type != TSTZRANGEOID) return;
        id = without_relabel(variable);
        time = static_cast<Node*>(llast(bound));
    }

    bool is(const OpExpr* op) const { return op->args == arguments; }
    bool is_made_from(const OpExpr* op) const {
        if (time == nullptr || list_length(op->args) != 2) return false;
        Node* first = static_cast<Node*>(linitial(op->args));
        Node* second = static_cast<Node*>(lsecond(op->args));
        return (equal(without_domain(second), time) && equal(without_relabel(first), id)) ||
               (equal(first, time) && equal(without_relabel(second), id));
    }
};

// The list of AND-ed clauses that contains a clause: `clauses` or an AND below them; or NIL.
List* and_list(List* clauses, const Clause& clause);

List* and_list_below(Node* node, const Clause& clause) {
    // For an OR, the planner estimates the form that has RestrictInfos inside.
    if (IsA(node, RestrictInfo)) {
        auto* info = reinterpret_cast<RestrictInfo*>(node);
        node = reinterpret_cast<Node*>(info->orclause != nullptr ? info->orclause : info->clause);
    }
    if (!IsA(node, BoolExpr)) return NIL;
    auto* expression = reinterpret_cast<BoolExpr*>(node);
    if (expression->boolop == AND_EXPR) return and_list(expression->args, clause);
    ListCell* cell;
    foreach (cell, expression->args) {
        List* found = and_list_below(static_cast<Node*>(lfirst(cell)), clause);
        if (found != NIL) return found;
    }
    return NIL;
}

List* and_list(List* clauses, const Clause& clause) {
    ListCell* cell;
    foreach (cell, clauses) {
        const OpExpr* op = comparison_clause(static_cast<Node*>(lfirst(cell)));
        if (op != nullptr && (clause.is(op) || clause.is_made_from(op))) return clauses;
    }
    foreach (cell, clauses) {
        List* found = and_list_below(static_cast<Node*>(lfirst(cell)), clause);
        if (found != NIL) return found;
    }
    return NIL;
}

// Adds a clause to `left`, if it compares the variable with something.
template <class Id>
void add_clause(PlannerInfo* root, Oid opno, List* arguments, Node* variable, const Order& order, Left<Id>& left) {
    Comparison comparison;
    if (list_length(arguments) != 2) return;
    Node* first = static_cast<Node*>(linitial(arguments));
    Node* second = static_cast<Node*>(lsecond(arguments));
    if (order.comparison(opno, comparison)) {
        if (equal(without_relabel(first), variable))
            left.add(comparison, estimate_expression_value(root, second));
        else if (equal(without_relabel(second), variable))
            left.add(commuted(comparison), estimate_expression_value(root, first));
        return;
    }
    TimeSpan<Id> span;
    if (exprType(first) == order.type || exprType(second) == order.type || getBaseType(exprType(first)) == order.type)
        if (time_span(root, get_opcode(opno), arguments, span) && equal(without_relabel(span.id), variable))
            left.add(span);
}

// Adds the clauses before the estimated one in its AND.
template <class Id>
void add_clauses_before(PlannerInfo* root, List* clauses, const Clause& clause, bool is_upper, Node* variable,
                        const Order& order, Left<Id>& left) {
    ListCell* cell;
    foreach (cell, clauses) {
        const OpExpr* op = comparison_clause(static_cast<Node*>(lfirst(cell)));
        if (op == nullptr) continue;
        if (clause.is(op)) return;
        if (clause.is_made_from(op)) {
            // For a range, the lower end comes first. For a comparison, it must be the predicate for the same side.
            TimeSpan<Id> span;
            if (!time_span(root, get_opcode(op->opno), op->args, span)) return;
            if (exprType(span.time) == TSTZRANGEOID) {
                span.has_upper = false;
                if (is_upper) left.add(span);
                return;
            }
            if (span.has_upper == is_upper) return;
        }
        add_clause(root, op->opno, op->args, variable, order, left);
    }
}

template <class Id>
Datum estimate(FunctionCallInfo fcinfo) {
    auto* root = reinterpret_cast<PlannerInfo*>(PG_GETARG_POINTER(0));
    const Oid opno = PG_GETARG_OID(1);
    const Order order(opno);
    auto* arguments = reinterpret_cast<List*>(PG_GETARG_POINTER(2));
    VariableStatData variable;
    Node* other;
    bool variable_first;
    Comparison comparison;
    TimeSpan<Id> span;
    const bool between_ids = order.comparison(opno, comparison);
    if (!between_ids && !time_span(root, get_opcode(opno), arguments, span))
        PG_RETURN_FLOAT8(generic_restriction_selectivity(root, opno, PG_GET_COLLATION(), arguments, PG_GETARG_INT32(3),
                                                         DEFAULT_MATCHING_SEL));
    if (!get_restriction_variable(root, arguments, PG_GETARG_INT32(3), &variable, &other, &variable_first))
        PG_RETURN_FLOAT8(between_ids || !span.has_lower || !span.has_upper ? DEFAULT_INEQ_SEL : DEFAULT_RANGE_INEQ_SEL);
    Left<Id> left;
    const Comparison own = variable_first ? comparison : commuted(comparison);
    if (variable.rel != nullptr) {
        const Clause clause(arguments, static_cast<Node*>(variable_first ? linitial(arguments) : lsecond(arguments)),
                            between_ids);
        List* clauses = and_list(variable.rel->baserestrictinfo, clause);
        if (clauses == NIL) clauses = and_list(variable.rel->joininfo, clause);
        add_clauses_before(root, clauses, clause, between_ids && !is_lower(own), without_relabel(variable.var), order,
                           left);
    }
    Statistics<Id> statistics(root, variable, order);
    const double before = statistics.fraction(left);
    if (between_ids)
        left.add(own, other);
    else
        left.add(span);
    const double after = statistics.fraction(left);
    statistics.release();
    ReleaseVariableStats(variable);
    double result = before > 0 ? after / before : 0;
    CLAMP_PROBABILITY(result);
    PG_RETURN_FLOAT8(result);
}

}  // namespace

FUNCTION(snowflake_ids_sno_ineqsel) { return estimate<sno::Id>(fcinfo); }
FUNCTION(snowflake_ids_gid_ineqsel) { return estimate<gid::Id>(fcinfo); }
FUNCTION(snowflake_ids_mastic_ineqsel) { return estimate<mastic::Id>(fcinfo); }

}  // namespace snowflake_ids
