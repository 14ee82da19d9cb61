// Tells the planner how many rows a series function returns.
#include "pg/pg.hpp"

extern "C" {
#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "nodes/supportnodes.h"
#include "optimizer/optimizer.h"
}

namespace snowflake_ids {

// The count is the argument of type bigint. If the planner cannot compute it, the function's ROWS remain.
FUNCTION(snowflake_ids_series_support) {
    Node* request = reinterpret_cast<Node*>(PG_GETARG_POINTER(0));
    if (!IsA(request, SupportRequestRows)) return Datum{0};

    auto* rows = reinterpret_cast<SupportRequestRows*>(request);
    if (!is_funcclause(rows->node)) return Datum{0};
    ListCell* cell;
    foreach (cell, reinterpret_cast<FuncExpr*>(rows->node)->args) {
        Node* arg = static_cast<Node*>(lfirst(cell));
        if (exprType(arg) != INT8OID) continue;
        arg = estimate_expression_value(rows->root, arg);
        if (!IsA(arg, Const)) continue;
        const auto* count = reinterpret_cast<Const*>(arg);
        rows->rows = count->constisnull ? 0 : Max(0.0, static_cast<double>(DatumGetInt64(count->constvalue)));
        PG_RETURN_POINTER(request);
    }
    return Datum{0};
}

}  // namespace snowflake_ids
