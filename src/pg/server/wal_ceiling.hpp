// The ceiling that travels with WAL: each database has a sequence relation, a member of the
// extension, that holds a time. No backend issues a tick at or beyond the ceiling of its own
// database, so wherever a row with an id has been replayed or recovered to, a higher ceiling
// was replayed before it: lag, asynchronous commit, prepared transactions, point-in-time
// recovery, cascading standbys and pg_rewind included.
//
//   last_value  Unix milliseconds, sealed: no id of that time or later has been issued
//   log_cnt     the ledger life (ledger/life.hpp) that wrote it; another one means that ids
//               up to the ceiling may exist which our ledger knows nothing of
//
// How it is written: wal_sequence.hpp.
#pragma once

#include "ledger/wal.hpp"
#include "pg/pg.hpp"
#include "pg/server/wait.hpp"

namespace snowflake_ids::wal_ceiling {

using Ceiling = ledger::WalCeiling;

// `forget` is called when the relation may be another one than before: the extension was
// dropped and made again, and the new relation knows nothing of the old ceiling.
void watch(void (*forget)());

// The current ceiling of this database, flushed.
Ceiling read(const Patience& patience);

// For an operator's forced reset only: puts it exactly there. Returns what it was before.
Ceiling set(const Ceiling& c, const Patience& patience);

// A damaged page: see wal_sequence.hpp. What nobody knows any more becomes `c`.
bool is_damaged(const Patience& patience);
void repair(const Ceiling& c, const Patience& patience);

// Raises it to at least `wanted.until_us`, and to that life; a new relation beyond the ceilings of all slots, whoever is
// the first to raise it. Returns what is in force, flushed, in the relation that is there now: a change of it that is
// noticed on the way has called `forget` before.
Ceiling raise(const Ceiling& wanted, const Patience& patience);

// Ahead of need: raises it if it is not beyond `soon_us`, without waiting for another session. Returns until when ids
// may be issued, 0 if another session has the relation: who needs the ceiling will wait for it.
int64 raise_if_free(int64 soon_us, const Ceiling& wanted);

// For ledger/wal.hpp.
struct InDatabase {
    const Patience& patience;

    Ceiling read() const { return wal_ceiling::read(patience); }
    Ceiling raise(const Ceiling& wanted) const { return wal_ceiling::raise(wanted, patience); }
};

}  // namespace snowflake_ids::wal_ceiling
