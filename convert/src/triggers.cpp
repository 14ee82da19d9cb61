// The triggers that keep the new columns filled while others write to the tables; the conversion itself is SQL, in
// convert/src/sql. They find tables and columns by number, which survives a rename. Nothing here uses the library of
// snowflake_ids.
//
// A writer may have no right to read the key's table. So keys are looked up as that table's owner, as for foreign keys,
// and only if the writer's table has the same owner.
#include "pg/as_owner.hpp"
#include "pg/pg.hpp"

extern "C" {
#include "access/table.h"
#include "catalog/pg_type.h"
#include "commands/trigger.h"
#include "executor/executor.h"
#include "rewrite/rewriteHandler.h"
#include "utils/datum.h"
#include "utils/hsearch.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
}

extern "C" {
SNOWFLAKE_IDS_MODULE_MAGIC("snowflake_ids_convert");
}

namespace snowflake_ids {

namespace {

// A trigger's call and its arguments: the oid of the key's table, the numbers of the key's column and of the column
// that refers to it (0 for triggers on the key). The new column for column n is snowflake_ids_new_n.
struct Call {
    TriggerData* data;
    Relation table;   // on which the trigger fires
    HeapTuple tuple;  // the new row; for a deletion the old one
    Oid key_table;
    AttrNumber key, column;
    bool wait_for_id;  // a fourth argument: see look_up_new_id()
};

[[noreturn]] void refuse_call(FunctionCallInfo fcinfo) {
    ereport(ERROR,
            (errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
             errmsg("function \"%s\" is for triggers that a conversion makes", get_func_name(fcinfo->flinfo->fn_oid))));
}

// 0 if there is no argument `n`, or no number begins it.
unsigned long number_argument(const Trigger* trigger, int n) {
    return n < trigger->tgnargs ? strtoul(trigger->tgargs[n], nullptr, 10) : 0;
}

// Raises an error for a call that no trigger of a conversion makes. `of_column`: the table refers to the key; otherwise
// it is the key's own.
Call read_call(FunctionCallInfo fcinfo, TriggerEvent timing, bool of_column) {
    if (!CALLED_AS_TRIGGER(fcinfo)) refuse_call(fcinfo);
    auto* data = reinterpret_cast<TriggerData*>(fcinfo->context);
    if ((data->tg_event & TRIGGER_EVENT_TIMINGMASK) != timing || !TRIGGER_FIRED_FOR_ROW(data->tg_event))
        refuse_call(fcinfo);
    Call call{};
    call.data = data;
    call.table = data->tg_relation;
    call.tuple = TRIGGER_FIRED_BY_UPDATE(data->tg_event) ? data->tg_newtuple : data->tg_trigtuple;
    call.key_table = static_cast<Oid>(number_argument(data->tg_trigger, 0));
    call.key = static_cast<AttrNumber>(number_argument(data->tg_trigger, 1));
    call.column = static_cast<AttrNumber>(number_argument(data->tg_trigger, 2));
    call.wait_for_id = data->tg_trigger->tgnargs > 3;
    const int last = RelationGetNumberOfAttributes(call.table);
    const bool own_key = call.key_table == RelationGetRelid(call.table);
    const auto is_there = [&](AttrNumber n) {
        return n > 0 && n <= last && !TupleDescAttr(RelationGetDescr(call.table), n - 1)->attisdropped;
    };
    if (call.key_table == InvalidOid || call.key == 0 || (own_key && !is_there(call.key)) ||
        (of_column ? !is_there(call.column) : !own_key))
        refuse_call(fcinfo);
    return call;
}

// Raises an error if somebody has dropped the new column.
AttrNumber number_of_new_column(Relation table, AttrNumber column_number) {
    char name[NAMEDATALEN];
    snprintf(name, sizeof name, "snowflake_ids_new_%d", column_number);
    const AttrNumber number = get_attnum(RelationGetRelid(table), name);
    if (number != InvalidAttrNumber) return number;
    ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                    errmsg("cannot follow the key of %s now", RelationGetRelationName(table)),
                    errdetail("Its column \"%s\" is missing.", name),
                    errhint("Undo the conversion with snowflake_ids_convert_undo().")));
}

NullableDatum column_value(HeapTuple tuple, Relation table, AttrNumber column) {
    NullableDatum v;
    v.value = heap_getattr(tuple, column, RelationGetDescr(table), &v.isnull);
    return v;
}

