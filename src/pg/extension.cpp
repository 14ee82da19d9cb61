#include "pg/extension.hpp"

extern "C" {
#include "catalog/dependency.h"
#include "catalog/pg_class.h"
#include "commands/extension.h"
#include "utils/lsyscache.h"
}

namespace snowflake_ids {

Oid extension_relation(const char* name) {
    const Oid extension = get_extension_oid("snowflake_ids", false);
    const Oid relation = get_relname_relid(name, get_extension_schema(extension));
    if (!OidIsValid(relation) || getExtensionOfObject(RelationRelationId, relation) != extension) return InvalidOid;
    return relation;
}

}  // namespace snowflake_ids
