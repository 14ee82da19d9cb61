#include "pg/extension.hpp"

extern "C" {
#include "access/relation.h"
#include "catalog/dependency.h"
#include "catalog/pg_class.h"
#include "commands/extension.h"
#include "utils/lsyscache.h"
}

namespace snowflake_ids {

namespace {

Oid look_up(const char* name) {
    const Oid extension = get_extension_oid("snowflake_ids", false);
    const Oid relation = get_relname_relid(name, get_extension_schema(extension));
    if (!OidIsValid(relation) || getExtensionOfObject(RelationRelationId, relation) != extension) return InvalidOid;
    return relation;
}

}  // namespace

Relation open_extension_relation(Oid& known, const char* name, char kind, LOCKMODE lock) {
    Relation rel = OidIsValid(known) ? try_relation_open(known, lock) : nullptr;
    if (rel != nullptr) return rel;
    known = look_up(name);
    rel = OidIsValid(known) ? try_relation_open(known, lock) : nullptr;
    if (rel == nullptr || rel->rd_rel->relkind == kind) return rel;
    relation_close(rel, lock);
    known = InvalidOid;
    return nullptr;
}

}  // namespace snowflake_ids
