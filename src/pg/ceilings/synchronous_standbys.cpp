// Asks PostgreSQL what its synchronous standbys have flushed, and makes a COMMIT wait for them, which may write WAL.
// ceilings/issue_limit.cpp decides when.
#include "pg/ceilings/synchronous_standbys.hpp"

extern "C" {
#include "access/xact.h"
#include "access/xlog.h"
#include "access/xloginsert.h"
#include "catalog/pg_control.h"
#include "replication/syncrep.h"
#include "replication/walsender.h"
#include "replication/walsender_private.h"
#include "storage/lwlock.h"
}

#include "pg/server/orphaned_backend.hpp"

namespace snowflake_ids::synchronous_standbys {

bool commits_wait() { return SyncRepConfig != nullptr && SyncRepRequested(); }

bool have_flushed(XLogRecPtr position) {
    if (position == InvalidXLogRecPtr) return false;
    // With FIRST in synchronous_standby_names, the candidates are the chosen standbys; with ANY, all that are named and
    // connected.
    SyncRepStandbyData* candidates;
    const int count = SyncRepGetCandidateStandbys(&candidates);
    int with_it = 0;
    for (int i = 0; i < count; i++) with_it += candidates[i].flush >= position;
    if (candidates != nullptr) pfree(candidates);
    return with_it >= SyncRepConfig->num_sync;
}

XLogRecPtr released() {
    LWLockAcquire(SyncRepLock, LW_SHARED);
    const XLogRecPtr flushed = WalSndCtl->lsn[SYNC_REP_WAIT_FLUSH];
    LWLockRelease(SyncRepLock);
    return flushed;
}

// A COMMIT waits for standbys only if its transaction has an id and has written WAL.
void make_commit_wait() {
    const bool wrote = XactLastRecEnd != InvalidXLogRecPtr;
    if (wrote && TransactionIdIsValid(GetTopTransactionIdIfAny())) return;
    // From here on the transaction writes WAL, at its COMMIT at the latest, which an orphan must not do.
    end_if_orphaned();
    GetTopTransactionId();
    if (wrote) return;
    // A logical message would do too, but readers of logical decoding would get it.
    XLogBeginInsert();
    char data = 0;  // the server asserts that a record has some
    XLogRegisterData(&data, sizeof data);
    XLogInsert(RM_XLOG_ID, XLOG_NOOP);
}

}  // namespace snowflake_ids::synchronous_standbys
