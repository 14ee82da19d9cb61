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
// are inserted as the owner, as foreign keys do it, and only into a table of the same owner.
//
// A constraint trigger of the table of deletions, which never fires, refers to the table by its oid (tgconstrrelid). So
// both can be renamed. The other way round, PostgreSQL would leave clones of the trigger behind in detached partitions.
#include "pg/feed/deletions.hpp"

#include "pg/as_owner.hpp"
#include "pg/pg.hpp"

extern "C" {
#include "access/genam.h"
#include "access/htup_details.h"
#include "access/relation.h"
#include "access/table.h"
#include "access/xact.h"
#include "catalog/dependency.h"
#include "catalog/pg_class.h"
#include "catalog/pg_depend.h"
#include "catalog/pg_trigger.h"
#include "catalog/pg_type.h"
#include "commands/trigger.h"
#include "storage/lmgr.h"
#include "utils/datum.h"
#include "utils/fmgroids.h"
#include "utils/guc.h"
#include "utils/hsearch.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/relcache.h"
#include "utils/snapmgr.h"
}

#include "ledger/clock.hpp"
#include "pg/feed/parts.hpp"
#include "pg/feed/position.hpp"
#include "pg/feed/snapshot.hpp"
#include "pg/feed/wait.hpp"
#include "pg/server/relatives.hpp"

namespace snowflake_ids::feed {

namespace {

void check_result(int result) {
    if (result < 0) elog(ERROR, "a statement of a feed returned %s", SPI_result_code_string(result));
}

// The table of deletions of which the feed itself removes rows, so that note_lost() does not count them.
constinit Oid forgets = InvalidOid;

// ---- the triggers of the table

// What is looked up once for each statement, in FmgrInfo::fn_extra.
struct Deletions {
    SPIPlanPtr insert;
    int count;                    // of the columns of the key
    int columns[INDEX_MAX_KEYS];  // of the table on which the trigger fires
};

[[noreturn]] void fail(const TriggerData& t, const char* detail) {
    const Relation rel = t.tg_relation;
    ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                    errmsg("cannot note what is deleted from \"%s\" for its feed", RelationGetRelationName(rel)),
                    errdetail_internal("%s", detail),
                    errhint("SELECT * FROM snowflake_ids.check_feed(%s); shows what to do. Or drop trigger \"%s\".",
                            quote_literal_cstr(full_name(llast_oid(relatives_above(RelationGetRelid(rel))))),
                            t.tg_trigger->tgname),
                    errtable(rel)));
}

Oid owner_or_none(Oid table) {
    const HeapTuple tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(table));
    if (!HeapTupleIsValid(tuple)) return InvalidOid;
    const Oid owner = reinterpret_cast<Form_pg_class>(GETSTRUCT(tuple))->relowner;
    ReleaseSysCache(tuple);
    return owner;
}

// The table of the deletions of `table`: its trigger refers to `table`. InvalidOid if there is none. Tables of other
// owners do not count, because others may have had the privilege to make such a trigger.
Oid deletions_of(Oid table) {
    const Oid owner = owner_or_none(table);
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
        ScanKeyData key;
        ScanKeyInit(&key, Anum_pg_trigger_oid, BTEqualStrategyNumber, F_OIDEQ, ObjectIdGetDatum(row->objid));
        SysScanDesc one = systable_beginscan(triggers, TriggerOidIndexId, true, nullptr, 1, &key);
        if (const HeapTuple t = systable_getnext(one); HeapTupleIsValid(t)) {
            const auto* trigger = reinterpret_cast<Form_pg_trigger>(GETSTRUCT(t));
            if (trigger->tgconstrrelid == table && is_function(trigger->tgfoid, "snowflake_ids_note_lost") &&
                owner_or_none(trigger->tgrelid) == owner)
                found = trigger->tgrelid;
        }
        systable_endscan(one);
    }
    systable_endscan(scan);
    table_close(triggers, AccessShareLock);
    table_close(depend, AccessShareLock);
    return found;
}

// Also if the table is a part of one with a feed.
Oid deletions_of_part(Oid table) {
    const ListCell* cell;
    foreach (cell, relatives_above(table))
        if (const Oid found = deletions_of(lfirst_oid(cell)); OidIsValid(found)) return found;
    return InvalidOid;
}

