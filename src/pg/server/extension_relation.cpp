// Finds and locks members of the extension.
#include "pg/server/extension_relation.hpp"

#include "pg/server/settings.hpp"

extern "C" {
#include "access/relation.h"
#include "catalog/dependency.h"
#include "catalog/namespace.h"
#include "catalog/pg_class.h"
#include "commands/extension.h"
#include "storage/lmgr.h"
#include "utils/lsyscache.h"
}

namespace snowflake_ids {

namespace {

Oid look_up(const char* name) {
    const Oid extension = get_extension_oid("snowflake_ids", false);
    const Oid relation = get_relname_relid(name, get_namespace_oid("snowflake_ids", true));
    return getExtensionOfObject(RelationRelationId, relation) == extension ? relation : InvalidOid;
}

// If `busy` is null, waits in the lock's queue, without a limit. Otherwise, if another session has the lock, returns
// null and sets `*busy`.
Relation lock_and_open(Oid relation, LOCKMODE lock, bool* busy) {
    if (!OidIsValid(relation)) return nullptr;
    if (busy == nullptr) {
        LockRelationOid(relation, lock);
    } else if (!ConditionalLockRelationOid(relation, lock)) {
        *busy = true;
        return nullptr;
    }
    Relation rel = try_relation_open(relation, NoLock);
    if (rel == nullptr) UnlockRelationOid(relation, lock);
    return rel;
}

Relation find_and_open(Oid& known, const char* name, LOCKMODE lock, bool* busy) {
    Relation rel = lock_and_open(known, lock, busy);
    if (rel != nullptr || (busy != nullptr && *busy)) return rel;
    known = look_up(name);
    return lock_and_open(known, lock, busy);
}

}  // namespace

// The lock's queue has no limit, so this tries again and again, unless deadline.queues.
Relation open_extension_relation(Oid& known, const char* name, LOCKMODE lock, const Deadline& deadline) {
    for (Attempts attempts;; attempts.pause(deadline)) {
        bool busy = false;
        Relation rel = find_and_open(known, name, lock, deadline.queues ? nullptr : &busy);
        if (rel != nullptr) return rel;
        if (!busy) {
            ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                            errmsg("relation \"snowflake_ids.%s\" of extension snowflake_ids is missing", name),
                            errhint("Run ALTER EXTENSION snowflake_ids UPDATE, or create the extension again.")));
        }
        if (!deadline.is_over()) continue;
        ereport(
            ERROR,
            (errcode(ERRCODE_LOCK_NOT_AVAILABLE),
             errmsg("gave up waiting for relation \"snowflake_ids.%s\" of extension snowflake_ids after %d ms", name,
                    settings::max_wait_ms),
             errdetail("Another session has locked it."),
             errhint(
                 "A transaction with DROP EXTENSION, ALTER EXTENSION or REFRESH MATERIALIZED VIEW may be open. Look for it in pg_locks, and end it. The setting snowflake_ids.max_wait limits the wait.")));
    }
}

Relation open_extension_relation_if_free(Oid& known, const char* name, LOCKMODE lock) {
    bool busy = false;
    return find_and_open(known, name, lock, &busy);
}

}  // namespace snowflake_ids
