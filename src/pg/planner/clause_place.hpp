// Finds where a clause is among the restrictions of a relation.
#pragma once

#include "pg/pg.hpp"

extern "C" {
#include "nodes/pathnodes.h"
}

namespace snowflake_ids {

// A position in a list of AND-ed clauses. `clauses` is NIL if the clause was not found.
struct ClausePlace {
    List* clauses;
    int position;
};

// Compares the addresses of the arguments, in either order, because an index condition has them in the order of the
// index.
ClausePlace place_of_clause(const RelOptInfo* rel, const List* arguments);

// The clause without its RestrictInfo; null unless it is an operator with two arguments.
const OpExpr* binary_clause(Node* clause);

}  // namespace snowflake_ids
