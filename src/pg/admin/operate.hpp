// What the functions that move generators share. A `Generator&` must be set up. `what` is the word for an id in errors.
#pragma once

#include "ledger/formats.hpp"
#include "pg/generate/generator.hpp"

namespace snowflake_ids {

// Raises an error if a time is more than a minute ahead of the clock.
void check_not_far_ahead(UnixTime id_time, const char* what);

// After this the generator issues nothing at or before `tick`, also after a crash. Waits for the lock of a relation
// without a limit. Raises an error if a ceiling cannot be lifted.
void lift_past(Generator& g, uint64 tick);

// Raises an error if a user who is no superuser forces.
bool force_argument(FunctionCallInfo fcinfo, int n);

// sno, mastic, snowflake_si or layout; an error for other texts.
ledger::SqlFormat format_argument(FunctionCallInfo fcinfo, int n);

}  // namespace snowflake_ids
