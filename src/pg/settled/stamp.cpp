// The trigger functions sno_stamp() and so on give a column of each inserted or updated row a new id, so that a reader
// who continues after the last id also sees updates. A key must not change, so sno_check() and so on only refuse an id
// that readers have passed.
//
// The table is noted before the id is generated or checked, so that its readers wait for the transaction.
#include "core/mastic.hpp"
#include "core/sno.hpp"
#include "core/snowflake_si.hpp"
#include "ledger/clock.hpp"
#include "pg/datum.hpp"
#include "pg/errors.hpp"
#include "pg/generate/sno_generate.hpp"
#include "pg/generate/snowflake_generate.hpp"
#include "pg/layouts/layouts.hpp"
#include "pg/pg.hpp"
#include "pg/promise/relatives.hpp"
#include "pg/promise/writer.hpp"
#include "pg/server/shared_ledger.hpp"

extern "C" {
#include "access/genam.h"
#include "access/htup_details.h"
#include "access/sysattr.h"
#include "catalog/pg_index.h"
#include "catalog/pg_type.h"
#include "commands/trigger.h"
#include "executor/spi.h"
#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/syscache.h"
}

namespace snowflake_ids {

namespace {

struct Stamp {
    const char* function;
    bool checks;            // the id of the row, instead of generating one
    const char* arguments;  // of the trigger, for hints
    const char* type;       // of the column, in the schema of the function; null: bigint only
    bool or_bigint;
    int argument_count;
};

// What is looked up once for each statement, in FmgrInfo::fn_extra. Nobody can alter a table while a statement writes
// to it.
struct Column {
    int number;
    text* layout;    // the first of two arguments of the trigger; null if there is one
    UnixTime noted;  // what writer::will_write() has returned
};

const TriggerData& trigger_data(FunctionCallInfo fcinfo, const Stamp& stamp) {
    const auto* t = CALLED_AS_TRIGGER(fcinfo) ? reinterpret_cast<const TriggerData*>(fcinfo->context) : nullptr;
    if (likely(t != nullptr && TRIGGER_FIRED_BEFORE(t->tg_event) && TRIGGER_FIRED_FOR_ROW(t->tg_event) &&
               !TRIGGER_FIRED_BY_DELETE(t->tg_event)))
        return *t;
    ereport(ERROR,
            (errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
             errmsg("function \"%s\" must be fired BEFORE INSERT OR UPDATE, FOR EACH ROW", stamp.function),
             t == nullptr ? 0
                          : errdetail("Trigger \"%s\" of \"%s\" fires it otherwise.", t->tg_trigger->tgname,
                                      RelationGetRelationName(t->tg_relation)),
             errhint("CREATE TRIGGER zz_stamp BEFORE INSERT OR UPDATE ON %s FOR EACH ROW EXECUTE FUNCTION %s(%s);",
                     t == nullptr ? "my_table" : quote_identifier(RelationGetRelationName(t->tg_relation)),
                     stamp.function, stamp.arguments)));
}

// The type of the column, besides bigint. Not a domain over it, because nothing would check its constraints.
Oid own_type(const Stamp& stamp, Oid function) {
    if (stamp.type == nullptr) return InvalidOid;
    return GetSysCacheOid2(TYPENAMENSP, Anum_pg_type_oid, CStringGetDatum(stamp.type),
                           ObjectIdGetDatum(get_func_namespace(function)));
}

// True if the index holds the rows of all tables that the table is a part of. Only partitions share indexes with their
// parents.
bool is_whole(Oid table, Oid index) {
    const List* const above = relatives_above(table);
    if (list_length(above) == 1) return true;
    return get_rel_relispartition(table) && get_rel_relispartition(index) &&
           is_whole(list_nth_oid(above, 1), list_nth_oid(relatives_above(index), 1));
}

// The column alone, for all rows of the table.
bool is_unique(Relation rel, int number) {
    bool found = false;
    List* const indexes = RelationGetIndexList(rel);
    const ListCell* cell;
    foreach (cell, indexes) {
        const Relation index = index_open(lfirst_oid(cell), AccessShareLock);
        const FormData_pg_index& i = *index->rd_index;
        found = i.indisunique && i.indisvalid && i.indnkeyatts == 1 && i.indkey.values[0] == number &&
                heap_attisnull(index->rd_indextuple, Anum_pg_index_indpred, nullptr) &&
                is_whole(RelationGetRelid(rel), RelationGetRelid(index));
        index_close(index, AccessShareLock);
        if (found) break;
    }
    list_free(indexes);
    return found;
}

int hint_for_column(const Stamp& stamp) {
    return errhint("Give the ids a column of their own: ALTER TABLE ... ADD COLUMN stamp %s;",
                   stamp.type == nullptr ? "bigint" : stamp.type);
}

Column find_column(const TriggerData& t, const Stamp& stamp, Oid function) {
    const Relation rel = t.tg_relation;
    const char* const table = RelationGetRelationName(rel);
    if (t.tg_trigger->tgnargs != stamp.argument_count) {
        ereport(ERROR, (errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
                        errmsg("wrong number of arguments in trigger \"%s\" of \"%s\"", t.tg_trigger->tgname, table),
                        errdetail("The trigger has %d.", t.tg_trigger->tgnargs),
                        errhint("Drop the trigger, and create it with EXECUTE FUNCTION %s(%s).", stamp.function,
                                stamp.arguments),
                        errtable(rel)));
    }
    const char* const name = t.tg_trigger->tgargs[stamp.argument_count - 1];
    const int number = SPI_fnumber(RelationGetDescr(rel), name);
    if (number <= 0) {
        ereport(
            ERROR,
            (errcode(ERRCODE_UNDEFINED_COLUMN), errmsg("column \"%s\" of relation \"%s\" does not exist", name, table),
             errdetail("Trigger \"%s\" gives new ids to this column.", t.tg_trigger->tgname),
             errhint(
                 "If the column was renamed, drop the trigger, and create it with the new name. If it was dropped, drop the trigger."),
             errtable(rel)));
    }
    const FormData_pg_attribute* const column = TupleDescAttr(RelationGetDescr(rel), number - 1);
    const Oid type = own_type(stamp, function);
    const bool fits =
        OidIsValid(column->atttypid) && (column->atttypid == type || (stamp.or_bigint && column->atttypid == INT8OID));
    if (!fits) {
        ereport(ERROR,
                (errcode(ERRCODE_DATATYPE_MISMATCH),
                 errmsg("column \"%s\" of relation \"%s\" has the wrong type for %s()", name, table, stamp.function),
                 errdetail("Its type is %s, and not %s%s%s.", format_type_be(column->atttypid),
                           stamp.type == nullptr ? "" : format_type_be(type),
                           stamp.type != nullptr && stamp.or_bigint ? " or " : "", stamp.or_bigint ? "bigint" : ""),
                 hint_for_column(stamp), errtablecol(rel, number)));
    }
    if (column->attgenerated != '\0' || column->attidentity != '\0') {
        ereport(ERROR, (errcode(ERRCODE_GENERATED_ALWAYS),
                        errmsg("%s() cannot set column \"%s\" of relation \"%s\"", stamp.function, name, table),
                        errdetail("It is %s column.", column->attgenerated != '\0' ? "a generated" : "an identity"),
                        hint_for_column(stamp), errtablecol(rel, number)));
    }
    if (stamp.checks) {
        if (!is_unique(rel, number)) {
            ereport(
                ERROR,
                (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                 errmsg("%s() cannot check column \"%s\" of relation \"%s\"", stamp.function, name, table),
                 errdetail(
                     "No unique index is on this column alone, for all rows of the table. A reader who stops after one of two equal ids would miss the other."),
                 hint_for_column(stamp), errtablecol(rel, number)));
        }
        return {number, nullptr, {}};
    }
    // An upsert by a key that changes would insert a second row, and referring rows would lose it.
    Bitmapset* const keys = RelationGetIndexAttrBitmap(rel, INDEX_ATTR_BITMAP_KEY);
    if (bms_is_member(number - FirstLowInvalidHeapAttributeNumber, keys)) {
        ereport(ERROR, (errcode(ERRCODE_INVALID_OBJECT_DEFINITION),
                        errmsg("%s() cannot set column \"%s\" of relation \"%s\"", stamp.function, name, table),
                        errdetail("It is part of a unique index, and a key must not change."), hint_for_column(stamp),
                        errtablecol(rel, number)));
    }
    return {number, nullptr, {}};
}

const Column& column_of(FunctionCallInfo fcinfo, const TriggerData& t, const Stamp& stamp) {
    FmgrInfo& info = *fcinfo->flinfo;
    if (unlikely(info.fn_extra == nullptr)) {
        const Column found = find_column(t, stamp, info.fn_oid);
        const MemoryContext before = MemoryContextSwitchTo(info.fn_mcxt);
        auto* const kept = static_cast<Column*>(palloc(sizeof(Column)));
        *kept = found;
        if (stamp.argument_count == 2) kept->layout = cstring_to_text(t.tg_trigger->tgargs[0]);
        MemoryContextSwitchTo(before);
        info.fn_extra = kept;
        kept->noted = writer::will_write(RelationGetRelid(t.tg_relation));
    }
    return *static_cast<const Column*>(info.fn_extra);
}

template <class Generate>
Datum stamp_row(FunctionCallInfo fcinfo, const Stamp& stamp, Generate generate) {
    const TriggerData& t = trigger_data(fcinfo, stamp);
    const Column& column = column_of(fcinfo, t, stamp);
    Datum id = generate(column);
    int number = column.number;
    bool null = false;
    const HeapTuple row = TRIGGER_FIRED_BY_UPDATE(t.tg_event) ? t.tg_newtuple : t.tg_trigtuple;
    return PointerGetDatum(heap_modify_tuple_by_cols(row, RelationGetDescr(t.tg_relation), 1, &number, &id, &null));
}

// No id of this server has a time above the ceilings of all generators.
bool is_ahead(UnixTime t) {
    if (t <= ledger::wall_clock()) return false;
    const ledger::Ledger& shared = shared_ledger();
    for (uint32 i = 0; i < ledger::slot_count; i++)
        if (shared.slots[i].ceiling.load() > t) return false;
    return true;
}

// A trigger BEFORE INSERT OR UPDATE, FOR EACH STATEMENT, notes the table before the DEFAULTs are evaluated. Without it,
// a statement that stands still between its DEFAULT and its first row can be refused.
bool notes_only(FunctionCallInfo fcinfo) {
    if (!CALLED_AS_TRIGGER(fcinfo)) return false;
    const auto& t = *reinterpret_cast<const TriggerData*>(fcinfo->context);
    if (!TRIGGER_FIRED_BEFORE(t.tg_event) || !TRIGGER_FIRED_FOR_STATEMENT(t.tg_event)) return false;
    if (!TRIGGER_FIRED_BY_INSERT(t.tg_event) && !TRIGGER_FIRED_BY_UPDATE(t.tg_event)) return false;
    (void) writer::will_write(RelationGetRelid(t.tg_relation));
    return true;
}

// `time_of(id, column)` is the last microsecond of the id's tick.
template <class TimeOf>
Datum check_row(FunctionCallInfo fcinfo, const Stamp& stamp, TimeOf time_of) {
    if (notes_only(fcinfo)) return Datum{0};
    const TriggerData& t = trigger_data(fcinfo, stamp);
    const Column& column = column_of(fcinfo, t, stamp);
    const TupleDesc descriptor = RelationGetDescr(t.tg_relation);
    const bool is_update = TRIGGER_FIRED_BY_UPDATE(t.tg_event);
    const HeapTuple row = is_update ? t.tg_newtuple : t.tg_trigtuple;
    const FormData_pg_attribute& attribute = *TupleDescAttr(descriptor, column.number - 1);
    const char* const name = NameStr(attribute.attname);
    const char* const table = RelationGetRelationName(t.tg_relation);
    bool null = false;
    const Datum id = heap_getattr(row, column.number, descriptor, &null);
    if (null) {
        ereport(
            ERROR,
            (errcode(ERRCODE_NOT_NULL_VIOLATION), errmsg("null value in column \"%s\" of relation \"%s\"", name, table),
             errdetail("No reader of the table would see the row."),
             errhint("Give the column a DEFAULT that generates the id."), errtablecol(t.tg_relation, column.number)));
    }
    if (is_update) {
        bool was_null = false;
        const Datum old = heap_getattr(t.tg_trigtuple, column.number, descriptor, &was_null);
        if (!was_null && datumIsEqual(id, old, attribute.attbyval, attribute.attlen)) return PointerGetDatum(row);
    }
    const UnixTime time = time_of(id, column);
    if (is_ahead(time)) {
        ereport(
            ERROR,
            (errcode(ERRCODE_CHECK_VIOLATION),
             errmsg("id in column \"%s\" of relation \"%s\" is ahead of this server", name, table),
             errdetail("It has the time %s. Readers would get the row only after that.", show_time(timestamptz(time))),
             errhint("Let the INSERT generate the id, as a DEFAULT does."), errtablecol(t.tg_relation, column.number)));
    }
    if (!writer::may_bring(time, column.noted)) {
        ereport(
            ERROR,
            (errcode(ERRCODE_CHECK_VIOLATION), errmsg("id in column \"%s\" of relation \"%s\" is too old", name, table),
             errdetail("It has the time %s. Readers of the table may have passed it.", show_time(timestamptz(time))),
             errhint(
                 "Let the INSERT generate the id, as a DEFAULT does, or give the table a column of its own for stamps."),
             errtablecol(t.tg_relation, column.number)));
    }
    return PointerGetDatum(row);
}

UnixTime last_of_tick(const Layout& layout, const char* what, Datum id) {
    return layout.timeline.last(split_id(layout, DatumGetInt64(id), what).tick);
}

constexpr Stamp sno_stamp{"sno_stamp", false, "'my_column'", "sno", false, 1};
constexpr Stamp mastic_stamp{"mastic_stamp", false, "'my_column'", "mastic", true, 1};
constexpr Stamp snowflake_si_stamp{"snowflake_si_stamp", false, "'my_column'", nullptr, true, 1};
constexpr Stamp snowflake_stamp{"snowflake_stamp", false, "'my_layout', 'my_column'", nullptr, true, 2};
constexpr Stamp sno_check{"sno_check", true, "'my_column'", "sno", false, 1};
constexpr Stamp mastic_check{"mastic_check", true, "'my_column'", "mastic", true, 1};
constexpr Stamp snowflake_si_check{"snowflake_si_check", true, "'my_column'", nullptr, true, 1};
constexpr Stamp snowflake_check{"snowflake_check", true, "'my_layout', 'my_column'", nullptr, true, 2};

}  // namespace

FUNCTION(snowflake_ids_sno_stamp) {
    return stamp_row(fcinfo, sno_stamp,
                     [](const Column&) { return DirectFunctionCall1(snowflake_ids_gen_sno, Int32GetDatum(0)); });
}

FUNCTION(snowflake_ids_mastic_stamp) {
    return stamp_row(fcinfo, mastic_stamp,
                     [](const Column&) { return DirectFunctionCall1(snowflake_ids_gen_mastic, Datum{0}); });
}

FUNCTION(snowflake_ids_snowflake_si_stamp) {
    return stamp_row(fcinfo, snowflake_si_stamp,
                     [](const Column&) { return DirectFunctionCall1(snowflake_ids_gen_snowflake_si, Datum{0}); });
}

// snowflake_stamp('layout', 'column')
FUNCTION(snowflake_ids_snowflake_stamp) {
    return stamp_row(fcinfo, snowflake_stamp, [](const Column& column) {
        return DirectFunctionCall1(snowflake_ids_gen_snowflake, PointerGetDatum(column.layout));
    });
}

FUNCTION(snowflake_ids_sno_check) {
    return check_row(fcinfo, sno_check, [](Datum id, const Column&) { return sno::last_of_tick(id_in<sno::Id>(id)); });
}

FUNCTION(snowflake_ids_mastic_check) {
    return check_row(fcinfo, mastic_check,
                     [](Datum id, const Column&) { return last_of_tick(mastic::layout, "mastic", id); });
}

FUNCTION(snowflake_ids_snowflake_si_check) {
    return check_row(fcinfo, snowflake_si_check,
                     [](Datum id, const Column&) { return last_of_tick(snowflake_si::layout, "Snowflake-SI id", id); });
}

// snowflake_check('layout', 'column')
FUNCTION(snowflake_ids_snowflake_check) {
    return check_row(fcinfo, snowflake_check, [](Datum id, const Column& column) {
        char* const name = text_to_cstring(column.layout);
        const NamedLayout* const named = layouts::find(name, strlen(name));
        if (named == nullptr) layouts::fail_unknown(name);
        return last_of_tick(named->layout, "id", id);
    });
}

}  // namespace snowflake_ids