// Who has the privilege TRIGGER can create a trigger as ours, but only the owner can enable it ALWAYS.
Relation open_deletions(const TriggerData& t) {
    const Trigger& trigger = *t.tg_trigger;
    const Oid owner = t.tg_relation->rd_rel->relowner;
    if (trigger.tgenabled != TRIGGER_FIRES_ALWAYS && !has_privs_of_role(GetUserId(), owner))
        fail(t, psprintf("Trigger \"%s\" is not enabled ALWAYS.", trigger.tgname));
    const Oid found = deletions_of_part(RelationGetRelid(t.tg_relation));
    if (!OidIsValid(found)) fail(t, "There is no table of deletions.");
    const Relation table = table_open(found, RowExclusiveLock);
    if (table->rd_rel->relowner != owner)
        fail(t, psprintf("%s does not belong to %s.", full_name(found), GetUserNameFromId(owner, false)));
    return table;
}

// The columns of the primary key. Only the first `*count` of them are filled in; 0: there is no primary key.
void key_columns(Relation rel, int* columns, int* count) {
    *count = 0;
    list_free(RelationGetIndexList(rel));
    if (!OidIsValid(rel->rd_pkindex)) return;
    const Relation key = index_open(rel->rd_pkindex, AccessShareLock);
    for (; *count < key->rd_index->indnkeyatts; ++*count) columns[*count] = key->rd_index->indkey.values[*count];
    index_close(key, AccessShareLock);
}

// Inserts are prepared once in a session, and again when a name has changed.
SPIPlanPtr prepared(Oid table, const char* text, int count, Oid* types) {
    struct Prepared {
        Oid table;
        char* text;
        SPIPlanPtr plan;
    };
    static HTAB* all = nullptr;
    if (all == nullptr) {
        HASHCTL control{};
        control.keysize = sizeof(Oid);
        control.entrysize = sizeof(Prepared);
        all = hash_create("inserts into tables of deletions", 16, &control, HASH_ELEM | HASH_BLOBS);
    }
    auto* found = static_cast<Prepared*>(hash_search(all, &table, HASH_FIND, nullptr));
    bool same = found != nullptr && strcmp(found->text, text) == 0 && SPI_plan_is_valid(found->plan);
    for (int i = 0; same && i < count; i++) same = SPI_getargtypeid(found->plan, i) == types[i];
    if (same) return found->plan;
    const SPIPlanPtr plan = SPI_prepare(text, count, types);
    if (plan == nullptr || SPI_keepplan(plan) != 0) elog(ERROR, "could not prepare: %s", text);
    char* const kept = MemoryContextStrdup(TopMemoryContext, text);
    // The statement around this one may use the plan that was there, so nothing frees it.
    found = static_cast<Prepared*>(hash_search(all, &table, HASH_ENTER, nullptr));
    found->text = kept;
    found->plan = plan;
    return plan;
}

bool is_child(Relation rel) {
    return !rel->rd_rel->relispartition && list_length(relatives_above(RelationGetRelid(rel))) > 1;
}

// The key comes first in the table of deletions, then the stamp, which has a DEFAULT.
Deletions look_up(const TriggerData& t, Relation table) {
    const TupleDesc columns = RelationGetDescr(table);
    Deletions d{.insert = nullptr, .count = 0, .columns = {}};
    Oid types[INDEX_MAX_KEYS];
    StringInfoData names;
    StringInfoData values;
    initStringInfo(&names);
    initStringInfo(&values);
    bool has_stamp = false;
    // A child table may have another key than its parent, or none.
    int key[INDEX_MAX_KEYS];
    int key_count = 0;
    key_columns(t.tg_relation, key, &key_count);
    const bool own_key = key_count > 0 && !is_child(t.tg_relation);
    for (int i = 0; i < columns->natts; i++) {
        const FormData_pg_attribute& column = *TupleDescAttr(columns, i);
        const char* const name = NameStr(column.attname);
        if (column.attisdropped) continue;
        has_stamp = strcmp(name, "stamp") == 0;
        if (has_stamp || d.count == INDEX_MAX_KEYS) break;
        const int named = SPI_fnumber(RelationGetDescr(t.tg_relation), name);
        const int placed = d.count < key_count ? key[d.count] : 0;
        // A column that was renamed keeps its place.
        const int number = named > 0 ? named : placed;
        if (number == 0 || (own_key && number != placed) ||
            getBaseType(SPI_gettypeid(RelationGetDescr(t.tg_relation), number)) != column.atttypid) {
            fail(t, psprintf("Column \"%s\" of %s is none of the key, or has another type.", name,
                             full_name(RelationGetRelid(table))));
        }
        types[d.count] = column.atttypid;
        d.columns[d.count++] = number;
        appendStringInfo(&names, "%s%s", d.count > 1 ? ", " : "", quote_identifier(name));
        appendStringInfo(&values, "%s$%d", d.count > 1 ? ", " : "", d.count);
    }
    if (!has_stamp || d.count == 0 || (own_key && d.count != key_count))
        fail(t, psprintf("%s does not have the key and a stamp.", full_name(RelationGetRelid(table))));
    d.insert = prepared(
        RelationGetRelid(table),
        psprintf("INSERT INTO %s (%s) VALUES (%s)", full_name(RelationGetRelid(table)), names.data, values.data),
        d.count, types);
    return d;
}

