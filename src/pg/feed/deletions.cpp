// The table of deletions of a feed, which belongs to the owner of the table. It has a row for each deleted key, in the
// columns of the key and `stamp`. Other rows have no key:
//
//   stamp   again       what it tells readers
//   id      null        all rows were truncated: empty the copy
//   id      a reason    readers to whom the row is new copy the table again
//   -1      a position  readers copy again unless they have seen what it has seen, because the deletions are forgotten
//   -time   a position  forget_deleted() was called then (Unix time in microseconds); it may be the next at -1
//
// feed_stamp() gives the stamps that are not negative. A role that may delete need not be able to write there. So rows
// are inserted as the owner, as foreign keys do it, and only into a table of the same owner. No statement is planned:
// its names could mean other objects later, and it would be slower.
//
// A constraint trigger of the table of deletions, which never fires, refers to the table by its oid (tgconstrrelid). So
// both can be renamed. The other way round, PostgreSQL would leave clones of the trigger behind in detached partitions.
#include "pg/feed/deletions.hpp"

#include "pg/as_owner.hpp"
#include "pg/pg.hpp"

extern "C" {
#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "access/xact.h"
#include "catalog/objectaddress.h"
#include "catalog/pg_class.h"
#include "catalog/pg_depend.h"
#include "catalog/pg_index.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_trigger.h"
#include "commands/trigger.h"
#include "executor/executor.h"
#include "storage/lmgr.h"
#include "utils/datum.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/relcache.h"
#include "utils/snapmgr.h"
}

#include "pg/feed/position.hpp"
#include "pg/feed/snapshot.hpp"
#include "pg/feed/triggers.hpp"
#include "pg/feed/wait.hpp"
#include "pg/server/table_ancestors.hpp"

