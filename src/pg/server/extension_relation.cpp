// Finds and locks members of the extension.
#include "pg/server/extension_relation.hpp"

#include <iterator>

#include "pg/server/settings.hpp"
#include "pg/server/shared_ledger.hpp"

extern "C" {
#include "access/relation.h"
#include "catalog/dependency.h"
#include "catalog/namespace.h"
#include "catalog/pg_class.h"
#include "commands/extension.h"
#include "pgstat.h"
#include "storage/lmgr.h"
#include "utils/lsyscache.h"
}

namespace snowflake_ids {

namespace {

Oid look_up(const char* name) {
    const Oid extension = get_extension_oid("snowflake_ids", false);
    const Oid schema = get_namespace_oid("snowflake_ids", true);
    if (!OidIsValid(schema)) return InvalidOid;
    const Oid relation = get_relname_relid(name, schema);
    if (!OidIsValid(relation) || getExtensionOfObject(RelationRelationId, relation) != extension) return InvalidOid;
    return relation;
}

// Where a session leaves the oid of the relation `name`, so that new sessions need not read catalogs:
//
//   bits 63-32  oid of the database
//   bits 31-0   oid of the relation
//
// Relations may share a word, so a reader compares database and name. Null if the shared memory is not attached,
// because reading a layout must not need that.
ledger::Word* shared_oid_of(const char* name) {
    const ledger::Ledger* shared = ledger_if_attached();
    if (shared == nullptr) return nullptr;
    std::uint64_t hash = MyDatabaseId;
    for (const char* c = name; *c != '\0'; c++) hash = hash * 31 + static_cast<unsigned char>(*c);
    auto& relations = shared->header->relations;
    return &relations[hash * 0x9e3779b97f4a7c15 >> 32 & (std::size(relations) - 1)];
}

// If `busy` is null, waits in the lock's queue, without a limit. Otherwise, if another session has the lock, returns
// null and sets `*busy`.
Relation try_open(Oid relation, LOCKMODE lock, bool* busy) {
    if (!OidIsValid(relation)) return nullptr;
    if (busy == nullptr) {
        LockRelationOid(relation, lock);
    } else if (!ConditionalLockRelationOid(relation, lock)) {
        *busy = true;
        return nullptr;
    }
    // try_relation_open() also looks into a cache that a new session would have to fill.
    Relation rel = RelationIdGetRelation(relation);
    if (rel == nullptr) {
        UnlockRelationOid(relation, lock);
        return nullptr;
    }
    pgstat_init_relation(rel);
    return rel;
}

// Tries `known`, then the oid in shared memory, then the catalogs.
Relation find_and_open(Oid& known, const char* name, char kind, LOCKMODE lock, bool* busy) {
    if (busy != nullptr) *busy = false;
    const auto is_busy = [&] { return busy != nullptr && *busy; };
    Relation rel = try_open(known, lock, busy);
    if (rel != nullptr || is_busy()) return rel;

    ledger::Word* before = shared_oid_of(name);
    const std::uint64_t word = before != nullptr ? before->load() : 0;
    if (word >> 32 == MyDatabaseId) {
        const auto guess = static_cast<Oid>(word);
        rel = try_open(guess, lock, busy);
        if (is_busy()) return nullptr;
        if (rel != nullptr) {
            if (rel->rd_rel->relkind == kind && strcmp(RelationGetRelationName(rel), name) == 0) {
                known = guess;
                return rel;
            }
            relation_close(rel, lock);
        }
    }

    known = look_up(name);
    rel = try_open(known, lock, busy);
    if (rel == nullptr) return nullptr;
    if (rel->rd_rel->relkind == kind) {
        if (before != nullptr) before->store(std::uint64_t{MyDatabaseId} << 32 | known);
        return rel;
    }
    relation_close(rel, lock);
    known = InvalidOid;
    return nullptr;
}

}  // namespace

// The lock's queue has no limit, so this tries again and again, unless deadline.queues.
Relation open_extension_relation(Oid& known, const char* name, char kind, LOCKMODE lock, const Deadline& deadline) {
    if (deadline.queues) return find_and_open(known, name, kind, lock, nullptr);
    for (Attempts attempts;; attempts.pause(deadline)) {
        bool busy = false;
        Relation rel = find_and_open(known, name, kind, lock, &busy);
        if (!busy) return rel;
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

Relation open_extension_relation_if_free(Oid& known, const char* name, char kind, LOCKMODE lock) {
    bool busy = false;
    return find_and_open(known, name, kind, lock, &busy);
}

}  // namespace snowflake_ids
