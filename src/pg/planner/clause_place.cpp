// Finds where in a query's conditions the estimated clause is, because PostgreSQL gives an estimator only
// the arguments of a clause. An OR can have thousands of arms whose clauses are each estimated, one after another. So a
// search begins in the arm in which the last one ended.
#include "pg/planner/clause_place.hpp"

extern "C" {
#include "miscadmin.h"
}

namespace snowflake_ids {

namespace {

int first_arm = 0;  // of any OR; only the order of the search depends on it

// Searches clauses that are AND-ed, or the arms of an OR or NOT, and the expressions inside them. It enters at most
// `left` expressions. If that is not enough, the clause counts as not found.
ClausePlace find_in(List* clauses, bool are_anded, const List* arguments, int& left) {
    check_stack_depth();
    const int count = list_length(clauses);
    for (int n = 0; n < count; n++) {
        const int i = are_anded ? n : (first_arm + n) % count;
        auto* node = static_cast<Node*>(list_nth(clauses, i));
        if (const OpExpr* const op = binary_clause(node)) {
            const void *a = linitial(op->args), *b = lsecond(op->args);
            const void *first = linitial(arguments), *second = lsecond(arguments);
            if (are_anded && ((a == first && b == second) || (a == second && b == first))) return {clauses, i};
            continue;
        }
        // PostgreSQL keeps two forms of an OR. The planner estimates the one that has RestrictInfos inside.
        if (IsA(node, RestrictInfo)) {
            auto* info = reinterpret_cast<RestrictInfo*>(node);
            node = reinterpret_cast<Node*>(info->orclause != nullptr ? info->orclause : info->clause);
        }
        if (!IsA(node, BoolExpr) || left-- <= 0) continue;
        const auto* inside = reinterpret_cast<const BoolExpr*>(node);
        const ClausePlace found = find_in(inside->args, inside->boolop == AND_EXPR, arguments, left);
        if (found.clauses == NIL) continue;
        if (!are_anded) first_arm = i;
        return found;
    }
    return {};
}

}  // namespace

const OpExpr* binary_clause(Node* clause) {
    if (IsA(clause, RestrictInfo)) clause = reinterpret_cast<Node*>(reinterpret_cast<RestrictInfo*>(clause)->clause);
    if (!IsA(clause, OpExpr)) return nullptr;
    const auto* op = reinterpret_cast<const OpExpr*>(clause);
    return list_length(op->args) == 2 ? op : nullptr;
}

ClausePlace place_of_clause(const RelOptInfo* rel, const List* arguments) {
    int left = 2000;
    const ClausePlace found = find_in(rel->baserestrictinfo, true, arguments, left);
    return found.clauses != NIL ? found : find_in(rel->joininfo, true, arguments, left);
}

}  // namespace snowflake_ids
