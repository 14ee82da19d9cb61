// Finds the triggers of a feed, and checks that they miss no row.
#include "pg/feed/triggers.hpp"

#include <algorithm>
#include <span>

extern "C" {
#include "access/relation.h"
#include "catalog/namespace.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_trigger.h"
#include "commands/trigger.h"
#include "executor/spi.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"
}

#include "pg/feed/errors.hpp"

namespace snowflake_ids::feed {

namespace {

std::span<const Trigger> triggers_of(Relation relation) {
    const TriggerDesc* const t = relation->trigdesc;
    return t == nullptr ? std::span<const Trigger>{} : std::span{t->triggers, static_cast<std::size_t>(t->numtriggers)};
}

bool may_change_row(const Trigger& t) {
    return TRIGGER_FOR_BEFORE(t.tgtype) && TRIGGER_FOR_ROW(t.tgtype) && t.tgenabled != TRIGGER_DISABLED;
}

// Null if there is none. The triggers of a relation are in the order in which they fire.
const Trigger* stamp_trigger(Relation relation, Oid feed_stamp) {
    const auto triggers = triggers_of(relation);
    const auto found =
        std::ranges::find_if(triggers, [&](const Trigger& t) { return t.tgfoid == feed_stamp && may_change_row(t); });
    return found == triggers.end() ? nullptr : &*found;
}

const char* column_of(const Trigger& stamp) { return stamp.tgnargs == 1 ? stamp.tgargs[0] : ""; }

bool stamps_each_row(const Trigger& t) {
    return TRIGGER_FOR_INSERT(t.tgtype) && TRIGGER_FOR_UPDATE(t.tgtype) && t.tgnattr == 0 && t.tgqual == nullptr;
}

}  // namespace

Oid feed_function(const char* name) {
    return GetSysCacheOid3(PROCNAMEARGSNSP, Anum_pg_proc_oid, CStringGetDatum(name),
                           PointerGetDatum(buildoidvector(nullptr, 0)),
                           ObjectIdGetDatum(get_namespace_oid("snowflake_ids", true)));
}

int stamp_column(Oid table) {
    const Oid feed_stamp = feed_function("feed_stamp");
    const Relation relation = try_relation_open(table, AccessShareLock);
    if (relation == nullptr) {
        ereport(ERROR, (errcode(ERRCODE_UNDEFINED_TABLE), errmsg("relation with OID %u does not exist", table),
                        errhint("Name the table into which rows are inserted.")));
    }
    const Trigger* const stamp = stamp_trigger(relation, feed_stamp);
    const int number = stamp == nullptr ? 0 : SPI_fnumber(RelationGetDescr(relation), column_of(*stamp));
    relation_close(relation, AccessShareLock);
    if (number <= 0) fail_unsound(table, psprintf("No trigger stamps the rows of \"%s\".", get_rel_name(table)));
    return number;
}

bool has_trigger(Relation relation, Oid function, bool (*wanted)(const Trigger&)) {
    return std::ranges::any_of(triggers_of(relation),
                               [&](const Trigger& t) { return t.tgfoid == function && wanted(t); });
}

bool is_always(const Trigger& t) { return t.tgenabled == TRIGGER_FIRES_ALWAYS; }

// A trigger that is not ALWAYS lets rows of a subscription pass, and those of a session that sets
// session_replication_role. The triggers of a partitioned table are those that its partitions get.
void check_triggers(Oid table, Relation part, const Functions& f, const char* column, bool deletes) {
    const char* const name = RelationGetRelationName(part);
    const Trigger* const stamp = stamp_trigger(part, f.feed_stamp);
    if (stamp == nullptr || strcmp(column_of(*stamp), column) != 0)
        fail_unsound(table, psprintf("No trigger stamps the rows of \"%s\".", name));
    if (!stamps_each_row(*stamp))
        fail_unsound(table,
                     psprintf("Trigger \"%s\" of \"%s\" does not stamp each INSERT and UPDATE.", stamp->tgname, name));
    for (const Trigger& t : triggers_of(part)) {
        if (!is_always(t) && (&t == stamp || (deletes && t.tgfoid == f.note_deleted)))
            fail_unsound(table, psprintf("Trigger \"%s\" of \"%s\" is not enabled ALWAYS.", t.tgname, name));
        if (&t > stamp && may_change_row(t) && (t.tgtype & (TRIGGER_TYPE_INSERT | TRIGGER_TYPE_UPDATE)) != 0)
            fail_unsound(
                table, psprintf("Trigger \"%s\" of \"%s\" fires after the stamp, and may change it.", t.tgname, name));
    }
    if (deletes &&
        !has_trigger(part, f.note_deleted, [](const Trigger& t) { return TRIGGER_FOR_DELETE(t.tgtype) != 0; }))
        fail_unsound(table, psprintf("No trigger notes what is deleted from \"%s\".", name));
}

}  // namespace snowflake_ids::feed
