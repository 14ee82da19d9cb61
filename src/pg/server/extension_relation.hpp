// Opens relations that are members of the extension.
#pragma once

#include "pg/pg.hpp"
#include "pg/server/patience.hpp"

extern "C" {
#include "utils/rel.h"
}

namespace snowflake_ids {

// Opens the relation `name` of the schema snowflake_ids, a member of the extension in this database. Returns null if
// there is no such member of this kind (relkind). A relation of that name that is not a member is ignored: other users
// may be allowed to create one, and generators of all databases would believe what is in it. The caller keeps `known`,
// which is InvalidOid at first; it caches the oid.
//
// Waits for the lock until the patience ends, and then raises an error. A transaction with DROP EXTENSION or ALTER
// SEQUENCE has the relation locked until it ends. With patience.queues, the wait has no limit.
Relation open_extension_relation(Oid& known, const char* name, char kind, LOCKMODE lock, const Patience& patience);

// Opens the relation in the same way, but does not wait: it returns null also if another session has it locked.
Relation open_extension_relation_if_free(Oid& known, const char* name, char kind, LOCKMODE lock);

}  // namespace snowflake_ids
