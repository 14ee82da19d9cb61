// What is shown when ids are drawn, and taken back when their transaction ends.
#include "pg/draw/unsettled.hpp"

extern "C" {
#include "access/parallel.h"
#include "access/twophase.h"
#include "access/xact.h"
#include "storage/ipc.h"
#include "storage/proc.h"
#include "storage/procarray.h"
}

#include "pg/server/shared_ledger.hpp"

namespace snowflake_ids::unsettled {

uint64 covered = ledger::no_low;

namespace {

// The local id of the transaction. The server has cleared its own when the transaction has ended.
uint64 own_transaction = 0;

ledger::Backend& backend_of(const ledger::Ledger& shared, const PGPROC& proc) {
    return shared.backends[&proc - ProcGlobal->allProcs];
}

uint64 committed_xid() { return U64FromFullTransactionId(GetTopFullTransactionIdIfAny()); }

// Called also after the commit, where nothing may raise an error.
void take_back(bool committed) {
    if (const ledger::Ledger* shared = ledger_if_attached()) {
        const uint64 xid = committed ? committed_xid() : 0;
        ledger::end_transaction(backend_of(*shared, *MyProc), own_transaction, xid, next_xid);
    }
    covered = ledger::no_low;
    own_transaction = 0;
}

// An old entry of the table has a full id that the server's functions for 32 bits do not know any more.
bool is_over(uint64 xid) {
    constexpr uint64 known = (uint64{1} << 31) - 1;
    return next_xid() - xid > known || !TransactionIdIsInProgress(static_cast<TransactionId>(xid));
}

// Parallel workers may have drawn for this transaction, and its own process not at all. The transaction that removes
// temporary tables at the end of a session has no workers, and an error would end it.
const ledger::Ledger* before_end() {
    own_transaction = local_transaction(*MyProc);
    const bool may_have_workers = MyProc->lockGroupLeader == MyProc && !proc_exit_inprogress;
    return may_have_workers ? ledger_if_made() : ledger_if_attached();
}

void before_prepare() {
    const ledger::Ledger* shared = before_end();
    if (shared == nullptr) return;
    ledger::Backend& backend = backend_of(*shared, *MyProc);
    // Without a transaction id it has no rows.
    if (backend.low.load() == ledger::no_low || committed_xid() == 0) return;
    ledger::Header& header = *shared->header;
    if (ledger::note_prepared(backend, header.prepared_reused, header.prepared_count, ledger::prepared_at(*shared),
                              committed_xid(), MyDatabaseId, is_over))
        return;
    ereport(ERROR, (errcode(ERRCODE_CONFIGURATION_LIMIT_EXCEEDED),
                    errmsg("cannot prepare a transaction that has drawn ids: too many are prepared"),
                    errhint("Raise max_prepared_transactions (currently %d).", max_prepared_xacts)));
}

void at_event(XactEvent event, void*) {
    switch (event) {
        case XACT_EVENT_PRE_COMMIT:
            (void) before_end();
            break;
        case XACT_EVENT_PRE_PREPARE:
            before_prepare();
            break;
        case XACT_EVENT_COMMIT:
            take_back(true);
            break;
        case XACT_EVENT_ABORT:
        case XACT_EVENT_PREPARE:
            take_back(false);
            break;
        case XACT_EVENT_PARALLEL_COMMIT:
        case XACT_EVENT_PARALLEL_ABORT:
            // The leader takes back what was shown.
            covered = ledger::no_low;
            own_transaction = 0;
            break;
        case XACT_EVENT_PARALLEL_PRE_COMMIT:
            break;
    }
}

}  // namespace

uint64 next_xid() { return U64FromFullTransactionId(ReadNextFullTransactionId()); }

bool shows(uint64 us) {
    const ledger::Ledger& shared = shared_ledger();
    const PGPROC& proc = IsParallelWorker() ? *MyProc->lockGroupLeader : *MyProc;
    ledger::Backend& backend = backend_of(shared, proc);
    if (covered == ledger::no_low) {
        own_transaction = local_transaction(proc);
        const bool anothers = backend.holder.load() != 0;
        if (IsParallelWorker() || anothers) ledger::hold_for(backend, own_transaction);
        if (backend.database.load() != MyDatabaseId) backend.database.store(MyDatabaseId);
    }
    return ledger::accepts(shared.header->promise, backend, us, covered);
}

void watch_transactions() { RegisterXactCallback(at_event, nullptr); }

}  // namespace snowflake_ids::unsettled
