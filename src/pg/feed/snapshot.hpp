// Snapshots with full transaction ids.
#pragma once

#include "core/feed_position.hpp"
#include "pg/pg.hpp"

extern "C" {
#include "access/htup.h"
#include "utils/snapmgr.h"
}

namespace snowflake_ids::feed {

// The full id that the next transaction gets.
uint64 next_xid();

// The full id of a transaction that is not later than `next`, and less than 2^32 behind it.
struct FullXids {
    uint64 next;  // next_xid() after the snapshot was taken

    uint64 operator()(TransactionId xid) const {
        const auto behind = static_cast<uint32>(static_cast<uint32>(next) - xid);
        return next - behind;
    }
};

// The snapshot of the running statement. Raises an error if there is none, or if it has no list of transactions.
Snapshot active_snapshot();

// `listed`, for a new position: a standby cannot tell subtransactions from others, and must not take an open one for a
// transaction that the position has seen. `left_out`, to compare a primary's snapshot with a position: stamps are those
// of top-level transactions, and a position lists none if one of these had more than 64 subtransactions.
enum class Subtransactions { listed, left_out };

// What a snapshot does not show: palloc'd.
Unseen unseen_in(Snapshot snapshot, Subtransactions subtransactions);

// True if the snapshot is older than this version of a row of a catalog.
bool is_newer(HeapTuple tuple, Snapshot snapshot);

}  // namespace snowflake_ids::feed
