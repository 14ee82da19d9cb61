// Looks layouts up in the table of this database and among the built-in ones; creates and drops them.
#include "pg/layouts/layouts.hpp"

#include <cstring>

extern "C" {
#include "access/genam.h"
#include "access/htup_details.h"
#include "access/relation.h"
#include "access/table.h"
#include "access/xact.h"
#include "catalog/indexing.h"
#include "catalog/pg_class.h"
#include "commands/trigger.h"
#include "funcapi.h"
#include "replication/logicalworker.h"
#include "storage/lmgr.h"
#include "utils/fmgroids.h"
#include "utils/hsearch.h"
#include "utils/inval.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/tuplestore.h"
}

#include "core/known_layouts.hpp"
#include "ledger/memory.hpp"
#include "ledger/numbering.hpp"
#include "pg/datum.hpp"
#include "pg/errors.hpp"
#include "pg/server/extension_relation.hpp"
#include "pg/server/life.hpp"
#include "pg/server/orphan.hpp"

namespace snowflake_ids::layouts {

namespace {

constexpr const char* relation_name = "created_layout";
constexpr int columns = 7;  // of the table; the arguments of create are the same

HTAB* cache = nullptr;
NamedLayout* last = nullptr;  // the last one looked up: usually the next one is the same
Oid relation_oid = InvalidOid;

void relation_changed(Datum, Oid relation) {
    if (relation != InvalidOid && relation != relation_oid) return;
    HASH_SEQ_STATUS all;
    hash_seq_init(&all, cache);
    while (auto* named = static_cast<NamedLayout*>(hash_seq_search(&all))) named->valid = false;
}

void make_cache() {
    HASHCTL control = {};
    control.keysize = NAMEDATALEN;
    control.entrysize = sizeof(NamedLayout);
    control.hcxt = TopMemoryContext;
    // Entries never move and are never removed, because callers keep references to them.
    cache = hash_create("snowflake_ids layouts", 16, &control, HASH_ELEM | HASH_STRINGS | HASH_CONTEXT);
    CacheRegisterRelcacheCallback(relation_changed, Datum{0});
}

// Opens the table of this database. A call that changes it waits in the lock's queue; a call that reads it waits at
// most max_wait.
Relation open_relation(LOCKMODE lock) {
    const Patience patience{.queues = lock != AccessShareLock};
    Relation rel = open_extension_relation(relation_oid, relation_name, RELKIND_RELATION, lock, patience);
    if (rel == nullptr) {
        ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                        errmsg("table \"snowflake_ids.%s\" of extension snowflake_ids is missing", relation_name),
                        errhint("Run ALTER EXTENSION snowflake_ids UPDATE, or create the extension again.")));
    }
    return rel;
}

Layout checked(TimestampTz epoch, const Interval& tick, int32 timestamp_bits, int32 node_bits, int32 sequence_bits,
               bool node_last) {
    constexpr int32 most = Layout::max_field_bits, most_time = Layout::max_timestamp_bits;
    if (timestamp_bits < 1 || timestamp_bits > most_time)
        fail_range(Error::bad_width, "timestamp_bits", timestamp_bits, 1, most_time);
    if (node_bits < 0 || node_bits > most) fail_range(Error::bad_width, "node_bits", node_bits, 0, most);
    if (sequence_bits < 0 || sequence_bits > most)
        fail_range(Error::bad_width, "sequence_bits", sequence_bits, 0, most);
    const bool time_only = tick.day == 0 && tick.month == 0;
    const Layout l{{unix_time(epoch), microseconds{time_only ? tick.time : 0}, static_cast<unsigned>(timestamp_bits)},
                   static_cast<unsigned>(node_bits),
                   static_cast<unsigned>(sequence_bits),
                   node_last};
    Error error = check_layout(l);
    if (error == Error::none && TIMESTAMP_NOT_FINITE(epoch)) error = Error::bad_epoch;
    if (error == Error::bad_total_width)
        report(error, {Source::argument, "layout", psprintf("%u", l.bits())});
    else if (error == Error::bad_tick)
        report(error, {Source::argument, "tick",
                       DatumGetCString(DirectFunctionCall1(interval_out, IntervalPGetDatum(&tick)))});
    else if (error != Error::none)
        report(error, {Source::argument, "epoch", show_time(epoch)});
    return l;
}

Layout of_row(Relation rel, HeapTuple row) {
    Datum values[columns];
    bool nulls[columns];
    heap_deform_tuple(row, RelationGetDescr(rel), values, nulls);
    return checked(DatumGetTimestampTz(values[1]), *DatumGetIntervalP(values[2]), DatumGetInt32(values[3]),
                   DatumGetInt32(values[4]), DatumGetInt32(values[5]), DatumGetBool(values[6]));
}