// May be a domain; type_of() returns the base type.
Oid exact_type(Relation table, AttrNumber column) {
    return TupleDescAttr(RelationGetDescr(table), column - 1)->atttypid;
}

Oid type_of(Relation table, AttrNumber column) { return getBaseType(exact_type(table, column)); }

[[noreturn]] void refuse_types(Relation table) {
    ereport(ERROR, (errcode(ERRCODE_DATATYPE_MISMATCH),
                    errmsg("new columns of a conversion have different types in %s and the table that it refers to",
                           RelationGetRelationName(table))));
}

bool same_value(Relation table, AttrNumber column_a, NullableDatum a, AttrNumber column_b, NullableDatum b) {
    if (a.isnull || b.isnull) return a.isnull && b.isnull;
    const FormData_pg_attribute& column = *TupleDescAttr(RelationGetDescr(table), column_a - 1);
    return type_of(table, column_a) == type_of(table, column_b) &&
           datum_image_eq(a.value, b.value, column.attbyval, column.attlen);
}

HeapTuple with_value(HeapTuple tuple, Relation table, AttrNumber column, NullableDatum v) {
    int number = column;
    return heap_modify_tuple_by_cols(tuple, RelationGetDescr(table), 1, &number, &v.value, &v.isnull);
}

// ---- look-ups, prepared once per session, and again when a table has changed

struct PlanKey {
    Oid table;
    Oid type;  // of the parameter
    int32 column;
    int32 share;
};
struct PlanEntry {
    PlanKey key;
    SPIPlanPtr plan;
};

const char* table_name(Relation table) {
    return quote_qualified_identifier(get_namespace_name(RelationGetNamespace(table)), RelationGetRelationName(table));
}

const char* column_name(Relation table, AttrNumber column) {
    return quote_identifier(NameStr(TupleDescAttr(RelationGetDescr(table), column - 1)->attname));
}

// Call between connect_as() and disconnect().
SPIPlanPtr prepared(PlanKey key, Relation table, AttrNumber shadow) {
    static HTAB* plans = nullptr;
    if (plans == nullptr) {
        HASHCTL control{};
        control.keysize = sizeof(PlanKey);
        control.entrysize = sizeof(PlanEntry);
        plans = hash_create("look-ups of conversions", 16, &control, HASH_ELEM | HASH_BLOBS);
    }
    auto* entry = static_cast<PlanEntry*>(hash_search(plans, &key, HASH_FIND, nullptr));
    if (entry != nullptr && SPI_plan_is_valid(entry->plan)) return entry->plan;
    if (entry != nullptr) {
        SPIPlanPtr old = entry->plan;
        hash_search(plans, &key, HASH_REMOVE, nullptr);
        SPI_freeplan(old);
    }
    const char* const text =
        psprintf("SELECT k.%s FROM ONLY %s AS k WHERE k.%s OPERATOR(pg_catalog.=) $1 FOR %s",
                 column_name(table, shadow), table_name(table), column_name(table, static_cast<AttrNumber>(key.column)),
                 key.share != 0 ? "SHARE" : "KEY SHARE");
    SPIPlanPtr plan = SPI_prepare(text, 1, &key.type);
    if (plan == nullptr || SPI_keepplan(plan) != 0) elog(ERROR, "could not prepare: %s", text);
    static_cast<PlanEntry*>(hash_search(plans, &key, HASH_ENTER, nullptr))->plan = plan;
    return plan;
}

void check_result(int result, int expected) {
    if (result != expected) elog(ERROR, "a statement of a conversion returned %s", SPI_result_code_string(result));
}

// The new id of the key `value`, null if there is no such key or it has no id yet. Locks the row as a foreign key does,
// so it still has this key when the foreign key is checked. With `wait_for_id`, waits for a transaction that is giving
// the row its id, and fails if the snapshot is too old to see it. `id_type`: of the new column in `table`; another type
// is an error.
NullableDatum look_up_new_id(Relation key_table, AttrNumber key, Oid type, Datum value, bool wait_for_id, Oid id_type,
                             Relation table) {
    const AttrNumber shadow = number_of_new_column(key_table, key);
    if (exact_type(key_table, shadow) != id_type) refuse_types(table);
    const Caller caller = connect_as(key_table->rd_rel->relowner, as_foreign_keys);
    SPIPlanPtr plan = prepared({RelationGetRelid(key_table), type, key, wait_for_id ? 1 : 0}, key_table, shadow);
    check_result(SPI_execute_plan(plan, &value, nullptr, false, 1), SPI_OK_SELECT);
    NullableDatum id{.value = 0, .isnull = true};
    if (SPI_processed > 0) {
        id.value = SPI_getbinval(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, 1, &id.isnull);
        const Form_pg_attribute column = TupleDescAttr(RelationGetDescr(key_table), shadow - 1);
        if (!id.isnull) id.value = SPI_datumTransfer(id.value, column->attbyval, column->attlen);
    }
    disconnect(caller);
    return id;
}

