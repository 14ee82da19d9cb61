// Creates and drops layouts. Triggers keep their rows unchanged, also if a subscription or a restored dump writes them.
#include <cstring>

#include "core/known_layouts.hpp"
#include "ledger/find_slot.hpp"
#include "ledger/packed_layout.hpp"
#include "ledger/shared_memory.hpp"
#include "pg/ceilings/issue_limit.hpp"
#include "pg/datum.hpp"
#include "pg/errors.hpp"
#include "pg/layouts/layout_table.hpp"
#include "pg/layouts/layouts.hpp"
#include "pg/refuse_nulls.hpp"

extern "C" {
#include "access/htup_details.h"
#include "access/table.h"
#include "access/xact.h"
#include "catalog/indexing.h"
#include "catalog/pg_class.h"
#include "commands/trigger.h"
#include "funcapi.h"
#include "replication/logicalworker.h"
#include "storage/lmgr.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/tuplestore.h"
}

namespace snowflake_ids {

using namespace layouts;

namespace {

// True if a generator in any database of this server uses the layout. Begins the server's life, because only then are
// generators from before the start known.
bool has_generator(const Layout& layout) {
    const Result<uint64> packed_layout = ledger::pack_layout(layout);
    return packed_layout && ledger::layout_used(issue_limit::ledger_in_life(), packed_layout.value);
}

// The executor would check this, but the functions here write rows without it.
void prevent_where_read_only(const char* command) {
    PreventCommandDuringRecovery(command);
    PreventCommandIfReadOnly(command);
    PreventCommandIfParallelMode(command);
}

// Locks the table of layouts until the end of the transaction. Raises an error unless this is a trigger BEFORE a change
// of that table, because a superuser can create others with these functions.
const TriggerData& lock_for_trigger(FunctionCallInfo fcinfo, LOCKMODE lock, bool only_insert) {
    Relation rel = open_relation(lock);
    const Oid table = RelationGetRelid(rel);
    table_close(rel, NoLock);
    const auto* trigger = CALLED_AS_TRIGGER(fcinfo) ? reinterpret_cast<TriggerData*>(fcinfo->context) : nullptr;
    if (trigger == nullptr || RelationGetRelid(trigger->tg_relation) != table ||
        !TRIGGER_FIRED_BEFORE(trigger->tg_event) ||
        (only_insert && !(TRIGGER_FIRED_BY_INSERT(trigger->tg_event) && TRIGGER_FIRED_FOR_ROW(trigger->tg_event))))
        ereport(ERROR, (errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
                        errmsg("function \"snowflake_ids.%s\" is only for the triggers of snowflake_ids.created_layout",
                               get_func_name(fcinfo->flinfo->fn_oid))));
    return *trigger;
}

// A subscription deletes the row of a layout that its publisher has dropped. A layout that was used here stays, with a
// line in the log: an error would stop the whole subscription. Returns true if the layout may be dropped.
bool drop_if_unused(const TriggerData& trigger) {
    Relation rel = trigger.tg_relation;
    if (has_generator(layout_of_row(rel, trigger.tg_trigtuple))) {
        bool null;
        const Datum name = heap_getattr(trigger.tg_trigtuple, 1, RelationGetDescr(rel), &null);
        ereport(LOG, (errmsg("layout \"%s\" was kept, although the publisher dropped it", TextDatumGetCString(name)),
                      errdetail("Ids with its epoch, tick and widths have been generated on this server.")));
        return false;
    }
    CacheInvalidateRelcache(rel);
    return true;
}

const char* layout_in_words(const Layout& l) {
    return psprintf("epoch %s, tick %g ms, %u timestamp bits, %u node bits%s, %u sequence bits",
                    show_time(timestamptz(l.timeline.epoch)), in_ms(l.timeline.tick_length), l.timeline.bits,
                    l.node_bits, l.node_last ? " (last)" : "", l.sequence_bits);
}

}  // namespace

FUNCTION(snowflake_ids_layout_create) {
    prevent_where_read_only("snowflake_layout_create()");
    refuse_nulls(fcinfo);
    const char* name = text_to_cstring(PG_GETARG_TEXT_PP(0));
    const std::size_t length = std::strlen(name);
    if (length == 0 || length >= NAMEDATALEN) {
        ereport(ERROR, (errcode(ERRCODE_INVALID_NAME), errmsg("invalid layout name: \"%s\"", name),
                        errdetail("A name has 1 to %d bytes.", NAMEDATALEN - 1)));
    }
    (void) from_fields(fcinfo, 1);  // checks the fields
    Relation rel = open_relation(ShareRowExclusiveLock);
    if (known_layout(name, length) != nullptr || find_row(rel, name, [](HeapTuple) {})) {
        ereport(ERROR, (errcode(ERRCODE_DUPLICATE_OBJECT), errmsg("layout \"%s\" already exists", name),
                        errhint("Choose another name. A layout never changes.")));
    }
    Columns row;
    for (int i = 0; i < columns; i++) row.add(PG_GETARG_DATUM(i));
    CatalogTupleInsert(rel, heap_form_tuple(RelationGetDescr(rel), row.values, row.nulls));
    // if the transaction is rolled back, this backend's cache must forget the layout
    CacheInvalidateRelcache(rel);
    table_close(rel, NoLock);
    CommandCounterIncrement();
    PG_RETURN_VOID();
}

FUNCTION(snowflake_ids_layout_drop) {
    prevent_where_read_only("snowflake_layout_drop()");
    refuse_nulls(fcinfo);
    const char* name = text_to_cstring(PG_GETARG_TEXT_PP(0));
    // Waits for transactions that generate their first id of a layout, because set_up_layout() has locked the table for
    // them.
    Relation rel = open_relation(AccessExclusiveLock);
    const bool found = find_row(rel, name, [&](HeapTuple row) {
        if (has_generator(layout_of_row(rel, row))) {
            ereport(ERROR, (errcode(ERRCODE_OBJECT_IN_USE), errmsg("layout \"%s\" is in use", name),
                            errdetail("Ids with its epoch, tick and widths have been generated on this server."),
                            errhint("Keep the layout. A layout that is not needed any more does no harm.")));
        }
        CatalogTupleDelete(rel, &row->t_self);
    });
    if (!found) {
        if (known_layout(name, std::strlen(name)) == nullptr) fail_unknown(name);
        ereport(ERROR, (errcode(ERRCODE_WRONG_OBJECT_TYPE), errmsg("layout \"%s\" is built in", name)));
    }
    CacheInvalidateRelcache(rel);
    table_close(rel, NoLock);
    CommandCounterIncrement();
    PG_RETURN_VOID();
}

// For the table's CHECK constraint.
FUNCTION(snowflake_ids_layout_check) {
    (void) from_fields(fcinfo, 0);
    PG_RETURN_BOOL(true);
}

FUNCTION(snowflake_ids_layout_generates) {
    PG_RETURN_BOOL(static_cast<bool>(ledger::pack_layout(from_fields(fcinfo, 0))));
}

// The trigger that keeps rows unchanged (src/sql/80-layouts.sql). Only a subscription may delete a row; all else is an
// error. Before an insert it is fired only for users who may not create layouts.
FUNCTION(snowflake_ids_layout_keep) {
    // This drops a layout, so the table is locked as in snowflake_layout_drop().
    const bool applied = IsLogicalWorker();
    const TriggerData& trigger = lock_for_trigger(fcinfo, applied ? AccessExclusiveLock : RowExclusiveLock, false);
    if (TRIGGER_FIRED_BY_INSERT(trigger.tg_event)) {
        ereport(
            ERROR,
            (errcode(ERRCODE_INSUFFICIENT_PRIVILEGE), errmsg("permission denied to restore layouts"),
             errdetail("Only roles that may call snowflake_layout_create() can restore layouts."),
             errhint(
                 "Restore as a superuser, or let a superuser run GRANT EXECUTE ON FUNCTION snowflake_layout_create to the role that restores.")));
    }
    if (applied && TRIGGER_FIRED_BY_DELETE(trigger.tg_event) && TRIGGER_FIRED_FOR_ROW(trigger.tg_event))
        return PointerGetDatum(drop_if_unused(trigger) ? trigger.tg_trigtuple : nullptr);
    ereport(ERROR,
            (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE), errmsg("a layout never changes"),
             errdetail("After a change, nobody could decode its existing ids."),
             errhint("To add a layout, call snowflake_layout_create(). To remove one, call snowflake_layout_drop().")));
}