// Inserts the key of the old row. If the table of deletions was altered or renamed since, the plan would look for its
// name again, which may be another one's now.
void note_key(Deletions& deletions, const TriggerData& t) {
    const Relation rel = t.tg_relation;
    const bool known = deletions.insert != nullptr && SPI_plan_is_valid(deletions.insert);
    const Relation table = known ? nullptr : open_deletions(t);
    const Caller caller = connect_as(rel->rd_rel->relowner, as_foreign_keys);
    if (!known) {
        deletions = look_up(t, table);
        table_close(table, NoLock);
    }
    Datum values[INDEX_MAX_KEYS];
    char nulls[INDEX_MAX_KEYS];
    for (int i = 0; i < deletions.count; i++) {
        bool null = true;
        values[i] = heap_getattr(t.tg_trigtuple, deletions.columns[i], RelationGetDescr(rel), &null);
        nulls[i] = null ? 'n' : ' ';
    }
    check_result(SPI_execute_plan(deletions.insert, values, nulls, false, 0));
    disconnect(caller);
}

// For statements with operators, which the caller's path may hide. Returns the level for AtEOXact_GUC().
int pin_search_path() {
    const int level = NewGUCNestLevel();
    (void) set_config_option("search_path", "pg_catalog, pg_temp", PGC_USERSET, PGC_S_SESSION, GUC_ACTION_SAVE, true, 0,
                             false);
    return level;
}

const TriggerData& trigger_data(FunctionCallInfo fcinfo, const char* function) {
    const auto* t = CALLED_AS_TRIGGER(fcinfo) ? reinterpret_cast<const TriggerData*>(fcinfo->context) : nullptr;
    if (t != nullptr && TRIGGER_FIRED_AFTER(t->tg_event) && !TRIGGER_FIRED_BY_INSERT(t->tg_event)) return *t;
    ereport(ERROR, (errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
                    errmsg("function \"%s\" is for triggers that create_feed() makes", function),
                    errhint("SELECT to_do FROM snowflake_ids.create_feed('my_table');")));
}

const char* first_column(Oid deletions) {
    for (AttrNumber i = 1;; i++)
        if (const char* const name = get_attname(deletions, i, true)) return quote_identifier(name);
}

// As the owner, who is the caller's role now. `again` null: all rows were truncated. The column of the key may have a
// DEFAULT.
void add_row_without_key(Oid deletions, const char* again) {
    Oid types[] = {TEXTOID};
    Datum values[] = {again == nullptr ? Datum{0} : CStringGetTextDatum(again)};
    const char* const nulls = again == nullptr ? "n" : " ";
    check_result(SPI_execute_with_args(
        psprintf("INSERT INTO %s (%s, again) VALUES (NULL, $1)", full_name(deletions), first_column(deletions)), 1,
        types, values, nulls, false, 0));
}

// True if this transaction has truncated the whole table before, so that readers get all rows of now anyway.
bool has_truncated(Oid deletions) {
    Oid types[] = {INT8OID};
    Datum values[] = {UInt64GetDatum(U64FromFullTransactionId(GetTopFullTransactionId()))};
    check_result(SPI_execute_with_args(psprintf("SELECT FROM %s WHERE stamp = $1 AND again IS NULL AND %s IS NULL",
                                                full_name(deletions), first_column(deletions)),
                                       1, types, values, nullptr, false, 1));
    return SPI_processed > 0;
}

// A part that is truncated alone, or a parent whose children may have been left out (ONLY).
void note_truncated(Relation rel, Oid deletions) {
    const Oid oid = RelationGetRelid(rel);
    const bool whole = !rel->rd_rel->relispartition && list_length(relatives_above(oid)) == 1 &&
                       (rel->rd_rel->relkind == RELKIND_PARTITIONED_TABLE || list_length(relatives_below(oid)) == 1);
    if (whole)
        add_row_without_key(deletions, nullptr);
    else if (!has_truncated(deletions))
        add_row_without_key(deletions,
                            psprintf("\"%s\", a part of the table, was truncated.", RelationGetRelationName(rel)));
}

