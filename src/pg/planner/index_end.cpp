// Looks up the end of an index at planning time, by the rules of PostgreSQL's own estimators. Rows that are not
// committed yet, and deleted rows that some transaction may still see, count, so the search usually ends at the first
// entry. It gives up after `most_pages` pages of the table.
#include "pg/planner/index_end.hpp"

extern "C" {
#include "access/genam.h"
#include "access/htup_details.h"
#include "access/itup.h"
#include "access/relscan.h"
#include "access/table.h"
#include "access/tableam.h"
#include "access/visibilitymap.h"
#include "catalog/pg_am.h"
#include "catalog/pg_class.h"
#include "executor/tuptable.h"
#include "optimizer/optimizer.h"
#include "optimizer/paths.h"
#include "parser/parsetree.h"
#include "storage/bufmgr.h"
#include "storage/lmgr.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"
#include "utils/typcache.h"
}

namespace snowflake_ids {

namespace {

constexpr int most_pages = 100;

// Null for a partitioned table, which has no index, or if the variable is of no single table.
const RangeTblEntry* plain_table_of(PlannerInfo* root, const VariableStatData& variable) {
    if (variable.rel == nullptr || variable.rel->relid == 0) return nullptr;
    const RangeTblEntry* table = planner_rt_fetch(variable.rel->relid, root);
    return table->rtekind == RTE_RELATION && table->relkind != RELKIND_PARTITIONED_TABLE ? table : nullptr;
}

const IndexOptInfo* index_on(const VariableStatData& variable, Oid family) {
    ListCell* cell;
    foreach (cell, variable.rel->indexlist) {
        auto* index = static_cast<IndexOptInfo*>(lfirst(cell));
        if (index->relam == BTREE_AM_OID && index->indpred == NIL && !index->hypothetical &&
            index->sortopfamily[0] == family && index->canreturn[0] && match_index_to_operand(variable.var, 0, index))
            return index;
    }
    return nullptr;
}

// Skips rows that nobody can see any more.
bool first_entry(Relation table, Relation index, ScanDirection direction, ToKey key, Key& out) {
    SnapshotData snapshot;
    InitNonVacuumableSnapshot(snapshot, GlobalVisTestFor(table));
    ScanKeyData not_null;
    ScanKeyEntryInitialize(&not_null, SK_ISNULL | SK_SEARCHNOTNULL, 1, InvalidStrategy, InvalidOid, InvalidOid,
                           InvalidOid, Datum{0});
    IndexScanDesc scan = begin_index_scan(table, index, &snapshot, 1);
    scan->xs_want_itup = true;
    index_rescan(scan, &not_null, 1, nullptr, 0);
    TupleTableSlot* slot = table_slot_create(table, nullptr);
    Buffer visibility = InvalidBuffer;
    BlockNumber page = InvalidBlockNumber;
    int pages = 0;
    bool found = false;
    while (const ItemPointer tid = index_getnext_tid(scan, direction)) {
        const BlockNumber block = ItemPointerGetBlockNumber(tid);
        if (!VM_ALL_VISIBLE(table, block, &visibility)) {
            if (!index_fetch_heap(scan, slot)) {
                if (block != page && ++pages > most_pages) break;
                page = block;
                continue;
            }
            ExecClearTuple(slot);
        }
        bool is_null;
        if (scan->xs_itup == nullptr || scan->xs_recheck) break;
        const Datum entry = index_getattr(scan->xs_itup, 1, scan->xs_itupdesc, &is_null);
        if (is_null) break;
        out = key(entry);
        found = true;
        break;
    }
    if (visibility != InvalidBuffer) ReleaseBuffer(visibility);
    ExecDropSingleTupleTableSlot(slot);
    index_endscan(scan);
    return found;
}

}  // namespace

// an index in descending order has the largest value at its beginning
bool largest_in_index(PlannerInfo* root, const VariableStatData& variable, Oid type, ToKey key, Key& out) {
    const Oid family = lookup_type_cache(type, TYPECACHE_BTREE_OPFAMILY)->btree_opf;
    const RangeTblEntry* entry = plain_table_of(root, variable);
    const IndexOptInfo* known = entry != nullptr ? index_on(variable, family) : nullptr;
    if (known == nullptr) return false;
    // the planner has locked the table and its indexes
    Relation table = table_open(entry->relid, NoLock);
    Relation index = index_open(known->indexoid, NoLock);
    const ScanDirection direction = known->reverse_sort[0] ? ForwardScanDirection : BackwardScanDirection;
    const bool found = first_entry(table, index, direction, key, out);
    index_close(index, NoLock);
    table_close(table, NoLock);
    return found;
}

// The planner derives rel->tuples from the present size, and pg_class has the rows at the last count.
double growth_since_statistics(PlannerInfo* root, const VariableStatData& variable) {
    const RangeTblEntry* entry = plain_table_of(root, variable);
    if (entry == nullptr || variable.rel->tuples <= 0) return 0;
    const HeapTuple row = SearchSysCache1(RELOID, ObjectIdGetDatum(entry->relid));
    if (!HeapTupleIsValid(row)) return 0;
    const double counted = reinterpret_cast<Form_pg_class>(GETSTRUCT(row))->reltuples;
    ReleaseSysCache(row);
    return counted > 0 && counted < variable.rel->tuples ? 1 - counted / variable.rel->tuples : 0;
}

}  // namespace snowflake_ids
