// Checks each relation whose rows a reader of the table reads. A table that has passed is not checked again until one
// of its relations has changed.
#include "pg/settled/stamped_table.hpp"

#include <algorithm>

extern "C" {
#include "access/genam.h"
#include "access/htup_details.h"
#include "access/relation.h"
#include "access/table.h"
#include "access/xact.h"
#include "catalog/namespace.h"
#include "catalog/pg_class.h"
#include "catalog/pg_language.h"
#include "catalog/pg_namespace.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_trigger.h"
#include "commands/trigger.h"
#include "nodes/pg_list.h"
#include "nodes/value.h"
#include "utils/fmgroids.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"
}

#include "pg/server/relatives.hpp"
#include "pg/settled/stamp.hpp"

namespace snowflake_ids {

namespace {

void check_is_table(Oid table) {
    const char kind = get_rel_relkind(table);
    if (kind == '\0') fail_no_table(table);
    if (kind != RELKIND_RELATION && kind != RELKIND_PARTITIONED_TABLE) {
        ereport(ERROR, (errcode(ERRCODE_WRONG_OBJECT_TYPE), errmsg("\"%s\" is not a table", get_rel_name(table)),
                        errhint("Name the table into which the rows are inserted.")));
    }
    if (isOtherTempNamespace(get_rel_namespace(table))) {
        ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                        errmsg("\"%s\" is a temporary table of another session", get_rel_name(table)),
                        errhint("Only that session can read it. Call the function in that session.")));
    }
}

// True if the rows are in other tables, also of other servers: those that are in the catalog of Citus.
bool is_of_citus(Oid relation) {
    const Oid catalog = get_relname_relid("pg_dist_partition", PG_CATALOG_NAMESPACE);
    if (!OidIsValid(catalog)) return false;
    constexpr AttrNumber logicalrelid = 1;
    const Relation rows = table_open(catalog, AccessShareLock);
    ScanKeyData key;
    ScanKeyInit(&key, logicalrelid, BTEqualStrategyNumber, F_OIDEQ, ObjectIdGetDatum(relation));
    SysScanDesc scan = systable_beginscan(rows, InvalidOid, false, nullptr, 1, &key);
    const bool found = HeapTupleIsValid(systable_getnext(scan));
    systable_endscan(scan);
    table_close(rows, AccessShareLock);
    return found;
}

// ---- the trigger

constexpr const Stamp* stamps[] = {&sno_stamp, &mastic_stamp, &snowflake_si_stamp, &snowflake_stamp};

bool is_of(const Stamp& s, StampFormat format) {
    return format.ids == ledger::SqlFormat::none || s.format == format.ids;
}

// Of a function in C, otherwise empty. Only superusers can create functions in C, so it tells ours from others.
const char* symbol_of(Oid function) {
    const HeapTuple tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(function));
    if (!HeapTupleIsValid(tuple)) return "";
    const char* symbol = "";
    if (reinterpret_cast<Form_pg_proc>(GETSTRUCT(tuple))->prolang == ClanguageId) {
        bool null = false;
        symbol = TextDatumGetCString(SysCacheGetAttr(PROCOID, tuple, Anum_pg_proc_prosrc, &null));
    }
    ReleaseSysCache(tuple);
    return symbol;
}

// Null if it is another function.
const Stamp* stamp_of(const char* symbol) {
    for (const Stamp* s : stamps)
        if (strcmp(symbol, psprintf("snowflake_ids_%s", s->function)) == 0) return s;
    return nullptr;
}

struct StampTrigger {
    const Stamp* stamp;
    const Trigger* trigger;

    // "" if it has no arguments.
    const char* column() const { return trigger->tgnargs == 0 ? "" : trigger->tgargs[trigger->tgnargs - 1]; }
    // "" except with snowflake_stamp().
    const char* layout() const { return trigger->tgnargs == 2 ? trigger->tgargs[0] : ""; }
    bool same_format(const StampTrigger& t) const { return stamp == t.stamp && strcmp(layout(), t.layout()) == 0; }
    bool serves(StampFormat format) const {
        return is_of(*stamp, format) && (format.layout == nullptr || strcmp(layout(), format.layout) == 0);
    }
};

