// Finds how far the ids of this database have settled for a snapshot. The result is a time, and the snapshot shows
// every row whose id is earlier. The protocol is in ledger/settling.hpp.
#pragma once

#include "ledger/formats.hpp"
#include "ledger/memory.hpp"
#include "pg/pg.hpp"
#include "pg/settled/stamped_table.hpp"

extern "C" {
#include "access/twophase.h"
#include "storage/proc.h"
#include "utils/snapmgr.h"
}

namespace snowflake_ids {

// A snapshot that can be asked about full transaction ids, although it contains only 32-bit ones.
struct View {
    Snapshot snapshot;
    uint64 next;  // what next_xid() was after the snapshot was taken

    // The full id of a transaction of the snapshot. It is not later than `next`, and less than 2^32 behind it.
    uint64 full(TransactionId xid) const {
        const auto behind = static_cast<uint32>(static_cast<uint32>(next) - xid);
        return next - behind;
    }
    // True if the transaction with this full id had ended before the snapshot was taken. True for 0.
    bool finished(uint64 xid) const {
        if (xid < full(snapshot->xmin)) return true;
        if (xid >= full(snapshot->xmax)) return false;
        return !XidInMVCCSnapshot(static_cast<TransactionId>(xid), snapshot);
    }
};

// The PGPROC with this index. The first MaxBackends are those of processes with transactions, and the Backend of such a
// process in the ledger has the same index. The last ones are those of prepared transactions.
inline PGPROC& process(uint32 i) { return ProcGlobal->allProcs[i]; }

// Calls `of(place)` for each PGPROC that PostgreSQL has for a prepared transaction, in use or not.
template <class Of>
void each_prepared(Of of) {
    const uint32 first = static_cast<uint32>(MaxBackends) + NUM_AUXILIARY_PROCS;
    for (uint32 i = 0; i < static_cast<uint32>(max_prepared_xacts); i++) of(process(first + i));
}

// True if the ledger's table of prepared transactions contains the transaction with this full id. It may be over.
bool ledger_has_prepared(const ledger::Ledger& shared, uint64 xid);

// The active snapshot. Raises an error if there is none, or if it is not an MVCC snapshot, which shows transactions.
Snapshot active_snapshot();

// The active snapshot, of a reader of settled ids. Raises an error in a parallel worker and on a standby.
Snapshot readers_snapshot();

// Lifts the promise, and returns the time that has settled for this snapshot and table. `never` (before all times):
// nothing has settled. `table` may be writer::every_table. A later call may return a later time, so a snapshot that
// must have one time only keeps it (settled.cpp). Not in recovery. Raises the errors of check_stamped(), and an error if
// a ceiling cannot be read or lifted within max_wait.
UnixTime settle(Snapshot snapshot, Oid table, StampFormat format);

// The promise stays so far behind the clock. A session that takes longer between its claim and its look at the promise
// may have to claim again.
inline constexpr microseconds promise_slack = milliseconds{5};

// The time just after the last id that any generator may have issued; `never` if there is no generator.
UnixTime issued_until(const ledger::Ledger& shared);

// The oid of the table in argument `n`. If the function has no such argument, it is writer::every_table.
Oid table_argument(FunctionCallInfo fcinfo, int n);

}  // namespace snowflake_ids