// Calls `found(row)` if there is a row of this name. Returns whether there is one.
template <class Found>
bool look_up(Relation rel, const char* name, Found found) {
    ScanKeyData key;
    ScanKeyInit(&key, 1, BTEqualStrategyNumber, F_TEXTEQ, CStringGetTextDatum(name));
    SysScanDesc scan = systable_beginscan(rel, InvalidOid, false, nullptr, 1, &key);
    const HeapTuple row = systable_getnext(scan);
    if (HeapTupleIsValid(row)) found(row);
    systable_endscan(scan);
    return HeapTupleIsValid(row);
}

[[noreturn]] void fail_unknown(const char* name) {
    ereport(ERROR, (errcode(ERRCODE_UNDEFINED_OBJECT), errmsg("layout \"%s\" does not exist", name),
                    errhint("The view snowflake_ids.layouts lists them; snowflake_layout_create() makes one.")));
    pg_unreachable();
}

// Fills the entry from the table. False: no such row.
bool load_created(NamedLayout& named, bool keep_lock) {
    Relation rel = open_relation(AccessShareLock);
    Layout layout{};
    const bool found = look_up(rel, named.name, [&](HeapTuple row) { layout = of_row(rel, row); });
    table_close(rel, keep_lock ? NoLock : AccessShareLock);
    if (!found) return false;
    named.layout = layout;
    named.created = named.generates = named.valid = true;
    return true;
}

bool load(NamedLayout& named, bool keep_lock) {
    named.looked_up++;
    // A created layout comes first: a later version may have a built-in one of the same name, and the layout must not
    // change.
    if (load_created(named, keep_lock)) return true;
    const KnownLayout* known = known_layout(named.name, std::strlen(named.name));
    if (known == nullptr) return false;
    named.layout = known->layout;
    named.generates = known->generates;
    named.created = false;
    named.valid = true;
    return true;
}

}  // namespace

NamedLayout* find(const char* name, std::size_t length) {
    if (likely(last != nullptr && last->valid && std::strncmp(last->name, name, length) == 0 &&
               last->name[length] == '\0'))
        return last;
    if (length == 0 || length >= NAMEDATALEN || std::memchr(name, 0, length) != nullptr) return nullptr;
    if (cache == nullptr) make_cache();
    NamedLayout wanted{};
    std::memcpy(wanted.name, name, length);
    wanted.name[length] = '\0';
    auto* named = static_cast<NamedLayout*>(hash_search(cache, wanted.name, HASH_FIND, nullptr));
    if (named == nullptr || !named->valid) {
        // Names that do not exist are not cached.
        if (named == nullptr) {
            if (!load(wanted, false)) return nullptr;
            named = static_cast<NamedLayout*>(hash_search(cache, wanted.name, HASH_ENTER, nullptr));
            *named = wanted;
        } else if (!load(*named, false)) {
            return nullptr;
        }
    }
    last = named;
    return named;
}

NamedLayout& argument(FunctionCallInfo fcinfo, int n) {
    const text* name = PG_GETARG_TEXT_PP(n);
    NamedLayout* named = find(VARDATA_ANY(name), VARSIZE_ANY_EXHDR(name));
    if (unlikely(named == nullptr)) fail_unknown(text_to_cstring(name));
    return *named;
}

void pin(NamedLayout& named) {
    named.valid = false;
    if (!load(named, true)) fail_unknown(named.name);
}

Layout from_fields(FunctionCallInfo fcinfo, int n) {
    return checked(PG_GETARG_TIMESTAMPTZ(n), *PG_GETARG_INTERVAL_P(n + 1), PG_GETARG_INT32(n + 2),
                   PG_GETARG_INT32(n + 3), PG_GETARG_INT32(n + 4), PG_GETARG_BOOL(n + 5));
}

