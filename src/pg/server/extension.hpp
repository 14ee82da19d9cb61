// Relations that are members of the extension.
#pragma once

#include "pg/pg.hpp"
#include "pg/server/wait.hpp"

extern "C" {
#include "utils/rel.h"
}

namespace snowflake_ids {

// Opens the relation `name` of the extension in this database. Null: it has none of that kind, whatever else has that
// name in its schema. Others may be allowed to create there, and generators of all databases would believe what they
// find. `known`: found once; looked up again when it is gone (the extension was dropped and made again).
//
// `busy`: does not wait for the lock, and is set if another session has the relation locked; null too then.
Relation open_extension_relation(Oid& known, const char* name, char kind, LOCKMODE lock, bool* busy = nullptr);

// The same for a call that may wait for the lock as long as it has patience, or in the server's queue. The end of that is an error that says who
// may have the relation locked: transactions with DROP EXTENSION or ALTER SEQUENCE do until they end.
Relation open_extension_relation(Oid& known, const char* name, char kind, LOCKMODE lock, const Patience& patience);

}  // namespace snowflake_ids
