// Notes lives, and finds where they begin.
#include "pg/feed/lives.hpp"

extern "C" {
#include "access/transam.h"
#include "access/xact.h"
#include "access/xlog.h"
#include "access/xlogrecovery.h"
#include "storage/procarray.h"
#include "utils/snapmgr.h"
}

#include "pg/ceilings/ceiling_in_wal.hpp"
#include "pg/ceilings/synchronous_standbys.hpp"
#include "pg/entropy.hpp"
#include "pg/feed/snapshot.hpp"
#include "pg/server/deadline.hpp"
#include "pg/server/shared_ledger.hpp"

namespace snowflake_ids::feed {

namespace {

// No transaction of this life stamps with a smaller id. Prepared transactions do not count, because no position of an
// earlier life has seen them. A process that gets its transaction id after the snapshot stamps with a larger one.
uint64 first_xid() {
    const Snapshot snapshot = RegisterSnapshot(GetLatestSnapshot());
    const FullXids full{next_xid()};
    uint64 first = full(snapshot->xmax);
    for (uint32 i = 0; i < snapshot->xcnt; i++)
        if (BackendXidGetPid(snapshot->xip[i]) != 0) first = Min(first, full(snapshot->xip[i]));
    UnregisterSnapshot(snapshot);
    const FullTransactionId own = GetTopFullTransactionIdIfAny();
    return FullTransactionIdIsValid(own) ? Min(first, U64FromFullTransactionId(own)) : first;
}

// Where recovery ended, or if the server no longer knows it, the present end of WAL.
XLogRecPtr wal_of_life() {
    const XLogRecPtr replayed = GetXLogReplayRecPtr(nullptr);
    return replayed != InvalidXLogRecPtr ? replayed : GetXLogInsertRecPtr();
}

// Then positions of this life are known after a failover.
void wait_for_standbys(const Deadline& deadline) {
    const XLogRecPtr noted_at = GetXLogInsertRecPtr();
    while (synchronous_standbys::commits_wait() && synchronous_standbys::released() < noted_at && !deadline.is_over())
        nap(milliseconds{5});
}

ledger::FeedLife life_that_begins() { return {present_life(), first_xid(), wal_of_life()}; }

}  // namespace

uint64 present_life() {
    ledger::Word& word = shared_ledger().header->feed_life;
    while (word.load() == 0) {
        uint64 none = 0;
        (void) word.compare_exchange_strong(none, entropy::random64());
    }
    return word.load();
}

void note_life() {
    if (likely(ceiling_in_wal::seen.life)) return;
    const Deadline deadline;
    if (!ceiling_in_wal::lives(deadline).has(present_life())) {
        ceiling_in_wal::note_life(life_that_begins(), deadline);
        wait_for_standbys(deadline);
    }
    ceiling_in_wal::seen.life = true;
}

ledger::FeedLives all_lives() {
    ledger::FeedLives lives = ceiling_in_wal::lives(Deadline{});
    if (!RecoveryInProgress() && !lives.has(present_life())) lives.note(life_that_begins());
    return lives;
}

}  // namespace snowflake_ids::feed

namespace snowflake_ids {

FUNCTION(snowflake_ids_note_life) {
    if (!RecoveryInProgress()) feed::note_life();
    PG_RETURN_VOID();
}

}  // namespace snowflake_ids
