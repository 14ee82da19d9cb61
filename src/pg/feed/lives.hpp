// The lives of feeds (ledger/feed_lives.hpp) in this database.
#pragma once

#include "ledger/feed_lives.hpp"
#include "pg/pg.hpp"

namespace snowflake_ids::feed {

// Notes the present life in this database, unless it is noted, and waits for synchronous standbys. Call it before a
// stamp or a position is made. Not while a query is planned, and not in recovery.
void note_life();

// Makes its id if no process has made it yet. Not in recovery.
uint64 present_life();

// The lives that are noted. Outside recovery, also the present one as it would be noted now.
ledger::FeedLives all_lives();

}  // namespace snowflake_ids::feed
