// Row estimates for < <= >= > between ids, and between ids and time.
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
// relation. An index condition ("id >= sno_first_from(t)") is none of them, but was made from one: it is known by its
// time. Where neither is found (a clause that the planner tries out before it is one of them) it stands alone.
//
// As with the server's, a bound that is not known gives a third, a range with such a bound 0.005; and a range beyond
// the histogram, where rows may have arrived since, is not taken for empty.
//
// New rows. Ids grow, so rows newer than the last ANALYZE lie beyond the histogram. If a bound is in its last bin or
// beyond, the largest id is looked up in an index. The table's growth tells how many rows lie between.
#include "core/gid.hpp"
#include "core/order.hpp"
#include "core/sno.hpp"
#include "core/window.hpp"
#include "pg/index_end.hpp"
#include "pg/pg.hpp"
#include "pg/time_predicate.hpp"

extern "C" {
#include "access/htup_details.h"
#include "catalog/pg_statistic.h"
#include "catalog/pg_type.h"
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

const OpExpr* comparison_clause(Node* clause) {
    if (IsA(clause, RestrictInfo)) clause = reinterpret_cast<Node*>(reinterpret_cast<RestrictInfo*>(clause)->clause);
    return IsA(clause, OpExpr) ? reinterpret_cast<const OpExpr*>(clause) : nullptr;
}

// The clause that is estimated.
struct Clause {
    const List* arguments;
    // If it is an index condition made from a time predicate: the arguments of that.
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
        return (equal(second, time) && equal(without_relabel(first), id)) ||
               (equal(first, time) && equal(without_relabel(second), id));
    }
};

// The list of AND-ed clauses in which a clause stands, in a list of such or in an AND below; or NIL.
List* and_list(List* clauses, const Clause& clause);

List* and_list_below(Node* node, const Clause& clause) {
    // What the planner estimates is the form of an OR that has its own RestrictInfos inside.
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

// The order of ids that an operator belongs to.
struct Order {
    Oid type;
    Oid family;
    Oid function;  // of the operator

    explicit Order(Oid opno) {
        Oid left, right;
        op_input_types(opno, &left, &right);
        type = left == TIMESTAMPTZOID ? right : left;
        // Anybody may make an operator with these estimators, of other types too, and with one side only.
        family = OidIsValid(type) ? lookup_type_cache(type, TYPECACHE_BTREE_OPFAMILY)->btree_opf : InvalidOid;
        function = get_opcode(opno);
    }

    // False if the operator is none of < <= >= > between two ids.
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

    void add(Comparison comparison, Node* other) {
        compared = true;
        if (!IsA(other, Const))
            (is_lower(comparison) ? has_unknown_lower : has_unknown_upper) = true;
        else if (reinterpret_cast<const Const*>(other)->constisnull)
            nothing = true;
        else
            add(comparison,
                *reinterpret_cast<const Id*>(DatumGetPointer(reinterpret_cast<const Const*>(other)->constvalue)));
    }

    void add(Comparison comparison, const Id& id) {
        const bool included = comparison == Comparison::less_equal || comparison == Comparison::greater_equal;
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

    void add(const TimeSpan<Id>& span) {
        compared = true;
        if (!span.known) {
            has_unknown_lower |= span.has_lower;
            has_unknown_upper |= span.has_upper;
        } else if (span.window.empty()) {
            nothing = true;
        } else {
            if (span.has_lower) add(Comparison::greater_equal, span.window.first);
            if (span.has_upper) add(Comparison::less_equal, span.window.last);
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
    Statistics(PlannerInfo* root, VariableStatData& variable, const Order& order)
        : root_(root), variable_(variable), family_(order.family) {
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

    double fraction(const Left<Id>& left) {
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

    bool is_late(const Id& x) const { return compare(x, id(histogram_, histogram_.nvalues - 2)) > 0; }

    // The part of the histogram, with what is beyond it, below an id.
    double below(const Id& x) {
        const int bins = histogram_.nvalues - 1;
        int low = 0, high = bins;  // id(low) <= x < id(high), once x is known to be inside
        if (compare(x, id(histogram_, low)) <= 0) return 0;
        if (compare(x, id(histogram_, high)) >= 0) {
            const double way =
                beyond_ > 0 ? distance(id(histogram_, high), x) / distance(id(histogram_, high), end_) : 1;
            return way < 1 && compare(x, end_) < 0 ? 1 - beyond_ * (1 - way) : 1;
        }
        while (high - low > 1) {
            const int middle = (low + high) / 2;
            (compare(x, id(histogram_, middle)) < 0 ? high : low) = middle;
        }
        const double width = distance(id(histogram_, low), id(histogram_, high));
        return (1 - beyond_) * (low + distance(id(histogram_, low), x) / width) / bins;
    }

    // Finds what came after the histogram was made: the largest id now, and the fraction of the rows that lie beyond
    // the histogram. That is the table's growth. VACUUM counts the rows, so that growth before it is not seen. Then the
    // fraction is that of the server's own estimators: the last bin is stretched to the largest id.
    void look_beyond() {
        if (looked_) return;
        looked_ = true;
        const Id &last = id(histogram_, histogram_.nvalues - 1), &before = id(histogram_, histogram_.nvalues - 2);
        Id end;
        if (!largest_in_index(root_, variable_, family_, &end, sizeof end) || compare(end, last) <= 0) return;
        end_ = end;
        beyond_ = distance(last, end) / distance(before, end) / (histogram_.nvalues - 1);
        const double growth = growth_since_statistics(root_, variable_);
        if (growth > beyond_) beyond_ = growth;
    }

    double of_histogram(const Left<Id>& left) {
        // Once for both ends.
        if ((left.has_lower && is_late(left.lower)) || (left.has_upper && is_late(left.upper))) look_beyond();
        double part = (left.has_upper ? below(left.upper) : 1) - (left.has_lower ? below(left.lower) : 0);
        // Beyond the histogram there may be rows by now: the server allows for a hundredth of a bin. A range that
        // lies inside may be as short as it is.
        const bool inside = left.has_lower && left.has_upper && below(left.upper) > 0 && below(left.lower) < 1;
        const double least = inside ? 0 : 0.01 / (histogram_.nvalues - 1);
        if (part < least) part = least;
        return part;
    }

    PlannerInfo* root_;
    VariableStatData& variable_;
    Oid family_;
    bool looked_ = false;
    double beyond_ = 0;  // if it is not 0, up to end_
    Id end_{};
    AttStatsSlot common_{}, histogram_{};
    double nulls_ = 0, common_rows_ = 0;
    bool exists_ = false;
};

// Adds a clause to what is left, if it compares the variable with something.
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
            // Of a range, whose lower end comes first. Else it must be the predicate for the same side.
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

FUNCTION(sno_ineqsel) { return estimate<sno::Id>(fcinfo); }
FUNCTION(gid_ineqsel) { return estimate<gid::Id>(fcinfo); }

}  // namespace snowflake_ids
