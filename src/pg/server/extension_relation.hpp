// Opens relations that are members of the extension.
#pragma once

#include "pg/pg.hpp"
#include "pg/server/deadline.hpp"

extern "C" {
#include "utils/rel.h"
}

namespace snowflake_ids {

// Null if the extension has no member `name`. Other relations of the name are ignored: other users may be allowed to
// create one, and generators of all databases would believe it. `known` caches the oid, at first InvalidOid. Raises an
// error if the lock is not free before the deadline.
Relation open_extension_relation(Oid& known, const char* name, LOCKMODE lock, const Deadline& deadline);

// The same without waiting: null also if another session has it locked.
Relation open_extension_relation_if_free(Oid& known, const char* name, LOCKMODE lock);

}  // namespace snowflake_ids