// True if the bytes have changed: a copy may keep equal keys apart.
bool has_changed(const Deletions& key, const TriggerData& t) {
    const TupleDesc columns = RelationGetDescr(t.tg_relation);
    for (int i = 0; i < key.count; i++) {
        const FormData_pg_attribute& column = *TupleDescAttr(columns, key.columns[i] - 1);
        // It gets its value after the triggers.
        if (column.attgenerated != '\0') return true;
        bool was_null = false, is_null = false;
        const Datum was = heap_getattr(t.tg_trigtuple, key.columns[i], columns, &was_null);
        const Datum is = heap_getattr(t.tg_newtuple, key.columns[i], columns, &is_null);
        if (was_null != is_null || (!is_null && !datum_image_eq(was, is, column.attbyval, column.attlen))) return true;
    }
    return false;
}

}  // namespace

// ---- a key that changes

struct ChangedKeys {
    Deletions key;     // `insert` null: not looked up yet
    bool has_no_feed;  // with deletions
};

ChangedKeys* watch_keys(const TriggerData& t, MemoryContext context) {
    auto* const keys = static_cast<ChangedKeys*>(MemoryContextAllocZero(context, sizeof(ChangedKeys)));
    if (!is_child(t.tg_relation)) {
        key_columns(t.tg_relation, keys->key.columns, &keys->key.count);
    } else if (OidIsValid(deletions_of_part(RelationGetRelid(t.tg_relation)))) {
        const Relation table = open_deletions(t);
        const Caller caller = connect_as(t.tg_relation->rd_rel->relowner, as_foreign_keys);
        keys->key = look_up(t, table);
        disconnect(caller);
        table_close(table, NoLock);
    }
    return keys;
}

void note_changed_key(ChangedKeys* keys, const TriggerData& t) {
    if (keys->has_no_feed || !has_changed(keys->key, t)) return;
    keys->has_no_feed = keys->key.insert == nullptr && !OidIsValid(deletions_of_part(RelationGetRelid(t.tg_relation)));
    if (!keys->has_no_feed) note_key(keys->key, t);
}

}  // namespace snowflake_ids::feed

namespace snowflake_ids {

// AFTER DELETE, AFTER TRUNCATE.
FUNCTION(snowflake_ids_note_deleted) {
    using namespace feed;
    const TriggerData& t = trigger_data(fcinfo, "note_deleted");
    const Relation rel = t.tg_relation;
    if (TRIGGER_FIRED_BY_TRUNCATE(t.tg_event)) {
        const Relation table = open_deletions(t);
        const Caller caller = connect_as(rel->rd_rel->relowner, as_foreign_keys);
        const int settings = pin_search_path();
        note_truncated(rel, RelationGetRelid(table));
        AtEOXact_GUC(false, settings);
        table_close(table, NoLock);
        disconnect(caller);
        will_write(RelationGetRelid(rel));
        return Datum{0};
    }
    auto*& deletions = reinterpret_cast<Deletions*&>(fcinfo->flinfo->fn_extra);
    if (deletions == nullptr) {
        deletions = static_cast<Deletions*>(MemoryContextAllocZero(fcinfo->flinfo->fn_mcxt, sizeof(Deletions)));
        will_write(RelationGetRelid(rel));
    }
    note_key(*deletions, t);
    return Datum{0};
}

// AFTER DELETE OR UPDATE OR TRUNCATE on the table of deletions, FOR EACH STATEMENT: somebody removes deletions that
// readers may not have read.
FUNCTION(snowflake_ids_note_lost) {
    using namespace feed;
    const TriggerData& t = trigger_data(fcinfo, "note_lost");
    if (forgets == RelationGetRelid(t.tg_relation)) return Datum{0};
    const Caller caller = connect_as(t.tg_relation->rd_rel->relowner, as_foreign_keys);
    add_row_without_key(RelationGetRelid(t.tg_relation), psprintf("Rows of \"%s\" were removed or changed by hand.",
                                                                  RelationGetRelationName(t.tg_relation)));
    disconnect(caller);
    return Datum{0};
}

namespace {

// For who has the rights of the table's owner. Locks the table against being dropped, and raises an error if its feed
// has no deletions.
Oid own_deletions(Oid table) {
    (void) owner_of(table);
    LockRelationOid(table, AccessShareLock);
    const Oid deletions = feed::deletions_of(table);
    if (OidIsValid(deletions)) return deletions;
    ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                    errmsg("the feed of \"%s\" has no deletions", get_rel_name(table)),
                    errhint("SELECT to_do FROM snowflake_ids.create_feed(%s, deletes => true);",
                            quote_literal_cstr(full_name(table)))));
}