namespace snowflake_ids::feed {

// ---- the table of deletions

namespace {

[[noreturn]] void fail_to_note(const TriggerData& t, const char* detail) {
    const Relation rel = t.tg_relation;
    ereport(ERROR,
            (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
             errmsg("cannot note what is deleted from \"%s\" for its feed", RelationGetRelationName(rel)),
             errdetail_internal("%s", detail),
             errhint("SELECT * FROM snowflake_ids.check_feed(%s); shows what to do. Or drop trigger \"%s\".",
                     quote_literal_cstr(name_for_messages(llast_oid(table_and_ancestors(RelationGetRelid(rel))))),
                     t.tg_trigger->tgname),
             errtable(rel)));
}

Oid owner_or_none(Oid table) {
    const HeapTuple tuple = SearchSysCacheCopy1(RELOID, ObjectIdGetDatum(table));
    return HeapTupleIsValid(tuple) ? reinterpret_cast<Form_pg_class>(GETSTRUCT(tuple))->relowner : InvalidOid;
}

// The table of the deletions of `table`: its trigger refers to `table`. InvalidOid if there is none. Tables of other
// owners do not count, because others may have had the privilege to make such a trigger.
Oid deletions_of(Oid table) {
    const Oid owner = owner_or_none(table), note_lost = feed_function("note_lost");
    Oid found = InvalidOid;
    const Relation depend = table_open(DependRelationId, AccessShareLock);
    const Relation triggers = table_open(TriggerRelationId, AccessShareLock);
    ScanKeyData keys[2];
    ScanKeyInit(&keys[0], Anum_pg_depend_refclassid, BTEqualStrategyNumber, F_OIDEQ,
                ObjectIdGetDatum(RelationRelationId));
    ScanKeyInit(&keys[1], Anum_pg_depend_refobjid, BTEqualStrategyNumber, F_OIDEQ, ObjectIdGetDatum(table));
    SysScanDesc scan = systable_beginscan(depend, DependReferenceIndexId, true, nullptr, 2, keys);
    for (HeapTuple tuple; !OidIsValid(found) && HeapTupleIsValid(tuple = systable_getnext(scan));) {
        const auto* row = reinterpret_cast<Form_pg_depend>(GETSTRUCT(tuple));
        if (row->classid != TriggerRelationId) continue;
        const HeapTuple trigger_tuple = get_catalog_object_by_oid(triggers, Anum_pg_trigger_oid, row->objid);
        if (!HeapTupleIsValid(trigger_tuple)) continue;
        const auto* trigger = reinterpret_cast<Form_pg_trigger>(GETSTRUCT(trigger_tuple));
        if (trigger->tgconstrrelid == table && trigger->tgfoid == note_lost &&
            owner_or_none(trigger->tgrelid) == owner && get_rel_relkind(trigger->tgrelid) == RELKIND_RELATION)
            found = trigger->tgrelid;
    }
    systable_endscan(scan);
    table_close(triggers, AccessShareLock);
    table_close(depend, AccessShareLock);
    return found;
}

}  // namespace

Oid deletions_of_part(Oid table) {
    const ListCell* cell;
    foreach (cell, table_and_ancestors(table))
        if (const Oid found = deletions_of(lfirst_oid(cell)); OidIsValid(found)) return found;
    return InvalidOid;
}

namespace {

// Inserts a row as the owner. `fill` gets it with all columns null. The trigger stamps it unless its stamp is
// negative.
template <class Fill>
void insert(Relation table, Fill fill) {
    Oid user;
    int context;
    GetUserIdAndSecContext(&user, &context);
    SetUserIdAndSecContext(table->rd_rel->relowner, context | as_foreign_keys);
    EState* const state = CreateExecutorState();
    const MemoryContext before = MemoryContextSwitchTo(state->es_query_cxt);
    auto* const target = makeNode(ResultRelInfo);
    InitResultRelInfo(target, table, 0, nullptr, 0);
    ExecOpenIndices(target, false);
    state->es_opened_result_relations = list_make1(target);
    TupleTableSlot* const row =
        ExecStoreAllNullTuple(ExecInitExtraTupleSlot(state, RelationGetDescr(table), &TTSOpsVirtual));
    fill(row->tts_values, row->tts_isnull);
    AfterTriggerBeginQuery();
    ExecSimpleRelationInsert(target, state, row);
    AfterTriggerEndQuery(state);
    ExecCloseResultRelations(state);
    ExecResetTupleTable(state->es_tupleTable, false);
    MemoryContextSwitchTo(before);
    FreeExecutorState(state);
    SetUserIdAndSecContext(user, context);
    CommandCounterIncrement();
}

// The number of a column that create_feed() has made. The owner may have altered it.
AttrNumber own_column(Relation deletions, const char* name, Oid type) {
    const Oid oid = RelationGetRelid(deletions);
    const AttrNumber number = get_attnum(oid, name);
    if (deletions->rd_rel->relkind != RELKIND_RELATION || number <= 0 || get_atttype(oid, number) != type) {
        ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                        errmsg("\"%s\" is no table of deletions", RelationGetRelationName(deletions)),
                        errdetail("Such a table has a column \"%s\" of type %s.", name, format_type_be(type)),
                        errtable(deletions)));
    }
    return number;
}

// `again` null: all rows were truncated. `stamp` 0: that of the transaction.
void insert_without_key(Relation deletions, const char* again, int64 stamp = 0) {
    const AttrNumber stamp_number = own_column(deletions, "stamp", INT8OID);
    const AttrNumber again_number = own_column(deletions, "again", TEXTOID);
    insert(deletions, [&](Datum* values, bool* nulls) {
        nulls[again_number - 1] = again == nullptr;
        if (again != nullptr) values[again_number - 1] = CStringGetTextDatum(again);
        nulls[stamp_number - 1] = stamp == 0;
        values[stamp_number - 1] = Int64GetDatum(stamp);
    });
}

// ---- the triggers of the table

// A role with the privilege TRIGGER can create a trigger like ours, but only the owner can enable it ALWAYS.
void check_is_owners(const TriggerData& t) {
    const Trigger& trigger = *t.tg_trigger;
    if (trigger.tgenabled != TRIGGER_FIRES_ALWAYS && !has_privs_of_role(GetUserId(), t.tg_relation->rd_rel->relowner))
        fail_to_note(t, psprintf("Trigger \"%s\" is not enabled ALWAYS.", trigger.tgname));
}

Relation open_deletions(const TriggerData& t) {
    check_is_owners(t);
    const Oid owner = t.tg_relation->rd_rel->relowner;
    const Oid found = deletions_of_part(RelationGetRelid(t.tg_relation));
    if (!OidIsValid(found)) fail_to_note(t, "There is no table of deletions.");
    const Relation table = table_open(found, RowExclusiveLock);
    if (table->rd_rel->relowner != owner)
        fail_to_note(t,
                     psprintf("%s does not belong to %s.", name_for_messages(found), GetUserNameFromId(owner, false)));
    return table;
}

