// Row estimates for < <= >= > between ids.
//
// The server's own estimators take half of a histogram's bin where they cannot tell how far into it a value lies, and
// they can tell that for built-in types only. A bin is a hundredth of the table: with a year of ids, an hour would be
// half of four days. Ids are numbers, so these estimators interpolate.
//
// Ranges. For "id >= a AND id < b" the server adds the two estimates up instead of multiplying them, but only if
// both operators have its own estimators, by name. With others it multiplies. So each estimate here is made for the
// clause's place in its AND: the fraction of the rows that pass the clauses before it. The product is then that
// of the whole range:
//
//   S(c1) * S(c1 AND c2) / S(c1) * … = S(c1 AND c2 AND …)
//
// The AND is found by looking for the clause, by the address of its arguments, among the restrictions of the
// relation. Where it is not found (a clause that the planner tries out before it is one of them) it stands alone.
//
// As with the server's, a bound that is not known gives a third, a range with such a bound 0.005; and a range beyond
// the histogram, where rows may have arrived since, is not taken for empty.
#include "core/gid.hpp"
#include "core/order.hpp"
#include "core/sno.hpp"
#include "core/window.hpp"
#include "pg/pg.hpp"
#include "pg/time_predicate.hpp"

extern "C" {
#include "access/htup_details.h"
#include "catalog/pg_statistic.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "utils/lsyscache.h"
#include "utils/selfuncs.h"
#include "utils/typcache.h"
}

namespace snowflake_ids {

namespace {

Node* without_relabel(Node* node) {
    while (node != nullptr && IsA(node, RelabelType))
        node = reinterpret_cast<Node*>(reinterpret_cast<RelabelType*>(node)->arg);
    return node;
}

// The clause with these arguments in a list of clauses that are AND-ed, or in an AND below: that list, or NIL.
List* and_list(List* clauses, const List* arguments);

List* and_list_below(Node* clause, const List* arguments) {
    // What the planner estimates is the form of an OR that has its own RestrictInfos inside.
    if (IsA(clause, RestrictInfo)) {
        auto* info = reinterpret_cast<RestrictInfo*>(clause);
        clause = reinterpret_cast<Node*>(info->orclause != nullptr ? info->orclause : info->clause);
    }
    if (!IsA(clause, BoolExpr)) return NIL;
    auto* expression = reinterpret_cast<BoolExpr*>(clause);
    if (expression->boolop == AND_EXPR) return and_list(expression->args, arguments);
    ListCell* cell;
    foreach (cell, expression->args) {
        List* found = and_list_below(static_cast<Node*>(lfirst(cell)), arguments);
        if (found != NIL) return found;
    }
    return NIL;
}

const OpExpr* comparison_clause(Node* clause) {
    if (IsA(clause, RestrictInfo)) clause = reinterpret_cast<Node*>(reinterpret_cast<RestrictInfo*>(clause)->clause);
    return IsA(clause, OpExpr) ? reinterpret_cast<const OpExpr*>(clause) : nullptr;
}

List* and_list(List* clauses, const List* arguments) {
    ListCell* cell;
    foreach (cell, clauses) {
        const OpExpr* op = comparison_clause(static_cast<Node*>(lfirst(cell)));
        if (op != nullptr && op->args == arguments) return clauses;
    }
    foreach (cell, clauses) {
        List* found = and_list_below(static_cast<Node*>(lfirst(cell)), arguments);
        if (found != NIL) return found;
    }
    return NIL;
}

// The order of ids that an operator belongs to.
struct Order {
    Oid type;
    Oid family;
    Oid function;  // of the operator

    explicit Order(Oid opno) {
        Oid right;
        op_input_types(opno, &type, &right);
        family = lookup_type_cache(type, TYPECACHE_BTREE_OPFAMILY)->btree_opf;
        function = get_opcode(opno);
    }

    // False if the operator is none of < <= >= >.
    bool comparison(Oid opno, Comparison& out) const {
        const int strategy = get_op_opfamily_strategy(opno, family);
        out = static_cast<Comparison>(strategy);
        return strategy == 1 || strategy == 2 || strategy == 4 || strategy == 5;
    }
};

// What some AND-ed comparisons leave of a column.
template <class Id>
struct Left {
    bool has_lower = false, has_upper = false;
    bool has_unknown_lower = false, has_unknown_upper = false;
    bool nothing = false;   // compared with NULL
    bool compared = false;  // by any clause: then NULLs are out
    bool lower_included = false, upper_included = false;
    Id lower{}, upper{};

