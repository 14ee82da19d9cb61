// Relations that are members of the extension.
#pragma once

#include "pg/pg.hpp"

namespace snowflake_ids {

// The relation `name` of the extension in this database. InvalidOid: it has none, whatever else has that name in its
// schema. Others may be allowed to create there, and generators of all databases would believe what they find.
Oid extension_relation(const char* name);

}  // namespace snowflake_ids
