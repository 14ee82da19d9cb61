// Reads PostgreSQL's snapshots.
#include "pg/feed/snapshot.hpp"

#include <algorithm>

extern "C" {
#include "access/htup_details.h"
#include "access/transam.h"
#include "access/xact.h"
}

namespace snowflake_ids::feed {

uint64 next_xid() { return U64FromFullTransactionId(ReadNextFullTransactionId()); }

Snapshot active_snapshot() {
    if (!ActiveSnapshotSet() || !IsMVCCSnapshot(GetActiveSnapshot())) elog(ERROR, "no active snapshot");
    return GetActiveSnapshot();
}

// In recovery, PostgreSQL keeps all transactions in `subxip`, because it cannot tell subtransactions from others.
Unseen unseen_in(Snapshot snapshot, Subtransactions subtransactions) {
    const FullXids full{next_xid()};
    const uint64 xmax = full(snapshot->xmax);
    // The copy of a snapshot that is suboverflowed lists none, but keeps their number.
    const bool listed =
        snapshot->subxip != nullptr && (snapshot->takenDuringRecovery || subtransactions == Subtransactions::listed);
    const auto subxids = listed ? static_cast<uint32>(Max(snapshot->subxcnt, 0)) : uint32{0};
    auto* const open = static_cast<uint64*>(palloc((Size{snapshot->xcnt} + subxids + 1) * sizeof(uint64)));
    Size count = 0;
    for (uint32 i = 0; i < snapshot->xcnt; i++) open[count++] = full(snapshot->xip[i]);
    for (uint32 i = 0; i < subxids; i++) open[count++] = full(snapshot->subxip[i]);
    // A transaction's own snapshot leaves out its id.
    const FullTransactionId own = GetTopFullTransactionIdIfAny();
    if (FullTransactionIdIsValid(own)) open[count++] = U64FromFullTransactionId(own);
    uint64* const end = std::remove_if(open, open + count, [xmax](uint64 xid) { return xid >= xmax; });
    std::sort(open, end);
    return {xmax, open, static_cast<std::size_t>(std::unique(open, end) - open)};
}

bool is_newer(HeapTuple tuple, Snapshot snapshot) {
    const TransactionId xid = HeapTupleHeaderGetXmin(tuple->t_data);
    if (TransactionIdIsCurrentTransactionId(xid)) return HeapTupleHeaderGetCmin(tuple->t_data) >= snapshot->curcid;
    return TransactionIdIsNormal(xid) && XidInMVCCSnapshot(xid, snapshot);
}

}  // namespace snowflake_ids::feed
