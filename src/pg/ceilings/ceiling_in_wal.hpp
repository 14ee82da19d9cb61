// The WAL ceiling of a database is a time in a relation. No backend issues a tick at or above it. So wherever a row
// with an id was replayed or recovered, a higher ceiling was replayed before.
//
// The relation is a materialized view with one row, because nobody can write into one. Its columns:
//
//   until       whole milliseconds; 1970: new
//   life_id     the life (ledger/begin_life.hpp) that wrote the row
//   lives       ledger::FeedLives, for readers of feeds
//   check_bits  of these
//
// A change is generic WAL on the relation's only page, in place, flushed before it counts. It needs no transaction id,
// so it works in read-only transactions. REFRESH MATERIALIZED VIEW and VACUUM FULL copy the row to a new file.
//
// The functions raise an error if the page is damaged, if the relation is missing, or if its lock is not free before
// the deadline.
#pragma once

#include "ledger/feed_lives.hpp"
#include "ledger/wal_ceiling.hpp"
#include "pg/pg.hpp"
#include "pg/server/deadline.hpp"

namespace snowflake_ids::ceiling_in_wal {

using ledger::WalCeiling;

// What this process knows of the relation. When it may have become another one, without the old ceiling, all this is
// cleared, and generators are set up again.
struct Seen {
    Ceiling ceiling{};        // that of Host::seen_wal(): not above the present one; 0: not yet
    XLogRecPtr position = 0;  // a standby with WAL up to here has the ceiling that was read or lifted last; 0: unknown
    bool life = false;        // the present life is noted; not in recovery
};
extern Seen seen;

// Call it once, when the library is loaded.
void watch();

// The present ceiling, flushed; on a standby, the one that was replayed.
WalCeiling read(const Deadline& deadline);

// Lifts the ceiling to at least `wanted.until`, in a new relation also to the highest ceiling of all slots, and writes
// `wanted.life_id`. Returns the present ceiling, flushed.
WalCeiling lift(const WalCeiling& wanted, const Deadline& deadline);

// As lift(), but only if the ceiling is not above `soon`, and without waiting for another session. Returns the ceiling;
// 0, and no error, if another session has the lock or is flushing, or if the relation is new, missing or damaged.
Ceiling lift_if_free(UnixTime soon, const WalCeiling& wanted);

// The lives that are noted here, flushed; on a standby, as replayed.
ledger::FeedLives lives(const Deadline& deadline);

// Notes a life, unless it is noted. Flushed.
void note_life(const ledger::FeedLife& life, const Deadline& deadline);

// May lower the ceiling. Returns the one before. Only for a forced reset.
WalCeiling exchange(const WalCeiling& c, const Deadline& deadline);

// Does not wait: false also if another session has the lock, or if the relation is missing.
bool is_damaged();

// Gives the relation a new file with the ceiling `c`, unless another session has. Only for its owner, a superuser. Not
// in recovery.
void repair(const WalCeiling& c);

}  // namespace snowflake_ids::ceiling_in_wal
