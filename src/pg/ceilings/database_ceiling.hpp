// The WAL ceiling of a database is a time in a sequence relation, which is a member of the extension. No backend issues
// a tick at or above the ceiling of its own database. So wherever a row with an id was replayed or recovered, a higher
// ceiling was replayed before it. This is also true with replication lag, asynchronous commit, prepared transactions,
// point-in-time recovery, cascading standbys and pg_rewind.
//
//   last_value  Unix milliseconds, sealed (stored together with check bits, ledger/sealed.hpp). No id of that time or
//               later has been issued. If the time is 0, the relation is new
//   log_cnt     the life (ledger/life.hpp) that wrote last_value. If it is not the present life of this server, ids up
//               to the ceiling may exist that the shared memory of this server does not know
//
// A change is written as generic WAL on the relation's only page, and flushed before it counts. That needs no
// transaction id, so it works in read-only transactions.
//
// If the page is not that of a sequence, or if its time has wrong check bits, the functions raise an error. repair()
// creates the page again. They also raise an error if the sequence is missing or unlogged, or if its lock is not free
// before the patience ends.
#pragma once

#include "ledger/wal_ceiling.hpp"
#include "pg/pg.hpp"
#include "pg/server/patience.hpp"

namespace snowflake_ids::database_ceiling {

using ledger::WalCeiling;

// From now on, `forget` is called when the relation may have become another one. If the extension was dropped and
// created again, the new relation does not contain the old ceiling.
void watch(void (*forget)());

// The present ceiling of this database, whose WAL is flushed; on a standby, the ceiling that has been replayed.
WalCeiling read(const Patience& patience);

// Lifts the ceiling to at least `wanted.until`, and writes `wanted.life_id` next to it. If the relation was just
// created, it gets at least the highest ceiling of all slots. Returns the ceiling that the relation has now, flushed.
// If it is another relation than at the last call, `forget` (see watch()) was called before this returns.
WalCeiling lift(const WalCeiling& wanted, const Patience& patience);

// Lifts the ceiling early: only if it is not above `soon`, and without waiting for another session. Returns until when
// ids may be issued. It returns 0, and raises no error, if another session has the relation locked, or if the relation
// is new, missing, unlogged or damaged. A session that needs the ceiling calls lift(), and waits or gets the error.
Ceiling lift_if_free(UnixTime soon, const WalCeiling& wanted);

// A position in WAL. A standby that has WAL up to there has the ceiling that read(), lift() or lift_if_free() has
// returned last in this process.
XLogRecPtr position();

// Sets the ceiling to exactly `c`, and returns the ceiling before. Only a forced reset by an operator calls this,
// because it can lower the ceiling.
WalCeiling replace(const WalCeiling& c, const Patience& patience);

// True if the page or its time is damaged. Raises an error if the sequence is missing or unlogged, or if its lock is
// not free before the patience ends.
bool is_damaged(const Patience& patience);

// Creates the page again with the ceiling `c`, and flushes it. If the page is not damaged, it stays as it is, because
// another session may have repaired it. Do not call this in recovery.
void repair(const WalCeiling& c, const Patience& patience);

// The `Wal` that the functions in ledger/wal_ceiling.hpp take: the ceiling of this database.
struct InDatabase {
    const Patience& patience;

    WalCeiling read() const { return database_ceiling::read(patience); }
    WalCeiling lift(const WalCeiling& wanted) const { return database_ceiling::lift(wanted, patience); }
};

}  // namespace snowflake_ids::database_ceiling