bool is_child(Relation rel) {
    return !rel->rd_rel->relispartition && list_length(table_and_ancestors(RelationGetRelid(rel))) > 1;
}

// The columns of the primary key, in `from`. `count` stays 0 if there is none.
//
// Not rd_pkindex: before PostgreSQL 18 it leaves out keys that are DEFERRABLE, and it is lost when another process's
// change of the table is noticed.
void find_key(Deletions& d, Relation rel) {
    const ListCell* cell;
    foreach (cell, RelationGetIndexList(rel)) {
        const HeapTuple tuple = SearchSysCache1(INDEXRELID, ObjectIdGetDatum(lfirst_oid(cell)));
        if (!HeapTupleIsValid(tuple)) continue;
        const auto* index = reinterpret_cast<Form_pg_index>(GETSTRUCT(tuple));
        if (index->indisprimary && index->indisvalid)
            for (; d.count < index->indnkeyatts; ++d.count) d.columns[d.count].from = index->indkey.values[d.count];
        ReleaseSysCache(tuple);
    }
}

}  // namespace

// The key comes first in the table of deletions, then the stamp. A column that was renamed keeps its place. A child
// table may have another key than its parent, or none.
const char* match_key(Deletions& d, Relation deletions, Relation rel, bool needs_key) {
    const char* const table = name_for_messages(RelationGetRelid(deletions));
    Deletions key{};
    find_key(key, rel);
    const bool own_key = key.count > 0 && !is_child(rel);
    bool has_stamp = false;
    d.table = RelationGetRelid(deletions);
    d.count = 0;
    for (int i = 0; i < RelationGetDescr(deletions)->natts; i++) {
        const FormData_pg_attribute& column = *TupleDescAttr(RelationGetDescr(deletions), i);
        const char* const name = NameStr(column.attname);
        if (column.attisdropped) continue;
        has_stamp = strcmp(name, "stamp") == 0;
        if (has_stamp || d.count == INDEX_MAX_KEYS) break;
        const int named = get_attnum(RelationGetRelid(rel), name), placed = key.columns[d.count].from;
        const int number = named > 0 ? named : placed;
        if (number == 0 || (own_key && number != placed) ||
            getBaseType(TupleDescAttr(RelationGetDescr(rel), number - 1)->atttypid) != column.atttypid)
            return psprintf("Column \"%s\" of %s is none of the key, or has another type.", name, table);
        d.columns[d.count++] = {number, i, column.atttypid};
    }
    return has_stamp && d.count > 0 && (!own_key || d.count == key.count) && (!needs_key || key.count > 0)
               ? nullptr
               : psprintf("%s does not have the key and a stamp.", table);
}

namespace {

Relation open_and_match(Deletions& d, const TriggerData& t) {
    const Relation table = open_deletions(t);
    if (const char* const problem = match_key(d, table, t.tg_relation); problem != nullptr) fail_to_note(t, problem);
    return table;
}

// A trigger of this statement can have altered or dropped the table of deletions.
void note_key(Deletions& d, const TriggerData& t) {
    Relation table = OidIsValid(d.table) ? try_table_open(d.table, RowExclusiveLock) : nullptr;
    if (table == nullptr) table = open_and_match(d, t);
    insert(table, [&](Datum* values, bool* nulls) {
        for (int i = 0; i < d.count; i++) {
            const auto [from, to, type] = d.columns[i];
            if (TupleDescAttr(RelationGetDescr(table), to)->atttypid != type)
                fail_to_note(t, psprintf("%s was altered in this statement.", name_for_messages(d.table)));
            values[to] = heap_getattr(t.tg_trigtuple, from, RelationGetDescr(t.tg_relation), &nulls[to]);
        }
    });
    table_close(table, NoLock);
}

// A part that is truncated alone, or a parent whose children may have been left out (ONLY), is not the whole table. A
// table whose children are gone counts as a parent until ANALYZE.
void note_truncated(const TriggerData& t) {
    const Relation deletions = open_deletions(t), rel = t.tg_relation;
    const Oid oid = RelationGetRelid(rel);
    const bool whole = !rel->rd_rel->relispartition && list_length(table_and_ancestors(oid)) == 1 &&
                       (rel->rd_rel->relkind == RELKIND_PARTITIONED_TABLE || !has_subclass(oid));
    insert_without_key(deletions,
                       whole ? nullptr : psprintf("\"%s\"%s", RelationGetRelationName(rel), part_was_truncated));
    table_close(deletions, NoLock);
}

// True if bytes of the key may have changed, because a copy may keep equal keys apart.
bool may_have_changed(const Deletions& key, const TriggerData& t) {
    const TupleDesc columns = RelationGetDescr(t.tg_relation);
    for (int i = 0; i < key.count; i++) {
        const int number = key.columns[i].from;
        const FormData_pg_attribute& column = *TupleDescAttr(columns, number - 1);
        // A generated column gets its value after the triggers.
        if (column.attgenerated != '\0') return true;
        bool was_null = false, is_null = false;
        const Datum was = heap_getattr(t.tg_trigtuple, number, columns, &was_null);
        const Datum is = heap_getattr(t.tg_newtuple, number, columns, &is_null);
        if (was_null != is_null || (!is_null && !datum_image_eq(was, is, column.attbyval, column.attlen))) return true;
    }
    return false;
}

Deletions* new_deletions(MemoryContext context) {
    return static_cast<Deletions*>(MemoryContextAllocZero(context, sizeof(Deletions)));
}

}  // namespace