namespace {

// Has this server drawn ids with the numbering of this layout?
bool used(const Layout& layout) {
    const Result<uint64> numbering = ledger::pack_numbering(layout);
    return numbering && ledger::numbering_used(ledger_in_life(), numbering.value);
}

// Rows are written without the executor, which would otherwise check this.
void prevent_where_read_only(const char* command) {
    PreventCommandDuringRecovery(command);
    PreventCommandIfReadOnly(command);
    PreventCommandIfParallelMode(command);
}

// The call of a trigger that is fired before a change of the table of layouts. Otherwise raises an error: a superuser
// can create other triggers with our functions. Takes the lock until the end of the transaction.
const TriggerData& trigger_data(FunctionCallInfo fcinfo, const char* function, LOCKMODE lock, bool only_insert) {
    if (!CALLED_AS_TRIGGER(fcinfo)) {
        ereport(ERROR, (errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
                        errmsg("function \"%s\" was not called by trigger manager", function)));
    }
    const auto& trigger = *reinterpret_cast<TriggerData*>(fcinfo->context);
    const TriggerEvent event = trigger.tg_event;
    if (!TRIGGER_FIRED_BEFORE(event) ||
        (only_insert && !(TRIGGER_FIRED_BY_INSERT(event) && TRIGGER_FIRED_FOR_ROW(event)))) {
        ereport(ERROR, (errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
                        only_insert ? errmsg("function \"%s\" must be fired BEFORE INSERT for each row", function)
                                    : errmsg("function \"%s\" must be fired BEFORE a change", function)));
    }
    Relation rel = open_relation(lock);
    const bool ours = RelationGetRelid(rel) == RelationGetRelid(trigger.tg_relation);
    table_close(rel, NoLock);
    if (!ours) {
        ereport(ERROR, (errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
                        errmsg("function \"%s\" was called for another table", function)));
    }
    return trigger;
}

// A subscription applies a drop of the publisher. An error would stop all of its replication. So a layout that was
// used on this server stays, and a line in the log says so. Returns whether the row may be deleted.
bool apply_drop(const TriggerData& trigger) {
    Relation rel = trigger.tg_relation;
    if (used(of_row(rel, trigger.tg_trigtuple))) {
        bool null;
        const Datum name = heap_getattr(trigger.tg_trigtuple, 1, RelationGetDescr(rel), &null);
        ereport(LOG, (errmsg("layout \"%s\" stays, although the publisher dropped it", TextDatumGetCString(name)),
                      errdetail("Ids with its epoch, tick and widths have been generated on this server.")));
        return false;
    }
    CacheInvalidateRelcache(rel);
    return true;
}

const char* describe(const Layout& l) {
    return psprintf("epoch %s, tick %g ms, %u timestamp bits, %u node bits%s, %u sequence bits",
                    show_time(timestamptz(l.timeline.epoch)), in_ms(l.timeline.tick_length), l.timeline.bits,
                    l.node_bits, l.node_last ? " (last)" : "", l.sequence_bits);
}

}  // namespace

}  // namespace snowflake_ids::layouts

