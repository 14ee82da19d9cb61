// The trigger function feed_stamp() gives each inserted or updated row the id of the top-level transaction, and notes
// the table for readers that wait. If the key of a row changes, it notes the old one as deleted.
#include "pg/feed/deletions.hpp"
#include "pg/feed/lives.hpp"
#include "pg/feed/wait.hpp"
#include "pg/pg.hpp"

extern "C" {
#include "access/htup_details.h"
#include "access/sysattr.h"
#include "access/xact.h"
#include "catalog/pg_type.h"
#include "commands/trigger.h"
#include "executor/spi.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
}

#include "pg/server/table_ancestors.hpp"

namespace snowflake_ids {

namespace {

bool is_before_row_write(TriggerEvent event) {
    return TRIGGER_FIRED_BEFORE(event) && TRIGGER_FIRED_FOR_ROW(event) && !TRIGGER_FIRED_BY_DELETE(event);
}

// The column must not be part of a key: an upsert would insert a second row, and rows that refer to the key would lose
// it.
int find_column(const TriggerData& t) {
    const Relation rel = t.tg_relation;
    const char* const name = t.tg_trigger->tgnargs == 1 ? t.tg_trigger->tgargs[0] : "";
    const int number = SPI_fnumber(RelationGetDescr(rel), name);
    const FormData_pg_attribute* const column =
        number <= 0 ? nullptr : TupleDescAttr(RelationGetDescr(rel), number - 1);
    const char* const problem = column == nullptr              ? "does not exist"
                                : column->atttypid != INT8OID  ? "is no bigint"
                                : column->attgenerated != '\0' ? "is generated"
                                : column->attidentity != '\0'  ? "is an identity column"
                                : bms_is_member(number - FirstLowInvalidHeapAttributeNumber,
                                                RelationGetIndexAttrBitmap(rel, INDEX_ATTR_BITMAP_KEY))
                                    ? "is part of a unique index"
                                    : nullptr;
    if (problem == nullptr) return number;
    ereport(ERROR,
            (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
             errmsg("cannot stamp the rows of \"%s\" for its feed", RelationGetRelationName(rel)),
             errdetail("Column \"%s\", which trigger \"%s\" sets, %s.", name, t.tg_trigger->tgname, problem),
             errhint("DROP TRIGGER %s ON %s; SELECT to_do FROM snowflake_ids.create_feed(%s);",
                     quote_identifier(t.tg_trigger->tgname), name_for_messages(RelationGetRelid(rel)),
                     quote_literal_cstr(name_for_messages(llast_oid(table_and_ancestors(RelationGetRelid(rel)))))),
             errtable(rel)));
}

// What is looked up once for each statement, in FmgrInfo::fn_extra. Nobody can alter a table while a statement writes
// to it.
struct Stamping {
    int column;
    feed::Deletions* keys;  // null until a row is updated
};

}  // namespace

FUNCTION(snowflake_ids_feed_stamp) {
    const TriggerData& t = feed::trigger_data(fcinfo, "feed_stamp", is_before_row_write);
    FmgrInfo& info = *fcinfo->flinfo;
    auto*& found = reinterpret_cast<Stamping*&>(info.fn_extra);
    if (unlikely(found == nullptr)) {
        const int number = find_column(t);
        feed::note_life();
        feed::will_write(RelationGetRelid(t.tg_relation));
        found = static_cast<Stamping*>(MemoryContextAllocZero(info.fn_mcxt, sizeof(Stamping)));
        found->column = number;
    }
    const bool is_update = TRIGGER_FIRED_BY_UPDATE(t.tg_event);
    if (is_update) feed::note_changed_key(t, found->keys, info.fn_mcxt);
    Datum stamp = UInt64GetDatum(U64FromFullTransactionId(GetTopFullTransactionId()));
    bool null = false;
    const HeapTuple row = is_update ? t.tg_newtuple : t.tg_trigtuple;
    const TupleDesc columns = RelationGetDescr(t.tg_relation);
    if (heap_getattr(row, found->column, columns, &null) == stamp && !null) return PointerGetDatum(row);
    null = false;
    return PointerGetDatum(heap_modify_tuple_by_cols(row, columns, 1, &found->column, &stamp, &null));
}

}  // namespace snowflake_ids