    void add(Comparison comparison, Node* other, Oid beside) {
        compared = true;
        const bool included = comparison == Comparison::less_equal || comparison == Comparison::greater_equal;
        if (!IsA(other, Const)) {
            if (is_guard(other, beside)) return;
            (is_lower(comparison) ? has_unknown_lower : has_unknown_upper) = true;
            return;
        }
        const auto* constant = reinterpret_cast<const Const*>(other);
        if (constant->constisnull) {
            nothing = true;
            return;
        }
        const Id& id = *reinterpret_cast<const Id*>(DatumGetPointer(constant->constvalue));
        if (is_lower(comparison)) {
            const int c = has_lower ? compare(id, lower) : 1;
            if (c >= 0) lower_included = included && (c > 0 || lower_included);
            if (c > 0) lower = id;
            has_lower = true;
        } else {
            const int c = has_upper ? compare(id, upper) : -1;
            if (c <= 0) upper_included = included && (c < 0 || upper_included);
            if (c < 0) upper = id;
            has_upper = true;
        }
    }

    bool known() const { return !has_unknown_lower && !has_unknown_upper; }
    bool lower_bounded() const { return has_lower || has_unknown_lower; }
    bool upper_bounded() const { return has_upper || has_unknown_upper; }
    bool contains(const Id& id) const {
        const int l = has_lower ? compare(id, lower) : 1, u = has_upper ? compare(id, upper) : -1;
        return (l > 0 || (l == 0 && lower_included)) && (u < 0 || (u == 0 && upper_included));
    }
    bool empty() const {
        if (!has_lower || !has_upper) return nothing;
        const int c = compare(lower, upper);
        return nothing || c > 0 || (c == 0 && !(lower_included && upper_included));
    }

    double unknown_fraction() const {
        if (nothing) return 0;
        if (lower_bounded() && upper_bounded()) return DEFAULT_RANGE_INEQ_SEL;
        return lower_bounded() || upper_bounded() ? DEFAULT_INEQ_SEL : 1;
    }
};

// What ANALYZE knows of a column. Valid as long as the variable's statistics are held.
template <class Id>
class Statistics {
public:
    Statistics(VariableStatData& variable, const Order& order) {
        if (!HeapTupleIsValid(variable.statsTuple) || !statistic_proc_security_check(&variable, order.function)) return;
        const auto* row = reinterpret_cast<Form_pg_statistic>(GETSTRUCT(variable.statsTuple));
        nulls_ = row->stanullfrac;
        get(variable, order, STATISTIC_KIND_MCV, ATTSTATSSLOT_VALUES | ATTSTATSSLOT_NUMBERS, common_);
        get(variable, order, STATISTIC_KIND_HISTOGRAM, ATTSTATSSLOT_VALUES, histogram_);
        for (int i = 0; i < common_.nnumbers; i++) common_rows_ += common_.numbers[i];
        // A column that is all NULL has neither, and needs none.
        exists_ = common_.nvalues > 0 || histogram_.nvalues > 1 || nulls_ >= 1;
    }

    void release() {
        free_attstatsslot(&common_);
        free_attstatsslot(&histogram_);
    }

    double fraction(const Left<Id>& left) const {
        if (!left.compared) return 1;
        if (!exists_ || !left.known()) return left.unknown_fraction();
        if (left.empty()) return 0;
        double sum = 0;
        for (int i = 0; i < common_.nvalues; i++)
            if (left.contains(id(common_, i))) sum += common_.numbers[i];
        double rest = 1 - nulls_ - common_rows_;
        if (rest < 0) rest = 0;
        sum += rest * (histogram_.nvalues > 1 ? of_histogram(left) : left.unknown_fraction());
        CLAMP_PROBABILITY(sum);
        return sum;
    }

private:
    static void get(const VariableStatData& variable, const Order& order, int kind, int flags, AttStatsSlot& slot) {
        if (get_attstatsslot(&slot, variable.statsTuple, kind, InvalidOid, flags) &&
            (getBaseType(slot.valuetype) != order.type ||
             (kind == STATISTIC_KIND_MCV && slot.nnumbers != slot.nvalues))) {
            free_attstatsslot(&slot);
            slot = {};
        }
    }

    static const Id& id(const AttStatsSlot& slot, int i) {
        return *reinterpret_cast<const Id*>(DatumGetPointer(slot.values[i]));
    }