const TriggerData& trigger_data(FunctionCallInfo fcinfo, const char* function, bool (*fits)(TriggerEvent)) {
    const auto* t = CALLED_AS_TRIGGER(fcinfo) ? reinterpret_cast<const TriggerData*>(fcinfo->context) : nullptr;
    if (likely(t != nullptr && fits(t->tg_event))) return *t;
    ereport(ERROR, (errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
                    errmsg("function \"%s\" is for triggers that create_feed() makes", function),
                    errhint("SELECT to_do FROM snowflake_ids.create_feed('my_table');")));
}

void note_changed_key(const TriggerData& t, Deletions*& key, MemoryContext context) {
    const Relation rel = t.tg_relation;
    if (key == nullptr) {
        Deletions* const found = new_deletions(context);
        if (!is_child(rel))
            find_key(*found, rel);
        else if (OidIsValid(deletions_of_part(RelationGetRelid(rel))))
            table_close(open_and_match(*found, t), NoLock);
        key = found;
    }
    if (!may_have_changed(*key, t)) return;
    if (OidIsValid(key->table) || OidIsValid(deletions_of_part(RelationGetRelid(rel))))
        note_key(*key, t);
    else
        key->count = 0;
}

}  // namespace snowflake_ids::feed

namespace snowflake_ids {

using namespace feed;

namespace {

bool is_after_non_insert(TriggerEvent event) { return TRIGGER_FIRED_AFTER(event) && !TRIGGER_FIRED_BY_INSERT(event); }

bool is_noted(TriggerEvent event) {
    return is_after_non_insert(event) && (TRIGGER_FIRED_FOR_ROW(event) || TRIGGER_FIRED_BY_TRUNCATE(event));
}

}  // namespace

// Fires AFTER DELETE for each row, and AFTER TRUNCATE.
FUNCTION(snowflake_ids_note_deleted) {
    const TriggerData& t = trigger_data(fcinfo, "note_deleted", is_noted);
    auto*& deletions = reinterpret_cast<Deletions*&>(fcinfo->flinfo->fn_extra);
    if (deletions == nullptr) {
        deletions = new_deletions(fcinfo->flinfo->fn_mcxt);
        will_write(RelationGetRelid(t.tg_relation));
    }
    TRIGGER_FIRED_BY_TRUNCATE(t.tg_event) ? note_truncated(t) : note_key(*deletions, t);
    return Datum{0};
}

// AFTER DELETE OR UPDATE OR TRUNCATE on the table of deletions, FOR EACH STATEMENT: somebody removes deletions that
// readers may not have read.
FUNCTION(snowflake_ids_note_lost) {
    const TriggerData& t = trigger_data(fcinfo, "note_lost", is_after_non_insert);
    check_is_owners(t);
    const Relation table = t.tg_relation;
    insert_without_key(table,
                       psprintf("Rows of \"%s\" were removed or changed by hand.", RelationGetRelationName(table)));
    return Datum{0};
}

namespace {

// Only for users with the rights of the table's owner. Keeps the table from being dropped. Raises an error if its feed
// has no deletions.
Relation open_own_deletions(const char* command, Oid table, LOCKMODE lock) {
    PreventCommandIfReadOnly(command);
    (void) owner_of(table);
    LockRelationOid(table, AccessShareLock);
    const Oid deletions = deletions_of(table);
    if (!OidIsValid(deletions)) {
        ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                        errmsg("the feed of \"%s\" has no deletions", get_rel_name(table)),
                        errhint("SELECT to_do FROM snowflake_ids.create_feed(%s, deletes => true);",
                                quote_literal_cstr(name_for_messages(table)))));
    }
    will_write(table);
    return table_open(deletions, lock);
}

