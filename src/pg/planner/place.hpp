// Where a clause is among the restrictions of a relation. For row estimates: see estimates.cpp.
#pragma once

#include "pg/pg.hpp"

extern "C" {
#include "nodes/pathnodes.h"
}

namespace snowflake_ids {

// A position in a list of AND-ed clauses; NIL if the clause is not among the restrictions.
struct Place {
    List* clauses;
    int position;
};

// The clause with these two arguments, compared by address. An index condition has them in the order that the index
// needs, so either order counts.
Place place_of(PlannerInfo* root, RelOptInfo* rel, const List* arguments);

// The clause, if it is an operator with two arguments; otherwise null.
const OpExpr* binary_clause(Node* clause);

}  // namespace snowflake_ids
