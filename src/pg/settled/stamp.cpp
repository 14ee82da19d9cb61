// The trigger functions sno_stamp() and so on give a column of each inserted or updated row a new id, so that readers
// also see updates. The table is noted before the id is generated, so that its readers wait for the transaction.
#include "pg/settled/stamp.hpp"

#include "pg/generate/sno_generate.hpp"
#include "pg/generate/snowflake_generate.hpp"
#include "pg/pg.hpp"
#include "pg/server/relatives.hpp"
#include "pg/promise/writer.hpp"

extern "C" {
#include "access/htup_details.h"
#include "access/sysattr.h"
#include "catalog/pg_type.h"
#include "commands/trigger.h"
#include "executor/spi.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/syscache.h"
}

namespace snowflake_ids {

namespace {

// What is looked up once for each statement, in FmgrInfo::fn_extra. Nobody can alter a table while a statement writes
// to it.
struct Column {
    int number;
    text* layout;  // the first of two arguments of the trigger; null if there is one
};

// What to type. `t`: null if the function was not called by a trigger.
int hint_for_trigger(const Stamp& stamp, const TriggerData* t) {
    const Oid table = t == nullptr ? InvalidOid : RelationGetRelid(t->tg_relation);
    const char* const layout = stamp.argument_count == 1                     ? nullptr
                               : t != nullptr && t->tg_trigger->tgnargs == 2 ? t->tg_trigger->tgargs[0]
                                                                             : "my_layout";
    return errhint("%s%s",
                   t == nullptr
                       ? ""
                       : psprintf("DROP TRIGGER %s ON %s; ", quote_identifier(t->tg_trigger->tgname), full_name(table)),
                   create_feed_command(table, stamp, {stamp.format, layout}));
}

const TriggerData& trigger_data(FunctionCallInfo fcinfo, const Stamp& stamp) {
    const auto* t = CALLED_AS_TRIGGER(fcinfo) ? reinterpret_cast<const TriggerData*>(fcinfo->context) : nullptr;
    if (likely(t != nullptr && TRIGGER_FIRED_BEFORE(t->tg_event) && TRIGGER_FIRED_FOR_ROW(t->tg_event) &&
               !TRIGGER_FIRED_BY_DELETE(t->tg_event)))
        return *t;
    ereport(ERROR, (errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
                    errmsg("function \"%s\" must be fired BEFORE INSERT OR UPDATE, FOR EACH ROW", stamp.function),
                    t == nullptr ? 0
                                 : errdetail("Trigger \"%s\" of \"%s\" fires it otherwise.", t->tg_trigger->tgname,
                                             RelationGetRelationName(t->tg_relation)),
                    hint_for_trigger(stamp, t)));
}

// The type of the column, besides bigint. Not a domain over it, because nothing would check its constraints.
Oid own_type(const Stamp& stamp, Oid function) {
    if (stamp.type == nullptr) return InvalidOid;
    return GetSysCacheOid2(TYPENAMENSP, Anum_pg_type_oid, CStringGetDatum(stamp.type),
                           ObjectIdGetDatum(get_func_namespace(function)));
}

int hint_for_column(const Stamp& stamp) {
    return errhint("Give the ids a column of their own: ALTER TABLE ... ADD COLUMN stamp %s;",
                   stamp.type == nullptr ? "bigint" : stamp.type);
}

Column find_column(const TriggerData& t, const Stamp& stamp, Oid function) {
    const Relation rel = t.tg_relation;
    const char* const table = RelationGetRelationName(rel);
    if (t.tg_trigger->tgnargs != stamp.argument_count) {
        ereport(ERROR,
                (errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
                 errmsg("wrong number of arguments in trigger \"%s\" of \"%s\"", t.tg_trigger->tgname, table),
                 errdetail("The trigger has %d.", t.tg_trigger->tgnargs), hint_for_trigger(stamp, &t), errtable(rel)));
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
    // An upsert by a key that changes would insert a second row, and referring rows would lose it.
    Bitmapset* const keys = RelationGetIndexAttrBitmap(rel, INDEX_ATTR_BITMAP_KEY);
    if (bms_is_member(number - FirstLowInvalidHeapAttributeNumber, keys)) {
        ereport(ERROR, (errcode(ERRCODE_INVALID_OBJECT_DEFINITION),
                        errmsg("%s() cannot set column \"%s\" of relation \"%s\"", stamp.function, name, table),
                        errdetail("It is part of a unique index, and a key must not change."), hint_for_column(stamp),
                        errtablecol(rel, number)));
    }
    return {number, nullptr};
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
        writer::will_write(RelationGetRelid(t.tg_relation));
    }
    return *static_cast<const Column*>(info.fn_extra);
}

// `generate` makes an id. Its argument is the layout; without one, Datum 0, which for a sno is the metabyte.
Datum stamp_row(FunctionCallInfo fcinfo, const Stamp& stamp, PGFunction generate) {
    const TriggerData& t = trigger_data(fcinfo, stamp);
    const Column& column = column_of(fcinfo, t, stamp);
    Datum id = DirectFunctionCall1(generate, PointerGetDatum(column.layout));
    int number = column.number;
    bool null = false;
    const HeapTuple row = TRIGGER_FIRED_BY_UPDATE(t.tg_event) ? t.tg_newtuple : t.tg_trigtuple;
    return PointerGetDatum(heap_modify_tuple_by_cols(row, RelationGetDescr(t.tg_relation), 1, &number, &id, &null));
}

}  // namespace

FUNCTION(snowflake_ids_sno_stamp) { return stamp_row(fcinfo, sno_stamp, snowflake_ids_gen_sno); }
FUNCTION(snowflake_ids_mastic_stamp) { return stamp_row(fcinfo, mastic_stamp, snowflake_ids_gen_mastic); }
FUNCTION(snowflake_ids_snowflake_si_stamp) {
    return stamp_row(fcinfo, snowflake_si_stamp, snowflake_ids_gen_snowflake_si);
}
FUNCTION(snowflake_ids_snowflake_stamp) { return stamp_row(fcinfo, snowflake_stamp, snowflake_ids_gen_snowflake); }

}  // namespace snowflake_ids
