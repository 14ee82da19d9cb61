// Casts between mastic and integers. They keep the number, and raise an error if the other type does not have it. They
// are above the types because the planner leaves out the cast of gen_mastic().
#include <cstring>

#include "core/mastic.hpp"
#include "pg/datum.hpp"
#include "pg/generate/snowflake_generate.hpp"
#include "pg/pg.hpp"

extern "C" {
#include "access/heapam.h"
#include "access/table.h"
#include "access/tableam.h"
#include "catalog/namespace.h"
#include "executor/tuptable.h"
#include "nodes/makefuncs.h"
#include "nodes/parsenodes.h"
#include "nodes/supportnodes.h"
#include "storage/lmgr.h"
#include "tcop/pquery.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

Datum snowflake_ids_mastic_from_bigint(PG_FUNCTION_ARGS);
Datum snowflake_ids_mastic_to_bigint(PG_FUNCTION_ARGS);
}

namespace snowflake_ids {

using mastic::Id;

namespace {

Datum mastic_of(int64 number) {
    if (unlikely(number < 0))
        ereport(ERROR, (errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE), errmsg("mastic out of range"),
                        errdetail("The number is " INT64_FORMAT ". A mastic is 0 or greater.", number)));
    return id_datum(Id{static_cast<std::uint64_t>(number)});
}

}  // namespace

FUNCTION(snowflake_ids_mastic_from_bigint) { return mastic_of(PG_GETARG_INT64(0)); }
FUNCTION(snowflake_ids_mastic_from_integer) { return mastic_of(PG_GETARG_INT32(0)); }
FUNCTION(snowflake_ids_mastic_from_smallint) { return mastic_of(PG_GETARG_INT16(0)); }

FUNCTION(snowflake_ids_mastic_to_bigint) {
    const std::uint64_t number = id_argument<Id>(fcinfo, 0).number;
    if (unlikely(number > static_cast<std::uint64_t>(PG_INT64_MAX)))
        ereport(ERROR, (errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE), errmsg("bigint out of range"),
                        errdetail("The mastic is " UINT64_FORMAT ".", number)));
    PG_RETURN_INT64(static_cast<int64>(number));
}

// ---- casts that the planner leaves out: a number from 0 to 2^63-1 has the same bits in both types

namespace {

bool calls(const Node* node, PGFunction function) {
    if (!IsA(node, FuncExpr)) return false;
    FmgrInfo called;
    fmgr_info(reinterpret_cast<const FuncExpr*>(node)->funcid, &called);
    return called.fn_addr == function;
}

// Calls the cast for each value that it would refuse. The caller has locked the table.
void check_column(Relation table, AttrNumber column, PGFunction cast) {
    Snapshot snapshot = RegisterSnapshot(GetLatestSnapshot());
    TupleTableSlot* slot = table_slot_create(table, nullptr);
    // The arguments of table_beginscan() differ between majors.
    TableScanDesc scan = table_beginscan_strat(table, snapshot, 0, nullptr, true, true);
    while (table_scan_getnextslot(scan, ForwardScanDirection, slot)) {
        CHECK_FOR_INTERRUPTS();
        bool is_null;
        const Datum value = slot_getattr(slot, column, &is_null);
        if (!is_null && DatumGetInt64(value) < 0) DirectFunctionCall1(cast, value);
    }
    table_endscan(scan);
    ExecDropSingleTupleTableSlot(slot);
    UnregisterSnapshot(snapshot);
}

// The statement that the client has sent, if it is ALTER TABLE and not inside a function or a DO block.
const AlterTableStmt* alter_table() {
    if (ActivePortal == nullptr || list_length(ActivePortal->stmts) != 1) return nullptr;
    const auto* statement = static_cast<PlannedStmt*>(linitial(ActivePortal->stmts));
    if (statement->utilityStmt == nullptr || !IsA(statement->utilityStmt, AlterTableStmt)) return nullptr;
    return reinterpret_cast<AlterTableStmt*>(statement->utilityStmt);
}

// Without USING.
bool changes_type(const AlterTableStmt* statement, const char* column) {
    ListCell* cell;
    foreach (cell, statement->cmds) {
        const auto* command = static_cast<AlterTableCmd*>(lfirst(cell));
        if (command->subtype == AT_AlterColumnType && std::strcmp(command->name, column) == 0)
            return reinterpret_cast<ColumnDef*>(command->def)->raw_default == nullptr;
    }
    return false;
}

// True if `var` is the column whose type ALTER TABLE changes right now, and its values pass the cast. If the cast is
// left out, ALTER TABLE rewrites nothing and looks at no value, so this looks at them. Partitioned tables and those
// with children are left to the rewrite, because `var` does not say which of them it is of.
bool checked_for_alter_table(const Var* var, PGFunction cast) {
    const AlterTableStmt* statement = alter_table();
    if (statement == nullptr || var->varno != 1 || var->varlevelsup != 0 || var->varattno <= 0) return false;
    const Oid oid = RangeVarGetRelid(statement->relation, NoLock, true);
    if (!OidIsValid(oid) || get_rel_relkind(oid) != RELKIND_RELATION) return false;
    const char* column = get_attname(oid, var->varattno, true);
    if (column == nullptr || !changes_type(statement, column) || get_atttype(oid, var->varattno) != var->vartype)
        return false;
    Relation table = table_open(oid, NoLock);
    const bool mine = CheckRelationLockedByMe(table, AccessExclusiveLock, true) && !table->rd_rel->relhassubclass;
    if (mine) check_column(table, var->varattno, cast);
    table_close(table, NoLock);
    return mine;
}

}  // namespace

// The planner support function of both casts. gen_mastic() reaches 2^63 in the year 6485.
FUNCTION(snowflake_ids_mastic_casts_support) {
    Node* node = reinterpret_cast<Node*>(PG_GETARG_POINTER(0));
    if (!IsA(node, SupportRequestSimplify)) return Datum{0};
    const auto* request = reinterpret_cast<SupportRequestSimplify*>(node);
    const FuncExpr* call = request->fcall;
    Node* from = static_cast<Node*>(linitial(call->args));
    const bool to_mastic = call->funcresulttype != INT8OID;
    const bool same =
        (!to_mastic && calls(from, snowflake_ids_gen_mastic)) ||
        (request->root == nullptr && IsA(from, Var) &&
         checked_for_alter_table(reinterpret_cast<Var*>(from),
                                 to_mastic ? snowflake_ids_mastic_from_bigint : snowflake_ids_mastic_to_bigint));
    if (!same) return Datum{0};
    PG_RETURN_POINTER(
        makeRelabelType(reinterpret_cast<Expr*>(from), call->funcresulttype, -1, InvalidOid, call->funcformat));
}

}  // namespace snowflake_ids