// Calls `row(stamp, again, tuple, snapshot)`.
template <class Row>
void for_each_row(Relation deletions, Row row) {
    const TupleDesc columns = RelationGetDescr(deletions);
    const AttrNumber stamp = own_column(deletions, "stamp", INT8OID), again = own_column(deletions, "again", TEXTOID);
    const Snapshot snapshot = RegisterSnapshot(GetLatestSnapshot());
    SysScanDesc scan = systable_beginscan(deletions, InvalidOid, false, snapshot, 0, nullptr);
    for (HeapTuple tuple; HeapTupleIsValid(tuple = systable_getnext(scan));) {
        bool null = false;
        const int64 of_row = DatumGetInt64(heap_getattr(tuple, stamp, columns, &null));
        const Datum position = heap_getattr(tuple, again, columns, &null);
        row(of_row, null ? nullptr : TextDatumGetCString(position), tuple, snapshot);
    }
    systable_endscan(scan);
    UnregisterSnapshot(snapshot);
}

}  // namespace

// forget_deleted(of_table, keep): takes the newest position that was noted at least `keep` ago. Removes the deletions
// that it has seen, and older positions, and moves it to stamp -1. Returns how many deletions were removed. No trigger
// fires, so note_lost() does not note them.
FUNCTION(snowflake_ids_forget_deleted) {
    const Oid table = PG_GETARG_OID(0);
    const TimestampTz now = GetCurrentTimestamp();
    const TimestampTz until =
        DatumGetTimestampTz(DirectFunctionCall2(timestamptz_mi_interval, TimestampTzGetDatum(now), PG_GETARG_DATUM(1)));
    const Relation deletions = open_own_deletions("forget_deleted()", table, ShareUpdateExclusiveLock);
    const text* const position = make_position(table, stamp_column(table), 0, active_snapshot());
    insert_without_key(deletions, text_to_cstring(position), -number_of(unix_time(now)));
    int64 newest = 0;
    const char* seen = nullptr;
    for_each_row(deletions, [&](int64 stamp, const char* again, HeapTuple, Snapshot) {
        if (stamp >= -1 || stamp < -number_of(unix_time(until)) || (newest != 0 && newest <= stamp)) return;
        newest = stamp;
        seen = again;
    });
    int64 forgotten = 0;
    if (seen != nullptr) {
        const Unseen unseen = unseen_by_noted(seen);
        for_each_row(deletions, [&](int64 stamp, const char*, HeapTuple row, Snapshot snapshot) {
            if (stamp < 0 ? stamp < newest : unseen.has(static_cast<uint64>(stamp))) return;
            // Somebody else may have deleted or changed the row.
            TM_FailureData failure;
            const TM_Result result = table_tuple_delete(deletions, &row->t_self, GetCurrentCommandId(true), 0, snapshot,
                                                        InvalidSnapshot, true, &failure);
            if (result == TM_Ok && stamp >= 0) ++forgotten;
        });
        insert_without_key(deletions, seen, -1);
    }
    table_close(deletions, NoLock);
    PG_RETURN_INT64(forgotten);
}

// note_missed(of_table, reason): readers copy the table again.
FUNCTION(snowflake_ids_note_missed) {
    const Relation deletions = open_own_deletions("note_missed()", PG_GETARG_OID(0), RowExclusiveLock);
    insert_without_key(deletions, text_to_cstring(PG_GETARG_TEXT_PP(1)));
    table_close(deletions, NoLock);
    PG_RETURN_VOID();
}

}  // namespace snowflake_ids