struct Problem {
    const char* detail = nullptr;  // null: nothing
    const char* hint = nullptr;
};

[[noreturn]] void fail(Oid table, const Problem& problem) {
    ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                    errmsg("a reader of \"%s\" could miss rows", get_rel_name(table)),
                    errdetail_internal("%s", problem.detail), errhint("%s", problem.hint)));
}

// What keeps the trigger from stamping each row of `relation`. If it is not ALWAYS, rows of a subscription and of a
// session with session_replication_role come past it, and it may have been disabled.
Problem weakness(const StampTrigger& s, Oid table, Oid relation, StampFormat format) {
    const Trigger& t = *s.trigger;
    const char* const why = !TRIGGER_FOR_BEFORE(t.tgtype) || !TRIGGER_FOR_ROW(t.tgtype) ||
                                    !TRIGGER_FOR_INSERT(t.tgtype) || !TRIGGER_FOR_UPDATE(t.tgtype)
                                ? "is not BEFORE INSERT OR UPDATE, FOR EACH ROW"
                            : t.tgnattr != 0      ? "has a list of columns"
                            : t.tgqual != nullptr ? "has a WHEN condition"
                                                  : nullptr;
    if (why != nullptr)
        return {psprintf("Trigger \"%s\" of \"%s\" %s.", t.tgname, get_rel_name(relation), why),
                create_feed_command(table, *s.stamp, format)};
    if (t.tgenabled == TRIGGER_FIRES_ALWAYS) return {};
    const char* const column = quote_identifier(s.column());
    return {
        psprintf("Trigger \"%s\" of \"%s\" is not enabled ALWAYS.", t.tgname, get_rel_name(relation)),
        psprintf(
            "ALTER TABLE %s ENABLE ALWAYS TRIGGER %s; UPDATE ONLY %s SET %s = %s; -- This stamps the rows that came without it.",
            full_name(relation), quote_identifier(t.tgname), full_name(relation), column, column)};
}

const char* joined(const List* names) {
    const char* all = "";
    const ListCell* cell;
    foreach (cell, names) all = psprintf("%s%s\"%s\"", all, *all == '\0' ? "" : ", ", strVal(lfirst(cell)));
    return all;
}

