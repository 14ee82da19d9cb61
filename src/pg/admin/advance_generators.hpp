// What the functions that move generators share.
#pragma once

#include "ledger/formats.hpp"
#include "pg/pg.hpp"

namespace snowflake_ids {

// Raises an error if a time is more than a minute ahead of the clock.
void check_not_far_ahead(UnixTime id_time, const char* what);

// Raises an error if it is true and the user is no superuser.
bool force_argument(FunctionCallInfo fcinfo, int n);

// sno, mastic, snowflake_si or layout; an error for other texts.
ledger::SqlFormat format_argument(FunctionCallInfo fcinfo, int n);

}  // namespace snowflake_ids
