// The WAL ceiling of a database is a time in a sequence relation, which is a member of the extension. No backend issues
// a tick at or above the ceiling of its own database. So wherever a row with an id was replayed or recovered, a higher
// ceiling was replayed before it. This includes lag, asynchronous commit, prepared transactions, point-in-time
// recovery, cascading standbys and pg_rewind.
//
//   last_value  Unix milliseconds, sealed (ledger/sealed.hpp): no id of that time or later has been issued. 0: the
//               relation is new
//   log_cnt     the life (ledger/life.hpp) that wrote it. If it is another life, ids up to the ceiling may
//               exist that our ledger does not know
//
// A change is written as generic WAL on the relation's only page, and flushed before it counts. That needs no
// transaction id, so it works in read-only transactions.
//
// A page that is not a sequence's, or a time with wrong check bits, is an error; repair() corrects it.
#pragma once

#include "ledger/wal_ceiling.hpp"
#include "pg/pg.hpp"
#include "pg/server/wait.hpp"

namespace snowflake_ids::wal_ceiling {

using ledger::WalCeiling;

// From now on, `forget` is called when the relation may be another one than before: after the extension was dropped and
// created again, the new relation does not know the old ceiling.
void watch(void (*forget)());

// The present ceiling of this database, whose WAL is flushed; on a standby, the ceiling that has been replayed.
WalCeiling read(const Patience& patience);

// Lifts the ceiling to at least `wanted.until`, and writes that life. A relation that was just created is lifted
// above the ceilings of all slots, whichever session is first. Returns the ceiling in force, flushed, of the relation
// that exists now. If that turns out to be a new relation, `forget` was called before.
WalCeiling lift(const WalCeiling& wanted, const Patience& patience);

// Lifts the ceiling early: only if it is not above `soon`, and without waiting for another session. Returns until when
// ids may be issued; 0: another session has the relation locked, or it is new, missing, unlogged or damaged. A claim
// that needs the ceiling will wait, or get the error.
Ceiling lift_if_free(UnixTime soon, const WalCeiling& wanted);

// A standby that has WAL up to this position has the ceiling that read(), lift() or lift_if_free() has returned last.
XLogRecPtr position();

// For an operator's forced reset only: sets the ceiling to exactly `c`. Returns what it was before.
WalCeiling replace(const WalCeiling& c, const Patience& patience);

// True if the page or its time is damaged. Raises an error for damage that repair() cannot correct.
bool is_damaged(const Patience& patience);

// Creates the page again with the ceiling `c`, if it is damaged. Not in recovery.
void repair(const WalCeiling& c, const Patience& patience);

// The Wal of ledger/wal_ceiling.hpp.
struct InDatabase {
    const Patience& patience;

    WalCeiling read() const { return wal_ceiling::read(patience); }
    WalCeiling lift(const WalCeiling& wanted) const { return wal_ceiling::lift(wanted, patience); }
};

}  // namespace snowflake_ids::wal_ceiling
