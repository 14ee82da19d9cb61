// Which WAL the synchronous standbys have. PostgreSQL's own COMMIT waits for them.
#pragma once

#include "pg/pg.hpp"

namespace snowflake_ids::synchronous_standbys {

// True if the COMMIT of a transaction that has written something would wait for a standby.
bool commits_wait();

// True if as many standbys as synchronous_standby_names asks for now report the WAL up to `position` as flushed.
// Earlier COMMITs prove nothing: they may have been cancelled, or the setting changed. Call it only if commits_wait().
bool have_flushed(XLogRecPtr position);

// Up to this WAL, PostgreSQL has released the transactions that waited for standbys, since this server started.
XLogRecPtr released();

// COMMIT will wait until the standbys have all WAL so far. Call it before the commit, outside recovery.
void make_commit_wait();

}  // namespace snowflake_ids::synchronous_standbys
