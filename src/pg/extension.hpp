// Relations that are members of the extension.
#pragma once

#include "pg/pg.hpp"

extern "C" {
#include "utils/rel.h"
}

namespace snowflake_ids {

// Opens the relation `name` of the extension in this database. Null: it has none of that kind, whatever else has that
// name in its schema. Others may be allowed to create there, and generators of all databases would believe what they
// find. `known`: found once; looked up again when it is gone (the extension was dropped and made again).
Relation open_extension_relation(Oid& known, const char* name, char kind, LOCKMODE lock);

}  // namespace snowflake_ids