// Raises an error unless a trigger stamps each row that is inserted into `relation` or updated, and those that note
// deletions for a feed (promise/feed.cpp) always fire. Returns the columns that are stamped; NIL: it has no rows of its
// own.
List* check_relation(Oid table, Relation relation, const TriggerDesc* triggers, StampFormat format) {
    const Stamp& wanted = **std::ranges::find_if(stamps, [=](const Stamp* s) { return is_of(*s, format); });
    const Oid oid = RelationGetRelid(relation);
    const char* const name = RelationGetRelationName(relation);
    if (is_of_citus(oid)) {
        fail(table, {psprintf("Citus keeps the rows of \"%s\" in other tables.", name),
                     "Keep a table that is polled on one node, outside Citus."});
    }
    const bool has_rows = relation->rd_rel->relkind != RELKIND_PARTITIONED_TABLE;
    if (relation->rd_rel->relkind == RELKIND_FOREIGN_TABLE) {
        fail(table, {psprintf("Rows come into \"%s\" on another server: it is a foreign table.", name),
                     "Read its other partitions or children one by one."});
    }
    Problem problem{psprintf("\"%s\" has no trigger that calls %s()%s.", name, wanted.function,
                             format.layout == nullptr ? "" : psprintf(" with the layout \"%s\"", format.layout)),
                    psprintf("%s Or call the function without a table.", create_feed_command(table, wanted, format))};
    Problem other;  // with the triggers that stamp there is none
    const int count = triggers == nullptr ? 0 : triggers->numtriggers;
    auto* const firing = static_cast<StampTrigger*>(palloc0(static_cast<Size>(count) * sizeof(StampTrigger)));
    List* columns = NIL;  // of the triggers that stamp each row with ids of the format
    // In the order in which they fire.
    for (int i = 0; i < count; i++) {
        const Trigger& t = triggers->triggers[i];
        const bool enabled = t.tgenabled != TRIGGER_DISABLED;
        const char* const symbol = t.tgisinternal ? "" : symbol_of(t.tgfoid);
        if (strcmp(symbol, "snowflake_ids_note_deleted") == 0 && t.tgenabled != TRIGGER_FIRES_ALWAYS) {
            other = {
                psprintf("Trigger \"%s\" of \"%s\" is not enabled ALWAYS.", t.tgname, name),
                psprintf(
                    "Type what SELECT to_do FROM snowflake_ids.check_feed(%s) WHERE NOT ok; says. Then readers copy the table again.",
                    quote_literal_cstr(full_name(table)))};
        }
        if (!has_rows) continue;
        const StampTrigger own{stamp_of(symbol), &t};
        if (own.stamp != nullptr) {
            for (int j = 0; enabled && j < i; j++) {
                const StampTrigger& o = firing[j];
                if (o.stamp != nullptr && strcmp(o.column(), own.column()) == 0 && !o.same_format(own))
                    other = {psprintf("Triggers \"%s\" and \"%s\" of \"%s\" stamp column \"%s\" in two formats.",
                                      o.trigger->tgname, t.tgname, name, own.column()),
                             "Drop one of the two triggers, and stamp the rows again."};
            }
            if (enabled) firing[i] = own;
            if (!own.serves(format)) continue;
            const Problem weak = weakness(own, table, oid, format);
            if (weak.detail == nullptr)
                columns = list_append_unique(columns, makeString(const_cast<char*>(own.column())));
            if (problem.detail != nullptr) problem = weak;
        } else if (problem.detail == nullptr && enabled && TRIGGER_FOR_BEFORE(t.tgtype) && TRIGGER_FOR_ROW(t.tgtype) &&
                   (t.tgtype & (TRIGGER_TYPE_INSERT | TRIGGER_TYPE_UPDATE)) != 0) {
            problem = {
                psprintf("Trigger \"%s\" of \"%s\" fires after the stamp, and may change it.", t.tgname, name),
                psprintf(
                    "Triggers fire in the order of their names. ALTER TRIGGER %s ON %s RENAME TO a name before that of the stamp.",
                    quote_identifier(t.tgname), full_name(oid))};
        }
    }
    if (!has_rows || problem.detail == nullptr) problem = other;
    if (problem.detail != nullptr) fail(table, problem);
    list_sort(columns,
              [](const ListCell* a, const ListCell* b) { return strcmp(strVal(lfirst(a)), strVal(lfirst(b))); });
    return columns;
}

// ---- what is kept

struct Kept {
    Oid table;  // InvalidOid: none
    StampFormat format;
    Oid* relations;  // in order; in TopMemoryContext
    int count;
    TransactionId changed_by;  // as in TableParts
};
constexpr int most_kept = 16;
constinit Kept kept[most_kept]{};
constinit int next_kept = 0;
constinit uint64 changes = 0;
constinit bool watches = false;

void forget_if_of(Datum, Oid relation) {
    changes++;
    for (Kept& k : kept)
        if (!OidIsValid(relation) || std::binary_search(k.relations, k.relations + k.count, relation))
            k.table = InvalidOid;
}

// The transaction that has written the relation's row in pg_class; FrozenTransactionId if it is long over.
TransactionId changed_by(Oid relation, Oid* file = nullptr) {
    const HeapTuple tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(relation));
    if (!HeapTupleIsValid(tuple)) return FrozenTransactionId;  // dropped
    const TransactionId xid = HeapTupleHeaderGetXmin(tuple->t_data);
    if (file != nullptr) *file = reinterpret_cast<Form_pg_class>(GETSTRUCT(tuple))->relfilenode;
    ReleaseSysCache(tuple);
    return xid;
}

}  // namespace

const char* create_feed_command(Oid table, const Stamp& s, StampFormat format) {
    const char* const ids =
        format.layout != nullptr ? format.layout : pnstrdup(s.function, strlen(s.function) - strlen("_stamp"));
    return psprintf("SELECT to_do FROM snowflake_ids.create_feed(%s%s);", quote_literal_cstr(full_name(table)),
                    format.ids == ledger::SqlFormat::none ? "" : psprintf(", format => %s", quote_literal_cstr(ids)));
}

