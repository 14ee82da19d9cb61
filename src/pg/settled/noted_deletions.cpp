// Refuses a feed whose deletions can come past the triggers that note them (promise/feed.cpp).
#include "pg/settled/stamped_table.hpp"

extern "C" {
#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "catalog/pg_trigger.h"
#include "commands/trigger.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
}

namespace snowflake_ids {

void check_deletions_are_noted(Oid table, Oid relation, bool subscribed) {
    const Relation triggers = table_open(TriggerRelationId, AccessShareLock);
    ScanKeyData key;
    ScanKeyInit(&key, Anum_pg_trigger_tgrelid, BTEqualStrategyNumber, F_OIDEQ, ObjectIdGetDatum(relation));
    SysScanDesc scan = systable_beginscan(triggers, TriggerRelidNameIndexId, true, nullptr, 1, &key);
    for (HeapTuple tuple; HeapTupleIsValid(tuple = systable_getnext(scan));) {
        const auto& t = *reinterpret_cast<Form_pg_trigger>(GETSTRUCT(tuple));
        const bool fires =
            t.tgenabled == TRIGGER_FIRES_ALWAYS || (t.tgenabled == TRIGGER_FIRES_ON_ORIGIN && !subscribed);
        if (fires || t.tgisinternal || strcmp(symbol_of(t.tgfoid), "snowflake_ids_note_deleted") != 0) continue;
        ereport(
            ERROR,
            (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
             errmsg("a reader of \"%s\" could miss deletions", get_rel_name(table)),
             errdetail("Trigger \"%s\" of \"%s\" does not fire%s.", NameStr(t.tgname), get_rel_name(relation),
                       t.tgenabled == TRIGGER_FIRES_ON_ORIGIN ? " for rows of a subscription" : ""),
             errhint(
                 "Type what SELECT to_do FROM snowflake_ids.check_feed(%s) WHERE NOT ok; says. Then readers copy the table again.",
                 quote_literal_cstr(
                     quote_qualified_identifier(get_namespace_name(get_rel_namespace(table)), get_rel_name(table))))));
    }
    systable_endscan(scan);
    table_close(triggers, AccessShareLock);
}

}  // namespace snowflake_ids
