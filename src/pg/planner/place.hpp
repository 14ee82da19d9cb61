// Finds where a clause is among the restrictions of a relation. estimates.cpp needs this for row estimates.
#pragma once

#include "pg/pg.hpp"

extern "C" {
#include "nodes/pathnodes.h"
}

namespace snowflake_ids {

// The position of a clause in a list of AND-ed clauses. If the clause is not among the restrictions, `clauses` is NIL.
struct Place {
    List* clauses;
    int position;
};

// The place of the clause that has these two arguments, which are compared by address. An index condition has them in
// the order that the index needs, so both orders count. root->planner_cxt may be null: then only the first clauses are
// searched.
Place place_of(PlannerInfo* root, RelOptInfo* rel, const List* arguments);

// The clause, without the RestrictInfo around it, if it is an operator with two arguments; otherwise null.
const OpExpr* binary_clause(Node* clause);

}  // namespace snowflake_ids