void fail_no_table(Oid table) {
    ereport(ERROR, (errcode(ERRCODE_UNDEFINED_TABLE), errmsg("relation with OID %u does not exist", table),
                    errhint("Name the table into which the rows are inserted.")));
}

TableParts check_stamped(Oid table, StampFormat format) {
    if (!watches) {
        CacheRegisterRelcacheCallback(forget_if_of, Datum{0});
        watches = true;
    }
    // Now the caches of this backend know what was committed before the promise was lifted.
    AcceptInvalidationMessages();
    for (const Kept& k : kept)
        if (k.table == table && k.format == format) return {k.relations, k.count, k.changed_by, true};
    const uint64 before = changes;
    check_is_table(table);
    List* found = relatives_below(table);
    const ListCell* cell;
    List* columns = NIL;
    const char* of = nullptr;
    foreach (cell, found) {
        const Relation relation = try_relation_open(lfirst_oid(cell), AccessShareLock);
        if (relation == nullptr) continue;  // dropped
        const TriggerDesc* const triggers = CopyTriggerDesc(relation->trigdesc);
        List* const own = check_relation(table, relation, triggers, format);
        if (columns != NIL && own != NIL && !equal(own, columns)) {
            fail(table, {psprintf("Stamps are in column %s of \"%s\", and in %s of \"%s\".", joined(columns), of,
                                  joined(own), RelationGetRelationName(relation)),
                         "Stamp the same column of all of them, and stamp the rows again."});
        }
        if (own != NIL) {
            columns = own;
            of = pstrdup(RelationGetRelationName(relation));
        }
        relation_close(relation, AccessShareLock);
    }
    TransactionId latest = FrozenTransactionId;
    foreach (cell, found) {
        const TransactionId xid = changed_by(lfirst_oid(cell));
        if (TransactionIdFollows(xid, latest)) latest = xid;
    }
    list_sort(found, list_oid_cmp);
    const int count = list_length(found);
    const bool keep = changes == before;
    auto* const oids = static_cast<Oid*>(
        MemoryContextAlloc(keep ? TopMemoryContext : CurrentMemoryContext, static_cast<Size>(count) * sizeof(Oid)));
    for (int i = 0; i < count; i++) oids[i] = list_nth_oid(found, i);
    // A relation that has changed since may have been looked at before that. So the next call looks again.
    if (!keep) return {oids, count, InvalidTransactionId, false};
    Kept& k = kept[next_kept];
    next_kept = (next_kept + 1) % most_kept;
    if (k.relations != nullptr) pfree(k.relations);
    k = {table, format, oids, count, latest};
    return {oids, count, latest, false};
}

namespace {

bool was_rewritten(Oid relation, Snapshot snapshot) {
    Oid file = InvalidOid;
    const TransactionId xid = changed_by(relation, &file);
    if (!TransactionIdIsNormal(xid) || TransactionIdIsCurrentTransactionId(xid) || !XidInMVCCSnapshot(xid, snapshot))
        return false;
    const Relation classes = table_open(RelationRelationId, AccessShareLock);
    ScanKeyData key;
    ScanKeyInit(&key, Anum_pg_class_oid, BTEqualStrategyNumber, F_OIDEQ, ObjectIdGetDatum(relation));
    SysScanDesc scan = systable_beginscan(classes, ClassOidIndexId, true, snapshot, 1, &key);
    const HeapTuple then = systable_getnext(scan);
    const bool rewritten =
        HeapTupleIsValid(then) && reinterpret_cast<Form_pg_class>(GETSTRUCT(then))->relfilenode != file;
    systable_endscan(scan);
    table_close(classes, AccessShareLock);
    return rewritten;
}

}  // namespace

bool were_rewritten(const TableParts& parts, Snapshot snapshot) {
    if (TransactionIdIsValid(parts.changed_by) && TransactionIdPrecedes(parts.changed_by, snapshot->xmin)) return false;
    return std::any_of(parts.oids, parts.oids + parts.count,
                       [=](Oid relation) { return was_rewritten(relation, snapshot); });
}

}  // namespace snowflake_ids