// Opens the key's table for a table of the same owner; another owner is an error. A role with the TRIGGER privilege can
// create a trigger like ours, but only the owner can make it fire always (ENABLE ALWAYS). With any other trigger, only
// writers with the owner's rights may look up keys.
Relation open_key_table(const Call& call) {
    Relation keys = try_table_open(call.key_table, RowShareLock);
    if (keys == nullptr || keys->rd_rel->relkind != RELKIND_RELATION ||
        keys->rd_rel->relowner != call.table->rd_rel->relowner || call.key > RelationGetNumberOfAttributes(keys) ||
        TupleDescAttr(RelationGetDescr(keys), call.key - 1)->attisdropped) {
        ereport(ERROR,
                (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                 errmsg("cannot follow the key of %s now",
                        keys == nullptr ? "a table that no longer exists" : RelationGetRelationName(keys)),
                 errdetail("Table \"%s\" refers to it, and both must have the same owner while the key is converted.",
                           RelationGetRelationName(call.table)),
                 errhint("Give both tables to one role, or undo the conversion with snowflake_ids_convert_undo().")));
    }
    if (call.data->tg_trigger->tgenabled != TRIGGER_FIRES_ALWAYS &&
        !has_privs_of_role(GetUserId(), keys->rd_rel->relowner))
        aclcheck_error(ACLCHECK_NOT_OWNER, OBJECT_TABLE, RelationGetRelationName(keys));
    return keys;
}

NullableDatum new_id_of(const Call& call, Datum key, AttrNumber shadow) {
    Relation keys = open_key_table(call);
    const NullableDatum id = look_up_new_id(keys, call.key, type_of(call.table, call.column), key, call.wait_for_id,
                                            exact_type(call.table, shadow), call.table);
    table_close(keys, NoLock);
    return id;
}

}  // namespace

// On the key's table, before a row is inserted or updated. A new row gets its id from the default of the new column,
// even if the statement sets that column. A row whose key changes keeps its id; if it has none yet, the change is an
// error.
FUNCTION(snowflake_ids_convert_key) {
    const Call call = read_call(fcinfo, TRIGGER_EVENT_BEFORE, false);
    const AttrNumber shadow = number_of_new_column(call.table, call.key);
    if (TRIGGER_FIRED_BY_INSERT(call.data->tg_event)) {
        Node* expression = build_column_default(call.table, shadow);
        if (expression == nullptr) refuse_call(fcinfo);
        EState* state = CreateExecutorState();
        ExprState* evaluation = ExecPrepareExpr(reinterpret_cast<Expr*>(expression), state);
        NullableDatum id;
        id.value = ExecEvalExprSwitchContext(evaluation, GetPerTupleExprContext(state), &id.isnull);
        const HeapTuple tuple = with_value(call.tuple, call.table, shadow, id);
        FreeExecutorState(state);
        return PointerGetDatum(tuple);
    }
    if (!TRIGGER_FIRED_BY_UPDATE(call.data->tg_event)) refuse_call(fcinfo);
    const NullableDatum before = column_value(call.data->tg_trigtuple, call.table, call.key);
    const NullableDatum now = column_value(call.tuple, call.table, call.key);
    if (column_value(call.data->tg_trigtuple, call.table, shadow).isnull &&
        !same_value(call.table, call.key, before, call.key, now)) {
        ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                        errmsg("cannot change a key of %s now", RelationGetRelationName(call.table)),
                        errdetail("The table is being converted, and this row has no new id yet."),
                        errhint("Try again later. See snowflake_ids_convert_progress.")));
    }
    return PointerGetDatum(call.tuple);
}

