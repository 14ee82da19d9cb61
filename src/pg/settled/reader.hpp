// How far ids have settled for a snapshot: it shows every row whose id is earlier. Read ledger/settling.hpp first, then
// settled.cpp.
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

// A snapshot that can be asked about full transaction ids.
struct FullXidSnapshot {
    Snapshot snapshot;
    uint64 next;  // next_xid() after the snapshot was taken

    // A transaction of the snapshot is not later than `next`, and less than 2^32 behind it.
    uint64 full(TransactionId xid) const {
        const auto behind = static_cast<uint32>(static_cast<uint32>(next) - xid);
        return next - behind;
    }
    // True if the transaction had ended before the snapshot was taken. True for 0.
    bool finished(uint64 xid) const {
        if (xid < full(snapshot->xmin)) return true;
        if (xid >= full(snapshot->xmax)) return false;
        return !XidInMVCCSnapshot(static_cast<TransactionId>(xid), snapshot);
    }
};

// The first MaxBackends are those of processes with transactions, and the ledger's Backends have the same index. The
// last ones are those of prepared transactions.
inline PGPROC& process(uint32 i) { return ProcGlobal->allProcs[i]; }

// Each PGPROC for a prepared transaction, in use or not.
template <class Of>
void each_prepared(Of of) {
    const uint32 first = static_cast<uint32>(MaxBackends) + NUM_AUXILIARY_PROCS;
    for (uint32 i = 0; i < static_cast<uint32>(max_prepared_xacts); i++) of(process(first + i));
}

// The transaction may be over.
bool ledger_has_prepared(const ledger::Ledger& shared, uint64 xid);

// Raises an error if there is none, or if it is not an MVCC snapshot, which shows transactions.
Snapshot active_snapshot();

// Raises an error in a parallel worker and on a standby.
Snapshot readers_snapshot();

// Lifts the promise, and returns the time that has settled for this snapshot and table; `never`: nothing has. `table`
// may be writer::every_table. A later call may return a later time: settled.cpp keeps one for a snapshot. Not in
// recovery. Raises the errors of check_stamped(), and one if a ceiling cannot be read or lifted within max_wait.
UnixTime settle(Snapshot snapshot, Oid table, StampFormat format);

// writer::every_table if there is no such argument.
Oid table_argument(FunctionCallInfo fcinfo, int n);

}  // namespace snowflake_ids