    // The part of the histogram below an id.
    double below(const Id& x) const {
        const int bins = histogram_.nvalues - 1;
        int low = 0, high = bins;  // id(low) <= x < id(high), once x is known to be inside
        if (compare(x, id(histogram_, low)) <= 0) return 0;
        if (compare(x, id(histogram_, high)) >= 0) return 1;
        while (high - low > 1) {
            const int middle = (low + high) / 2;
            (compare(x, id(histogram_, middle)) < 0 ? high : low) = middle;
        }
        const double width = distance(id(histogram_, low), id(histogram_, high));
        return (low + distance(id(histogram_, low), x) / width) / bins;
    }

    double of_histogram(const Left<Id>& left) const {
        double part = (left.has_upper ? below(left.upper) : 1) - (left.has_lower ? below(left.lower) : 0);
        // Beyond the histogram there may be rows by now: the server allows for a hundredth of a bin. A range that
        // lies inside may be as short as it is.
        const bool inside = left.has_lower && left.has_upper && below(left.upper) > 0 && below(left.lower) < 1;
        const double least = inside ? 0 : 0.01 / (histogram_.nvalues - 1);
        if (part < least) part = least;
        return part;
    }

    AttStatsSlot common_{}, histogram_{};
    double nulls_ = 0, common_rows_ = 0;
    bool exists_ = false;
};

// Adds the clauses before the one with these arguments, in its AND, to what is left.
template <class Id>
void add_clauses_before(PlannerInfo* root, List* clauses, const List* arguments, Node* variable, const Order& order,
                        Left<Id>& left) {
    ListCell* cell;
    foreach (cell, clauses) {
        const OpExpr* op = comparison_clause(static_cast<Node*>(lfirst(cell)));
        Comparison comparison;
        if (op == nullptr) continue;
        if (op->args == arguments) return;
        if (list_length(op->args) != 2 || !order.comparison(op->opno, comparison)) continue;
        Node* first = static_cast<Node*>(linitial(op->args));
        Node* second = static_cast<Node*>(lsecond(op->args));
        if (equal(without_relabel(first), variable))
            left.add(comparison, estimate_expression_value(root, second), order.function);
        else if (equal(without_relabel(second), variable))
            left.add(commuted(comparison), estimate_expression_value(root, first), order.function);
    }
}

template <class Id>
Datum estimate(FunctionCallInfo fcinfo) {
    auto* root = reinterpret_cast<PlannerInfo*>(PG_GETARG_POINTER(0));
    const Order order(PG_GETARG_OID(1));
    auto* arguments = reinterpret_cast<List*>(PG_GETARG_POINTER(2));
    VariableStatData variable;
    Node* other;
    bool variable_first;
    Comparison comparison;
    if (!order.comparison(PG_GETARG_OID(1), comparison) ||
        !get_restriction_variable(root, arguments, PG_GETARG_INT32(3), &variable, &other, &variable_first))
        PG_RETURN_FLOAT8(DEFAULT_INEQ_SEL);
    Left<Id> left;
    if (variable.rel != nullptr) {
        List* clauses = and_list(variable.rel->baserestrictinfo, arguments);
        if (clauses == NIL) clauses = and_list(variable.rel->joininfo, arguments);
        add_clauses_before(root, clauses, arguments, without_relabel(variable.var), order, left);
    }
    Statistics<Id> statistics(variable, order);
    const double before = statistics.fraction(left);
    left.add(variable_first ? comparison : commuted(comparison), other, order.function);
    const double after = statistics.fraction(left);
    statistics.release();
    ReleaseVariableStats(variable);
    double result = before > 0 ? after / before : 0;
    CLAMP_PROBABILITY(result);
    PG_RETURN_FLOAT8(result);
}

// For joins there is nothing to know, but that the second comparison of a rewritten time predicate holds.
Datum join_estimate(FunctionCallInfo fcinfo) {
    const Oid beside = get_opcode(PG_GETARG_OID(1));
    auto* arguments = reinterpret_cast<List*>(PG_GETARG_POINTER(2));
    ListCell* cell;
    foreach (cell, arguments)
        if (is_guard(static_cast<Node*>(lfirst(cell)), beside)) PG_RETURN_FLOAT8(1);
    PG_RETURN_FLOAT8(DEFAULT_INEQ_SEL);
}

}  // namespace

FUNCTION(sno_ineqsel) { return estimate<sno::Id>(fcinfo); }
FUNCTION(gid_ineqsel) { return estimate<gid::Id>(fcinfo); }
FUNCTION(id_ineqjoinsel) { return join_estimate(fcinfo); }

}  // namespace snowflake_ids
