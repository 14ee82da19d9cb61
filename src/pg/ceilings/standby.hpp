// Synchronous standbys: which WAL they have, and how a COMMIT is made to wait for them. Nothing here waits, because the
// server's own COMMIT does.
#pragma once

#include "pg/pg.hpp"

namespace snowflake_ids::standby {

// True if synchronous_standby_names has any.
bool are_named();

// True if the COMMIT of a transaction that has written something would wait for a standby, with the present settings.
bool commits_wait();

// True if as many standbys as synchronous_standby_names asks for have reported that they have flushed the WAL up to
// `position`. This is what the standbys report now. It does not rely on earlier COMMITs, some of which may have stopped
// waiting because they were cancelled, or because the setting was changed. Call it only if commits_wait().
bool have_flushed(XLogRecPtr position);

// True if the synchronous standbys have ever flushed the WAL up to `position` since this server started, also if they
// are away now.
bool had_flushed(XLogRecPtr position);

// Makes the COMMIT of this transaction wait until the standbys have all WAL so far. Call it before the commit, outside
// recovery.
void make_commit_wait();

}  // namespace snowflake_ids::standby