namespace snowflake_ids {

using namespace layouts;

// snowflake_layout_create(name, epoch, tick, timestamp_bits, node_bits, sequence_bits, node_last)
FUNCTION(snowflake_ids_layout_create) {
    prevent_where_read_only("snowflake_layout_create()");
    check_not_null(fcinfo, {"name", "epoch", "tick", "timestamp_bits", "node_bits", "sequence_bits", "node_last"});
    const char* name = text_to_cstring(PG_GETARG_TEXT_PP(0));
    const std::size_t length = std::strlen(name);
    if (length == 0 || length >= NAMEDATALEN) {
        ereport(ERROR, (errcode(ERRCODE_INVALID_NAME), errmsg("invalid layout name: \"%s\"", name),
                        errdetail("A name has 1 to %d bytes.", NAMEDATALEN - 1)));
    }
    (void) from_fields(fcinfo, 1);
    Relation rel = open_relation(ShareRowExclusiveLock);
    if (known_layout(name, length) != nullptr || look_up(rel, name, [](HeapTuple) {})) {
        ereport(ERROR, (errcode(ERRCODE_DUPLICATE_OBJECT), errmsg("layout \"%s\" already exists", name),
                        errhint("A layout never changes: choose another name.")));
    }
    Datum values[columns];
    bool nulls[columns] = {};
    for (int i = 0; i < columns; i++) values[i] = PG_GETARG_DATUM(i);
    end_if_orphaned();
    CatalogTupleInsert(rel, heap_form_tuple(RelationGetDescr(rel), values, nulls));
    // For this backend's cache, if the transaction is rolled back.
    CacheInvalidateRelcache(rel);
    table_close(rel, NoLock);
    CommandCounterIncrement();
    PG_RETURN_VOID();
}

// snowflake_layout_drop(name)
FUNCTION(snowflake_ids_layout_drop) {
    prevent_where_read_only("snowflake_layout_drop()");
    check_not_null(fcinfo, {"name"});
    const char* name = text_to_cstring(PG_GETARG_TEXT_PP(0));
    // Waits for transactions that draw their first id: see pin().
    Relation rel = open_relation(AccessExclusiveLock);
    const bool found = look_up(rel, name, [&](HeapTuple row) {
        if (used(of_row(rel, row))) {
            ereport(ERROR, (errcode(ERRCODE_OBJECT_IN_USE), errmsg("layout \"%s\" is in use", name),
                            errdetail("Ids with its epoch, tick and widths have been generated on this server."),
                            errhint("A layout that is not needed any more does no harm.")));
        }
        end_if_orphaned();
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

// The table's CHECK constraint calls this: raises an error for values that are no layout.
FUNCTION(snowflake_ids_layout_check) {
    (void) from_fields(fcinfo, 0);
    PG_RETURN_BOOL(true);
}

// Can ids of the layout be generated?
FUNCTION(snowflake_ids_layout_generates) {
    PG_RETURN_BOOL(static_cast<bool>(ledger::pack_numbering(from_fields(fcinfo, 0))));
}

// The function of the triggers that keep rows unchanged, and that refuse rows of users who may not create layouts.
FUNCTION(snowflake_ids_layout_keep) {
    // A subscription's drop takes the lock of layout_drop.
    const bool applied = IsLogicalWorker();
    const TriggerData& trigger =
        trigger_data(fcinfo, "snowflake_ids.layout_keep", applied ? AccessExclusiveLock : RowExclusiveLock, false);
    if (TRIGGER_FIRED_BY_INSERT(trigger.tg_event)) {
        ereport(ERROR, (errcode(ERRCODE_INSUFFICIENT_PRIVILEGE), errmsg("permission denied to restore layouts"),
                        errdetail("It takes the privilege to call snowflake_layout_create()."),
                        errhint("Restore as a superuser, or have the privilege granted first.")));
    }
    if (applied && TRIGGER_FIRED_BY_DELETE(trigger.tg_event) && TRIGGER_FIRED_FOR_ROW(trigger.tg_event))
        return PointerGetDatum(apply_drop(trigger) ? trigger.tg_trigtuple : nullptr);
    ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE), errmsg("a layout never changes"),
                    errdetail("Nobody could read its existing ids any more."),
                    errhint("Use snowflake_layout_create() and snowflake_layout_drop().")));
    PG_RETURN_NULL();
}

// The function of a trigger before each insert that is not snowflake_layout_create(): of a subscription, of its first
// copy, of a dump that is restored. The row may be there already, because two nodes have created the same layout. Then
// it is left out: a duplicate key would stop the subscription.
FUNCTION(snowflake_ids_layout_same) {
    const TriggerData& trigger = trigger_data(fcinfo, "snowflake_ids.layout_same", RowExclusiveLock, true);
    const HeapTuple row = trigger.tg_trigtuple;
    if (HeapTupleHasNulls(row)) return PointerGetDatum(row);  // the constraints refuse it
    Relation rel = trigger.tg_relation;
    // One insert at a time: of two subscriptions that apply the same row, the second one must see the first one's.
    LockDatabaseObject(RelationRelationId, RelationGetRelid(rel), 0, ExclusiveLock);
    bool null;
    const char* name = TextDatumGetCString(heap_getattr(row, 1, RelationGetDescr(rel), &null));
    const Layout layout = of_row(rel, row);
    Layout here{};
    if (!look_up(rel, name, [&](HeapTuple found) { here = of_row(rel, found); })) {
        // It would hide the built-in one from all roles. snowflake_layout_create() made it before a version had the
        // name built in, or somebody forges it: a superuser has to know.
        if (known_layout(name, std::strlen(name)) != nullptr && !superuser()) {
            ereport(ERROR, (errcode(ERRCODE_INSUFFICIENT_PRIVILEGE), errmsg("permission denied to restore layouts"),
                            errdetail("Layout \"%s\" is built in.", name), errhint("Restore as a superuser.")));
        }
        // For caches that have the built-in layout of this name, and for this backend's if the row is rolled back.
        CacheInvalidateRelcache(rel);
        return PointerGetDatum(row);
    }
    if (here == layout) return Datum{0};
    ereport(ERROR, (errcode(ERRCODE_UNIQUE_VIOLATION), errmsg("layout \"%s\" already exists with other fields", name),
                    errdetail("It has %s; the other one has %s.", describe(here), describe(layout)),
                    errhint("A layout never changes. Create one of the two under another name.")));
    PG_RETURN_NULL();
}

// snowflake_ids.known_layouts(): rows like those of the table, and whether ids can be generated.
FUNCTION(snowflake_ids_known_layouts) {
    InitMaterializedSRF(fcinfo, 0);
    auto* result = reinterpret_cast<ReturnSetInfo*>(fcinfo->resultinfo);
    for (const KnownLayout& k : known_layouts) {
        const Layout& l = k.layout;
        Interval tick = {};
        tick.time = l.timeline.tick_length.count();
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
