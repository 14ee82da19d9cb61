// Looks at each relation that a poll reads.
//
// A plan may be older than the snapshot, and ATTACH is visible before other processes are told of it. Then a poll shows
// rows that have left one part, but not the part into which they went. So the parts in the plan must be those of
// pg_inherits in the snapshot.
#include "pg/feed/parts.hpp"

extern "C" {
#include "access/genam.h"
#include "access/htup_details.h"
#include "access/relation.h"
#include "access/table.h"
#include "access/xact.h"
#include "catalog/namespace.h"
#include "catalog/pg_class.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_trigger.h"
#include "executor/spi.h"
#include "nodes/pathnodes.h"
#include "nodes/plannodes.h"
#include "parser/parsetree.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/rls.h"
#include "utils/syscache.h"
}

#include "pg/feed/deletions.hpp"
#include "pg/feed/errors.hpp"
#include "pg/feed/snapshot.hpp"
#include "pg/feed/triggers.hpp"
#include "pg/server/table_ancestors.hpp"

namespace snowflake_ids::feed {

namespace {

// Fails if the relation was rewritten, truncated or attached after the snapshot. These write a new version of its row
// in pg_class; VACUUM, ANALYZE and CREATE INDEX change the row in place. Returns the transaction that wrote the row
// last.
TransactionId check_unchanged(Oid table, Oid relation, Snapshot snapshot) {
    const HeapTuple tuple = SearchSysCacheCopy1(RELOID, ObjectIdGetDatum(relation));
    if (!HeapTupleIsValid(tuple)) return InvalidTransactionId;
    if (is_newer(tuple, snapshot))
        fail_again(table, psprintf("\"%s\" was changed after the snapshot was taken.", get_rel_name(relation)));
    return HeapTupleHeaderGetXmin(tuple->t_data);
}

// True if the reader has not seen the last change of the row in pg_class, and the file is not that of CREATE TABLE.
bool may_have_new_file(const Relation relation, TransactionId changed_by, const Since& since) {
    const FullXids full{next_xid()};
    return !since.whole && !since.upgraded && relation->rd_rel->relfilenode != RelationGetRelid(relation) &&
           TransactionIdIsNormal(changed_by) && since.unseen.has(full(changed_by));
}

// True if the relation itself has a row that the reader counts as read.
bool has_read_row(Relation relation, int column, const Unseen& unseen, Snapshot snapshot) {
    bool found = false;
    SysScanDesc scan = systable_beginscan(relation, InvalidOid, false, snapshot, 0, nullptr);
    for (HeapTuple row; !found && HeapTupleIsValid(row = systable_getnext(scan));) {
        bool null = false;
        const Datum stamp = heap_getattr(row, column, RelationGetDescr(relation), &null);
        found = null || !unseen.has(DatumGetUInt64(stamp));
        CHECK_FOR_INTERRUPTS();
    }
    systable_endscan(scan);
    return found;
}

void check_relation(Oid table, const Relation relation) {
    const char* const name = RelationGetRelationName(relation);
    const FormData_pg_class& row = *relation->rd_rel;
    if (row.relkind == RELKIND_FOREIGN_TABLE) {
        fail_mend(table, psprintf("Rows come into \"%s\" on another server: it is a foreign table.", name),
                  "Make a feed there, or read the other partitions one by one.");
    }
    if (row.relpersistence != RELPERSISTENCE_PERMANENT)
        fail_unsound(table, psprintf("A crash empties \"%s\", which is not in the WAL.", name));
    if (check_enable_rls(RelationGetRelid(relation), InvalidOid, true) == RLS_ENABLED) {
        fail_mend(
            table,
            psprintf("Row security hides rows of \"%s\" from this role, also those that leave its policies.", name),
            "Poll as a role with BYPASSRLS or, without FORCE ROW LEVEL SECURITY, as the owner.");
    }
}

// A child by INHERITS can have a feed of its own, or another parent with one. Its deletions go to one table.
void check_deletions(Oid table, Oid part, Oid deletions) {
    const Oid noted = deletions_of_part(part);
    if (noted == deletions || !OidIsValid(noted)) return;
    fail_mend(
        table, psprintf("What is deleted from \"%s\" is noted for another feed.", get_rel_name(part)),
        psprintf("DROP TABLE %s CASCADE; SELECT snowflake_ids.note_missed(%s, 'Deletions went to another feed.');",
                 name_for_messages(noted), quote_literal_cstr(name_for_messages(table))));
}

// A position made during a transaction with many subtransactions does not list them all.
bool may_be_unseen(const Since& since, uint64 xid) {
    const Unseen& unseen = since.unseen;
    return unseen.has(xid) || (since.position.lacks_subxids != 0 && unseen.count > 0 && xid > unseen.open[0]);
}

// True if the plan reads the table, so that it is locked. PlannedStmt::relationOids would not do: it also has
// constants of type regclass.
bool reads(const PlannedStmt& plan, Oid table) {
    const ListCell* cell;
    foreach (cell, plan.rtable) {
        const auto* const entry = static_cast<const RangeTblEntry*>(lfirst(cell));
        if (entry->rtekind == RTE_RELATION && entry->relid == table) return true;
    }
    return false;
}

// The table and its parts, as the plan reads them. In the plan's list, a part comes after its parent. None is pruned,
// because a caller's conditions do not pass the `OFFSET 0` of the feed's function.
List* planned_tables(const PlannedStmt& plan, Oid table) {
    List* parts = list_make1_oid(table);
    const ListCell* cell;
    foreach (cell, plan.appendRelations) {
        const auto* const child = static_cast<const AppendRelInfo*>(lfirst(cell));
        const RangeTblEntry* const entry = rt_fetch(child->child_relid, plan.rtable);
        if (entry->rtekind == RTE_RELATION && list_member_oid(parts, child->parent_reloid))
            parts = list_append_unique_oid(parts, entry->relid);
    }
    return parts;
}

constexpr const char* parts_differ = "Its parts were others when the poll was planned.";

// Adds the parts of `of` that the snapshot shows, each once. The plan may lack a partition that is being detached, and
// never has a temporary table of another session. `added` gets the parts that are new to this reader.
void add_direct_parts(List*& parts, List*& added, Oid of, const List* planned, Oid table, const Since& since,
                      Snapshot snapshot) {
    const FullXids full{next_xid()};
    const Relation inherits = table_open(InheritsRelationId, AccessShareLock);
    ScanKeyData key;
    ScanKeyInit(&key, Anum_pg_inherits_inhparent, BTEqualStrategyNumber, F_OIDEQ, ObjectIdGetDatum(of));
    SysScanDesc scan = systable_beginscan(inherits, InheritsParentIndexId, true, snapshot, 1, &key);
    for (HeapTuple tuple; HeapTupleIsValid(tuple = systable_getnext(scan));) {
        const auto* row = reinterpret_cast<Form_pg_inherits>(GETSTRUCT(tuple));
        if (!list_member_oid(planned, row->inhrelid)) {
            if (row->inhdetachpending || isOtherTempNamespace(get_rel_namespace(row->inhrelid))) continue;
            fail_again(table, parts_differ);
        }
        // The raw xmin is kept if the row is frozen.
        const TransactionId xid = HeapTupleHeaderGetRawXmin(tuple->t_data);
        const bool is_new =
            TransactionIdIsNormal(xid) && !since.whole && !since.upgraded && may_be_unseen(since, full(xid));
        if (is_new || list_member_oid(added, of)) added = lappend_oid(added, row->inhrelid);
        parts = list_append_unique_oid(parts, row->inhrelid);
    }
    systable_endscan(scan);
    table_close(inherits, AccessShareLock);
}

}  // namespace

void check_parts(Oid table, Oid deletions, const Since& since, Snapshot snapshot, const PlannedStmt* plan) {
    const bool deletes = OidIsValid(deletions);
    if (plan == nullptr || !reads(*plan, table) || (deletes && !reads(*plan, deletions))) {
        ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                        errmsg("feed_begin() is for the functions that create_feed() makes"),
                        errdetail("The statement does not read the table with OID %u.", table)));
    }
    const Functions f{feed_function("feed_stamp"), feed_function("note_deleted"), feed_function("note_lost")};
    const char* const column = get_attname(table, static_cast<AttrNumber>(stamp_column(table)), false);
    const List* const planned = planned_tables(*plan, table);
    List *parts = list_make1_oid(table), *added = NIL;
    for (int i = 0; i < list_length(parts); i++) {
        const Oid part = list_nth_oid(parts, i);
        const bool is_new = list_member_oid(added, part);
        const TransactionId changed_by = check_unchanged(table, part, snapshot);
        const Relation relation = relation_open(part, NoLock);
        const char* const name = RelationGetRelationName(relation);
        check_relation(table, relation);
        check_triggers(table, relation, f, column, deletes);
        if (deletes && i > 0 && !relation->rd_rel->relispartition) check_deletions(table, part, deletions);
        const bool has_rows = relation->rd_rel->relkind == RELKIND_RELATION;
        // A partition that was created later than the feed has no trigger for TRUNCATE.
        const bool may_be_truncated =
            deletes &&
            !has_trigger(relation, f.note_deleted,
                         [](const Trigger& t) { return TRIGGER_FOR_TRUNCATE(t.tgtype) != 0; }) &&
            may_have_new_file(relation, changed_by, since);
        if (has_rows && (is_new || may_be_truncated)) {
            const int stamp = SPI_fnumber(RelationGetDescr(relation), column);
            const bool has_read = has_read_row(relation, stamp, since.unseen, snapshot);
            if (is_new && has_read)
                fail_copy_again(
                    psprintf("\"%s\" was added to the table with rows that this reader counts as read.", name));
            if (may_be_truncated && !has_read)
                fail_copy_again(psprintf("\"%s\" may have been truncated, and has no trigger that notes it.", name));
        }
        const bool is_leaf = relation->rd_rel->relispartition && relation->rd_rel->relkind != RELKIND_PARTITIONED_TABLE;
        relation_close(relation, NoLock);
        if (!is_leaf) add_direct_parts(parts, added, part, planned, table, since, snapshot);
    }
    if (list_length(parts) != list_length(planned)) fail_again(table, parts_differ);
    if (!deletes) return;
    (void) check_unchanged(table, deletions, snapshot);
    const Relation root = relation_open(table, NoLock), relation = relation_open(deletions, NoLock);
    check_relation(table, relation);
    // The trigger zz_feed_of has the function note_lost() too, but is not ALWAYS.
    if (!has_trigger(relation, f.feed_stamp, is_always) || !has_trigger(relation, f.note_lost, is_always))
        fail_unsound(table,
                     psprintf("The triggers of \"%s\" are not enabled ALWAYS.", RelationGetRelationName(relation)));
    // After another primary key was added, rows that differ for the table could be one for readers.
    Deletions key{};
    if (match_key(key, relation, root, true) != nullptr)
        fail_unsound(table, psprintf("The primary key of \"%s\" is not that of its feed.", get_rel_name(table)));
    relation_close(relation, NoLock);
    relation_close(root, NoLock);
}

}  // namespace snowflake_ids::feed
