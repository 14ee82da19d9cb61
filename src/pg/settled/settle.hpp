// How far the ids of this database have settled for a snapshot. The protocol is in ledger/settling.hpp.
#pragma once

#include <algorithm>

#include "core/known_layouts.hpp"
#include "core/sno.hpp"
#include "ledger/memory.hpp"
#include "pg/pg.hpp"
#include "pg/settled/table_writers.hpp"

extern "C" {
#include "access/twophase.h"
#include "storage/proc.h"
#include "utils/snapmgr.h"
}

namespace snowflake_ids {

// What a snapshot shows of transactions, by full transaction id.
struct View {
    Snapshot snapshot;
    uint64 next;  // a full transaction id that is later than the snapshot

    // The full id of a transaction.
    uint64 full(TransactionId xid) const {
        const auto behind = static_cast<uint32>(static_cast<uint32>(next) - xid);
        return next - behind;
    }
    // True if the transaction has ended before the snapshot was taken.
    bool finished(uint64 xid) const {
        if (xid < full(snapshot->xmin)) return true;
        if (xid >= full(snapshot->xmax)) return false;
        return !XidInMVCCSnapshot(static_cast<TransactionId>(xid), snapshot);
    }
};

// The longest tick of the ids for which the time of snowflake_ids_settled() is right: that of all built-in formats. It
// is a constant, because the time must not depend on which layouts there are: a layout may be created, and used, while
// a query with that time runs. For layouts with a longer tick there is snowflake_settled(layout).
inline constexpr microseconds longest_tick = milliseconds{10};

constexpr bool is_longest() {
    microseconds found = sno::timeline.tick_length;
    for (const KnownLayout& known : known_layouts) found = std::max(found, known.layout.timeline.tick_length);
    return found == longest_tick;
}
static_assert(is_longest());

// The process with this index. Its Backend in the ledger has the same index.
inline PGPROC& process(uint32 i) { return ProcGlobal->allProcs[i]; }

// Calls `of(process)` for each place that PostgreSQL has for a prepared transaction.
template <class Of>
void each_prepared(Of of) {
    const uint32 first = static_cast<uint32>(MaxBackends) + NUM_AUXILIARY_PROCS;
    for (uint32 i = 0; i < static_cast<uint32>(max_prepared_xacts); i++) of(process(first + i));
}

// True if the ledger's table of prepared transactions has this one.
bool ledger_has_prepared(const ledger::Ledger& shared, uint64 xid);

// True if a prepared transaction that is in the ledger may be a writer. While it is being prepared, its process has its
// locks, and the reader has asked that process before.
bool prepared_writes(TableWriters& writers, TransactionId xid);

// The active snapshot. Raises an error if there is none that shows transactions.
Snapshot active_snapshot();

// The time that has settled for this snapshot and table, as the protocol finds it now. `never`: none.
UnixTime settle(Snapshot snapshot, Oid table);

// The table in argument `n`, or every table if the function has no such argument.
Oid table_argument(FunctionCallInfo fcinfo, int n);

}  // namespace snowflake_ids
