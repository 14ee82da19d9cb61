// Synchronous standbys: which WAL they have, and how a COMMIT is made to wait for them. The server itself waits, after
// its own rules; nothing here waits.
#pragma once

#include "pg/pg.hpp"

namespace snowflake_ids::standby {

// True if the COMMIT of this transaction would wait for a standby, if the transaction wrote something.
bool commits_wait();

// True if as many standbys as synchronous_standby_names asks for have said that they have flushed the WAL up to
// `position`. It is what the standbys say now. So it needs no memory of earlier COMMITs, some of which may have ended
// their wait because it was cancelled, or because the setting was changed.
bool have_flushed(XLogRecPtr position);

// The COMMIT of this transaction waits for the standbys, until they have all WAL so far. Call it before the commit,
// outside recovery.
void make_commit_wait();

}  // namespace snowflake_ids::standby
