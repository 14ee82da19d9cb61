// Core errors as PostgreSQL errors: one table gives SQLSTATE, message, detail and hint.
#pragma once

#include "core/error.hpp"
#include "pg/pg.hpp"

namespace snowflake_ids {

// Raises the error of a value `shown` (text as the user gave it, may be null) given for
// a type or function argument called `what` ("sno", "gid", "machine id" …).
// With a soft error context the error is saved there instead and the call returns.
void report(Error error, const char* what, const char* shown, Node* escontext = nullptr);

}  // namespace snowflake_ids
