// Refuses a feed whose deletions can come past the triggers that note them (promise/feed.cpp).
#include "pg/settled/stamped_table.hpp"

extern "C" {
#include "commands/trigger.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
}

namespace snowflake_ids {

void check_deletions_are_noted(Oid table, Relation relation, const TriggerDesc* triggers, bool subscribed) {
    for (int i = 0; triggers != nullptr && i < triggers->numtriggers; i++) {
        const Trigger& t = triggers->triggers[i];
        const bool fires =
            t.tgenabled == TRIGGER_FIRES_ALWAYS || (t.tgenabled == TRIGGER_FIRES_ON_ORIGIN && !subscribed);
        if (fires || t.tgisinternal || strcmp(symbol_of(t.tgfoid), "snowflake_ids_note_deleted") != 0) continue;
        ereport(
            ERROR,
            (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
             errmsg("a reader of \"%s\" could miss deletions", get_rel_name(table)),
             errdetail("Trigger \"%s\" of \"%s\" does not fire%s.", t.tgname, RelationGetRelationName(relation),
                       t.tgenabled == TRIGGER_FIRES_ON_ORIGIN ? " for rows of a subscription" : ""),
             errhint(
                 "Type what SELECT to_do FROM snowflake_ids.check_feed(%s) WHERE NOT ok; says. Then readers copy the table again.",
                 quote_literal_cstr(
                     quote_qualified_identifier(get_namespace_name(get_rel_namespace(table)), get_rel_name(table))))));
    }
}

}  // namespace snowflake_ids