// On a table that refers to the key, before a row is inserted or updated: fills the new column, unless an update keeps
// the key. It stays null if the key does not exist or has no id yet; another trigger or the conversion then fills it.
FUNCTION(snowflake_ids_convert_follow) {
    const Call call = read_call(fcinfo, TRIGGER_EVENT_BEFORE, true);
    const bool insert = TRIGGER_FIRED_BY_INSERT(call.data->tg_event);
    if (!insert && !TRIGGER_FIRED_BY_UPDATE(call.data->tg_event)) refuse_call(fcinfo);
    const AttrNumber shadow = number_of_new_column(call.table, call.column);
    const NullableDatum key = column_value(call.tuple, call.table, call.column);
    const NullableDatum id = column_value(call.tuple, call.table, shadow);
    if (key.isnull) {
        if (id.isnull) return PointerGetDatum(call.tuple);
        return PointerGetDatum(with_value(call.tuple, call.table, shadow, NullableDatum{.value = 0, .isnull = true}));
    }
    if (!insert && !id.isnull) {
        const NullableDatum before = column_value(call.data->tg_trigtuple, call.table, call.column);
        if (same_value(call.table, call.column, before, call.column, key)) return PointerGetDatum(call.tuple);
    }
    if (call.key_table == RelationGetRelid(call.table)) {
        // A row that refers to itself is not in the table yet.
        const NullableDatum own = column_value(call.tuple, call.table, call.key);
        if (same_value(call.table, call.column, key, call.key, own)) {
            const AttrNumber own_shadow = number_of_new_column(call.table, call.key);
            if (exact_type(call.table, own_shadow) != exact_type(call.table, shadow)) refuse_types(call.table);
            return PointerGetDatum(
                with_value(call.tuple, call.table, shadow, column_value(call.tuple, call.table, own_shadow)));
        }
    }
    return PointerGetDatum(with_value(call.tuple, call.table, shadow, new_id_of(call, key.value, shadow)));
}

// On a table that refers to the key, at the end of the transaction: fills the new column of a row that was written
// before its key.
FUNCTION(snowflake_ids_convert_late) {
    Call call = read_call(fcinfo, TRIGGER_EVENT_AFTER, true);
    if (TRIGGER_FIRED_BY_DELETE(call.data->tg_event)) refuse_call(fcinfo);
    const AttrNumber shadow = number_of_new_column(call.table, call.column);
    const NullableDatum key = column_value(call.tuple, call.table, call.column);
    if (key.isnull) return Datum{0};
    const NullableDatum id = new_id_of(call, key.value, shadow);
    if (!id.isnull) {
        const Caller caller = connect_as(call.table->rd_rel->relowner, as_foreign_keys);
        Oid types[] = {exact_type(call.table, shadow), TIDOID};
        Datum values[] = {id.value, PointerGetDatum(&call.tuple->t_self)};
        const char* const name = column_name(call.table, shadow);
        const char* const text =
            psprintf("UPDATE ONLY %s SET %s = $1 WHERE ctid OPERATOR(pg_catalog.=) $2 AND %s IS NULL",
                     table_name(call.table), name, name);
        check_result(SPI_execute_with_args(text, 2, types, values, nullptr, false, 0), SPI_OK_UPDATE);
        disconnect(caller);
    }
    return Datum{0};
}

// On the key's table, at the end of the transaction. If the old key now belongs to another row (exchanged, or deleted
// and inserted again), rows that refer to it get that row's id. Usually no row has it, and no table is searched.
FUNCTION(snowflake_ids_convert_moved) {
    const Call call = read_call(fcinfo, TRIGGER_EVENT_AFTER, false);
    if (TRIGGER_FIRED_BY_INSERT(call.data->tg_event)) refuse_call(fcinfo);
    const NullableDatum key = column_value(call.data->tg_trigtuple, call.table, call.key);
    if (key.isnull) return Datum{0};
    const Oid type = type_of(call.table, call.key);
    if (look_up_new_id(call.table, call.key, type, key.value, false,
                       exact_type(call.table, number_of_new_column(call.table, call.key)), call.table)
            .isnull)
        return Datum{0};
    const char* const text = SPI_getvalue(call.data->tg_trigtuple, RelationGetDescr(call.table), call.key);
    const Caller caller = connect_as(call.table->rd_rel->relowner, as_foreign_keys);
    Oid types[] = {REGCLASSOID, INT2OID, TEXTOID};
    Datum values[] = {ObjectIdGetDatum(RelationGetRelid(call.table)), Int16GetDatum(call.key),
                      CStringGetTextDatum(text)};
    check_result(SPI_execute_with_args("SELECT snowflake_ids_convert.follow_moved_key($1, $2, $3)", 3, types, values,
                                       nullptr, false, 0),
                 SPI_OK_SELECT);
    disconnect(caller);
    return Datum{0};
}

}  // namespace snowflake_ids
