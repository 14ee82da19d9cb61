// Finds where in a query's conditions the clause stands that is estimated, because PostgreSQL gives an estimator only
// the arguments of a clause. An OR can have thousands of arms whose clauses are each estimated, one after another. So a
// search begins in the arm in which the last one ended.
#include "pg/planner/find_clause.hpp"

extern "C" {
#include "miscadmin.h"
}

namespace snowflake_ids {

namespace {

struct Search {
    const void *first, *second;  // the arguments
    int left = 2000;             // nodes to visit; then the clause counts as not found

    bool wants(const OpExpr* op) const {
        const void *a = linitial(op->args), *b = lsecond(op->args);
        return (a == first && b == second) || (a == second && b == first);
    }
};

int first_arm = 0;  // of any OR; only the order of the search depends on it

// Looks at each comparison in this list of AND-ed clauses, then in each AND inside the clauses, also inside OR and NOT.
// An arm of an OR that is a comparison itself is in no AND.
ClausePlace find_in(Search& search, List* clauses);

ClausePlace find_below(Search& search, Node* node) {
    if (search.left-- <= 0) return {};
    // Of an OR, PostgreSQL keeps two forms. The planner estimates the one that has RestrictInfos inside.
    if (IsA(node, RestrictInfo)) {
        auto* info = reinterpret_cast<RestrictInfo*>(node);
        node = reinterpret_cast<Node*>(info->orclause != nullptr ? info->orclause : info->clause);
    }
    if (!IsA(node, BoolExpr)) return {};
    auto* expression = reinterpret_cast<BoolExpr*>(node);
    if (expression->boolop == AND_EXPR) return find_in(search, expression->args);
    check_stack_depth();
    const int arms = list_length(expression->args);
    for (int n = 0; n < arms; n++) {
        const int arm = (first_arm + n) % arms;
        const ClausePlace found = find_below(search, static_cast<Node*>(list_nth(expression->args, arm)));
        if (found.clauses == NIL) continue;
        first_arm = arm;
        return found;
    }
    return {};
}

ClausePlace find_in(Search& search, List* clauses) {
    check_stack_depth();
    for (int i = 0; i < list_length(clauses); i++) {
        const OpExpr* op = binary_clause(static_cast<Node*>(list_nth(clauses, i)));
        if (op != nullptr && search.wants(op)) return {clauses, i};
    }
    ClausePlace found{};
    for (int i = 0; i < list_length(clauses) && found.clauses == NIL; i++)
        found = find_below(search, static_cast<Node*>(list_nth(clauses, i)));
    return found;
}

}  // namespace

const OpExpr* binary_clause(Node* clause) {
    if (IsA(clause, RestrictInfo)) clause = reinterpret_cast<Node*>(reinterpret_cast<RestrictInfo*>(clause)->clause);
    if (!IsA(clause, OpExpr)) return nullptr;
    const auto* op = reinterpret_cast<const OpExpr*>(clause);
    return list_length(op->args) == 2 ? op : nullptr;
}

ClausePlace find_clause(const RelOptInfo* rel, const List* arguments) {
    Search search{linitial(arguments), lsecond(arguments)};
    const ClausePlace found = find_in(search, rel->baserestrictinfo);
    return found.clauses != NIL ? found : find_in(search, rel->joininfo);
}

}  // namespace snowflake_ids
