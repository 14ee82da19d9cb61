// Opens relations that are members of the extension.
#pragma once

#include "pg/pg.hpp"
#include "pg/server/deadline.hpp"

extern "C" {
#include "utils/rel.h"
}

namespace snowflake_ids {

// Raises an error if the extension has no member `name`, or if the lock is not free before the deadline. Other relations
// of the name are ignored: other users may be allowed to create one, and generators of all databases would believe it.
// `known` caches the oid, at first InvalidOid.
Relation open_extension_relation(Oid& known, const char* name, LOCKMODE lock, const Deadline& deadline);

// The same without waiting: null if it is missing, or if another session has it locked.
Relation open_extension_relation_if_free(Oid& known, const char* name, LOCKMODE lock);

}  // namespace snowflake_ids