// Runs `statements` as the owner of the table, and lends the caller's rights to no trigger of the owner.
template <class Statements>
void as_owner(Oid table, Statements statements) {
    const Oid owner = owner_of(table);
    feed::will_write(table);
    const int settings = feed::pin_search_path();
    const Caller caller = connect_as(owner, SECURITY_RESTRICTED_OPERATION | SECURITY_NOFORCE_RLS);
    statements();
    disconnect(caller);
    AtEOXact_GUC(false, settings);
}

// Returns the number of rows. $1 is a bigint, $2 a text, $3 an array of bigint.
int64 execute(const char* statement, int64 number, Datum position = Datum{0}, Datum open = Datum{0}) {
    Oid types[] = {INT8OID, TEXTOID, INT8ARRAYOID};
    Datum values[] = {Int64GetDatum(number), position, open};
    const char nulls[] = {' ', position == Datum{0} ? 'n' : ' ', open == Datum{0} ? 'n' : ' ', '\0'};
    feed::check_result(SPI_execute_with_args(statement, 3, types, values, nulls, false, 0));
    return static_cast<int64>(SPI_processed);
}

// Deletes what the newest noted position up to `until` has seen, and older positions. That one moves to -1. Returns the
// number of deletions.
int64 forget_seen_before(const char* d, int64 until) {
    if (execute(psprintf("SELECT stamp, again FROM %s WHERE stamp < -1 AND stamp >= -$1 ORDER BY stamp LIMIT 1", d),
                until) == 0)
        return 0;
    bool null = false;
    const TupleDesc columns = SPI_tuptable->tupdesc;
    const HeapTuple row = SPI_tuptable->vals[0];
    const int64 stamp = DatumGetInt64(SPI_getbinval(row, columns, 1, &null));
    const Datum position = SPI_getbinval(row, columns, 2, &null);
    const Unseen unseen = feed::unseen_by_noted(null ? "" : TextDatumGetCString(position));
    const int64 forgotten = execute(psprintf("DELETE FROM %s WHERE stamp >= 0 AND stamp < $1 AND stamp <> ALL ($3)", d),
                                    static_cast<int64>(unseen.from), Datum{0}, feed::array_of(unseen));
    (void) execute(psprintf("DELETE FROM %s WHERE stamp < 0 AND stamp > $1", d), stamp);
    (void) execute(psprintf("UPDATE %s SET stamp = -1 WHERE stamp = $1", d), stamp);
    return forgotten;
}

}  // namespace

// forget_deleted(of_table, keep)
FUNCTION(snowflake_ids_forget_deleted) {
    using namespace feed;
    const Oid table = PG_GETARG_OID(0);
    const TimestampTz now = GetCurrentTimestamp();
    const TimestampTz until =
        DatumGetTimestampTz(DirectFunctionCall2(timestamptz_mi_interval, TimestampTzGetDatum(now), PG_GETARG_DATUM(1)));
    const Oid deletions = own_deletions(table);
    const Datum position = PointerGetDatum(make_position(table, stamp_column(table), 0, active_snapshot()));
    const char* const d = full_name(deletions);
    int64 forgotten = 0;
    forgets = deletions;
    PG_TRY();
    {
        as_owner(table, [&] {
            check_result(SPI_execute(psprintf("LOCK TABLE %s IN SHARE UPDATE EXCLUSIVE MODE", d), false, 0));
            (void) execute(
                psprintf("INSERT INTO %s (%s, stamp, again) VALUES (NULL, -$1, $2)", d, first_column(deletions)),
                number_of(unix_time(now)), position);
            forgotten = forget_seen_before(d, number_of(unix_time(until)));
        });
    }
    PG_FINALLY();
    { forgets = InvalidOid; }
    PG_END_TRY();
    PG_RETURN_INT64(forgotten);
}

// note_missed(of_table, reason): readers copy the table again.
FUNCTION(snowflake_ids_note_missed) {
    const Oid table = PG_GETARG_OID(0);
    const char* const reason = text_to_cstring(PG_GETARG_TEXT_PP(1));
    const Oid deletions = own_deletions(table);
    as_owner(table, [&] { feed::add_row_without_key(deletions, reason); });
    PG_RETURN_VOID();
}

}  // namespace snowflake_ids
