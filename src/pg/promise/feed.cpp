// The trigger function note_deleted() writes the keys of deleted rows into the table of deletions of a feed
// (src/sql/57-feed.sql). It notes the table itself for readers, so one settled id covers its rows and its deletions.
//
// A role that may delete need not be able to write there. So the row is inserted as the owner of the table, as foreign
// keys do it, and only into a table of the same owner.
#include "pg/as_owner.hpp"
#include "pg/pg.hpp"

extern "C" {
#include "access/genam.h"
#include "access/table.h"
#include "catalog/namespace.h"
#include "commands/trigger.h"
#include "storage/lmgr.h"
#include "utils/guc.h"
#include "utils/hsearch.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/relcache.h"
#include "utils/varlena.h"
}

#include "pg/server/relatives.hpp"
#include "pg/promise/writer.hpp"

namespace snowflake_ids {

namespace {

void check_result(int result) {
    if (result < 0) elog(ERROR, "a statement of a feed returned %s", SPI_result_code_string(result));
}

// ---- deletions

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

Relation open_deletions(const TriggerData& t) {
    const Trigger& trigger = *t.tg_trigger;
    const char* const name = trigger.tgnargs == 1 ? trigger.tgargs[0] : "";
    List* const names = textToQualifiedNameList(cstring_to_text(name[0] == '\0' ? "nothing" : name));
    const Oid found = RangeVarGetRelid(makeRangeVarFromNameList(names), RowExclusiveLock, true);
    if (!OidIsValid(found)) fail(t, psprintf("There is no table \"%s\". It was renamed or dropped.", name));
    const Relation table = table_open(found, NoLock);
    const Oid owner = table->rd_rel->relowner;
    if (table->rd_rel->relkind != RELKIND_RELATION) fail(t, psprintf("%s is not a table.", name));
    if (owner != t.tg_relation->rd_rel->relowner)
        fail(t, psprintf("Table %s belongs to %s.", name, GetUserNameFromId(owner, false)));
    // Who has the privilege TRIGGER can create a trigger as this one, but only the owner can enable it ALWAYS.
    if (trigger.tgenabled != TRIGGER_FIRES_ALWAYS && !has_privs_of_role(GetUserId(), owner))
        fail(t, psprintf("Trigger \"%s\" is not enabled ALWAYS.", trigger.tgname));
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

const TriggerData& trigger_data(FunctionCallInfo fcinfo) {
    const auto* t = CALLED_AS_TRIGGER(fcinfo) ? reinterpret_cast<const TriggerData*>(fcinfo->context) : nullptr;
    if (t != nullptr && TRIGGER_FIRED_AFTER(t->tg_event) &&
        (TRIGGER_FIRED_FOR_ROW(t->tg_event) ? !TRIGGER_FIRED_BY_INSERT(t->tg_event)
                                            : TRIGGER_FIRED_BY_TRUNCATE(t->tg_event)))
        return *t;
    ereport(ERROR, (errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
                    errmsg("function \"note_deleted\" is for triggers that create_feed() makes"),
                    errhint("SELECT * FROM snowflake_ids.create_feed('my_table', deletes => true);")));
}

}  // namespace

// AFTER DELETE, AFTER UPDATE of the key, AFTER TRUNCATE, which is one row without a key.
FUNCTION(snowflake_ids_note_deleted) {
    const TriggerData& t = trigger_data(fcinfo);
    const Relation rel = t.tg_relation;
    FmgrInfo& info = *fcinfo->flinfo;
    const Relation table = info.fn_extra == nullptr ? open_deletions(t) : nullptr;
    const Caller caller = connect_as(rel->rd_rel->relowner, as_foreign_keys);
    if (table != nullptr) {
        auto* const found = static_cast<Deletions*>(MemoryContextAlloc(info.fn_mcxt, sizeof(Deletions)));
        *found = look_up(t, table);
        table_close(table, NoLock);
        writer::will_write(RelationGetRelid(rel));
        info.fn_extra = found;
    }
    const auto& deletions = *static_cast<const Deletions*>(info.fn_extra);
    Datum values[INDEX_MAX_KEYS];
    char nulls[INDEX_MAX_KEYS];
    for (int i = 0; i < deletions.count; i++) {
        bool null = true;
        values[i] = TRIGGER_FIRED_FOR_ROW(t.tg_event)
                        ? heap_getattr(t.tg_trigtuple, deletions.columns[i], RelationGetDescr(rel), &null)
                        : Datum{0};
        nulls[i] = null ? 'n' : ' ';
    }
    check_result(SPI_execute_plan(deletions.insert, values, nulls, false, 0));
    disconnect(caller);
    return Datum{0};
}

// feed_as_owner(of_table, statement) runs a statement on objects of the table's owner without lending the caller's
// rights to their triggers, and notes the table, so that readers wait for the transaction.
FUNCTION(snowflake_ids_feed_as_owner) {
    const Oid table = PG_GETARG_OID(0);
    char* const statement = text_to_cstring(PG_GETARG_TEXT_PP(1));
    LockRelationOid(table, AccessShareLock);
    const Oid owner = owner_of(table);
    writer::will_write(table);
    const int settings = NewGUCNestLevel();
    const Caller caller = connect_as(owner, SECURITY_RESTRICTED_OPERATION | SECURITY_NOFORCE_RLS);
    check_result(SPI_execute(statement, false, 0));
    const auto rows = static_cast<int64>(SPI_processed);
    disconnect(caller);
    AtEOXact_GUC(false, settings);
    PG_RETURN_INT64(rows);
}

}  // namespace snowflake_ids
