// Relations that are members of the extension.
#pragma once

#include "pg/pg.hpp"
#include "pg/server/wait.hpp"

extern "C" {
#include "utils/rel.h"
}

namespace snowflake_ids {

// Opens the relation `name` of the schema snowflake_ids, a member of the extension in this database. Null if there is
// no such member of this kind. A relation of that name that is not a member does not count: others may be allowed to
// create one, and generators of all databases would believe what is in it. `known` caches the oid; it is looked up
// again after the extension was dropped and created again.
//
// Waits for the lock as long as there is patience. If the patience ends, the error says who may have the relation
// locked: transactions with DROP EXTENSION or ALTER SEQUENCE do until they end.
Relation open_extension_relation(Oid& known, const char* name, char kind, LOCKMODE lock, const Patience& patience);

// Opens the relation in the same way, but without waiting. Null also if another session has it locked.
Relation open_extension_relation_if_free(Oid& known, const char* name, char kind, LOCKMODE lock);

}  // namespace snowflake_ids