// The trigger before each insert. snowflake_layout_create() fires none, so the row comes from a subscription or a
// restored dump. If two servers have created the same layout, the row is left out: a duplicate key would stop the
// subscription. Another layout of the name is an error.
FUNCTION(snowflake_ids_layout_same) {
    const TriggerData& trigger = lock_for_trigger(fcinfo, RowExclusiveLock, true);
    const HeapTuple row = trigger.tg_trigtuple;
    if (HeapTupleHasNulls(row)) return PointerGetDatum(row);  // the constraints refuse it
    Relation rel = trigger.tg_relation;
    // If two subscriptions apply the same row, the second must see the row of the first.
    LockDatabaseObject(RelationRelationId, RelationGetRelid(rel), 0, ExclusiveLock);
    bool null;
    const char* name = TextDatumGetCString(heap_getattr(row, 1, RelationGetDescr(rel), &null));
    const Layout layout = layout_of_row(rel, row);
    Layout here{};
    if (!find_row(rel, name, [&](HeapTuple found) { here = layout_of_row(rel, found); })) {
        // The row would hide the built-in layout from all roles, so a superuser has to decide.
        if (known_layout(name, std::strlen(name)) != nullptr && !superuser()) {
            ereport(
                ERROR,
                (errcode(ERRCODE_INSUFFICIENT_PRIVILEGE), errmsg("permission denied to restore layouts"),
                 errdetail("The layout \"%s\" is built in, so only a superuser can restore another one of this name.",
                           name),
                 errhint("Restore as a superuser.")));
        }
        // Caches must forget a built-in layout of this name. After a rollback, the cache of this backend must forget
        // the new one.
        CacheInvalidateRelcache(rel);
        return PointerGetDatum(row);
    }
    if (here == layout) return Datum{0};
    ereport(ERROR, (errcode(ERRCODE_UNIQUE_VIOLATION), errmsg("layout \"%s\" already exists with other fields", name),
                    errdetail("The layout in this database has %s; the other one has %s.", layout_in_words(here),
                              layout_in_words(layout)),
                    errhint("A layout never changes. Create one of the two under another name.")));
}

FUNCTION(snowflake_ids_known_layouts) {
    InitMaterializedSRF(fcinfo, 0);
    auto* result = reinterpret_cast<ReturnSetInfo*>(fcinfo->resultinfo);
    for (const KnownLayout& k : known_layouts) {
        const Layout& l = k.layout;
        const Interval tick{.time = l.timeline.tick_length.count(), .day = 0, .month = 0};
        Datum values[] = {CStringGetTextDatum(k.name),       TimestampTzGetDatum(timestamptz(l.timeline.epoch)),
                          IntervalPGetDatum(&tick),          UInt32GetDatum(l.timeline.bits),
                          UInt32GetDatum(l.node_bits),       UInt32GetDatum(l.sequence_bits),
                          BoolGetDatum(l.node_last),         BoolGetDatum(k.generates),
                          CStringGetTextDatum(k.description)};
        bool nulls[lengthof(values)] = {};
        tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
    }
    PG_RETURN_NULL();
}

}  // namespace snowflake_ids
