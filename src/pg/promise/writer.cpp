// Writes the Backend of this process in the ledger.
#include "pg/promise/writer.hpp"

#include <algorithm>

#include "ledger/clock.hpp"
#include "ledger/waiting.hpp"

extern "C" {
#include "access/twophase.h"
#include "access/xact.h"
#include "storage/ipc.h"
#include "storage/latch.h"
#include "storage/proc.h"
#include "storage/procarray.h"
}

#include "pg/promise/relatives.hpp"
#include "pg/server/shared_ledger.hpp"

namespace snowflake_ids::writer {

namespace {

// As in ledger/settling.hpp. no_low: the transaction has shown nothing.
UnixTime covered = ledger::no_low;

// the latest time of the transaction's ids
UnixTime newest{};

// For each table in Backend::tables, and for those that do not fit there, the promise when it was noted.
UnixTime promise_when_noted[ledger::noted_tables + 1];

// 0 if the present transaction has no id, because it has written nothing.
uint64 top_xid() { return U64FromFullTransactionId(GetTopFullTransactionIdIfAny()); }

// True if the transaction is neither running nor prepared. TransactionIdIsInProgress() knows only the lower 32 bits, so
// an id 2^31 or more behind the next one is over.
bool is_over(uint64 xid) {
    constexpr uint64 known = (uint64{1} << 31) - 1;
    return next_xid() - xid > known || !TransactionIdIsInProgress(static_cast<TransactionId>(xid));
}

}  // namespace

ledger::Backend& own_backend(const ledger::Ledger& shared) { return shared.backends[MyProc - ProcGlobal->allProcs]; }

namespace {

// Readers look at the database only after they have seen `low`, so this comes before an id of time `t` is shown.
ledger::Backend& ready_to_show(const ledger::Ledger& shared, UnixTime t) {
    ledger::Backend& backend = own_backend(shared);
    if (covered == ledger::no_low && backend.database.load() != MyDatabaseId) backend.database.store(MyDatabaseId);
    newest = std::max(newest, t);
    return backend;
}

}  // namespace

bool admit(UnixTime t) {
    const ledger::Ledger& shared = shared_ledger();
    return ledger::admit(shared.header->promise, ready_to_show(shared, t), t, covered);
}

UnixTime will_write(Oid table) {
    const ledger::Ledger& shared = shared_ledger();
    UnixTime noted{};
    List* const tables = relatives_above(table);
    const ListCell* cell;
    foreach (cell, tables) {
        noted = std::max(noted, ledger::note_table(shared.header->promise, own_backend(shared), lfirst_oid(cell),
                                                   promise_when_noted));
    }
    list_free(tables);
    return noted;
}

bool may_bring(UnixTime t, UnixTime noted) {
    const ledger::Ledger& shared = shared_ledger();
    return ledger::may_bring(shared.header->promise, ready_to_show(shared, t), t, noted, covered);
}

void hand_over_to_prepared() {
    const ledger::Ledger* shared = ledger_if_attached();
    if (shared == nullptr || max_prepared_xacts == 0) return;  // then PostgreSQL raises an error
    const ledger::Backend& backend = own_backend(*shared);
    // A transaction without an id has no rows: PREPARE TRANSACTION assigns the id before this.
    if (backend.low.load() == ledger::no_low || top_xid() == 0) return;
    if (ledger::note_prepared(backend, shared->header->prepared_count, ledger::prepared_at(*shared), top_xid(),
                              is_over))
        return;
    ereport(
        ERROR,
        (errcode(ERRCODE_CONFIGURATION_LIMIT_EXCEEDED),
         errmsg("cannot prepare a transaction that has generated ids: too many are prepared"),
         errhint(
             "Commit or roll back transactions in pg_prepared_xacts, or raise max_prepared_transactions (currently %d).",
             max_prepared_xacts)));
}

namespace {

// Steps 4 to 6 of ledger/waiting.hpp, after those of ledger/settling.hpp.
pg_noinline void end_and_wake(const ledger::Ledger& shared, uint64 xid, bool prepared) {
    ledger::Backend& backend = own_backend(shared);
    const UnixTime low = backend.low.load();
    const uint64 tables = backend.table_count.load();
    const bool every = backend.every_table.load() != 0;
    ledger::end_transaction(backend, xid);
    ledger::Header& header = *shared.header;
    if (xid == 0 && !prepared && low >= header.promise.load()) return;
    if (!ledger::is_watched(header, ledger::monotonic_clock)) return;
    const uint64 groups = ledger::leave_traces(header, backend, tables, every, newest);
    ledger::wake_sleepers(header, groups, [](uint64 process) { SetLatch(&ProcGlobal->allProcs[process].procLatch); });
}

}  // namespace

void end_transaction(bool committed, bool prepared) {
    if (const ledger::Ledger* shared = ledger_if_attached()) {
        ledger::Backend& backend = own_backend(*shared);
        const uint64 xid = committed ? top_xid() : 0;
        if (backend.table_count.load(std::memory_order_relaxed) != 0 &&
            unlikely(shared->header->watched_until.load() != MonotonicTime{}))
            end_and_wake(*shared, xid, prepared);
        else
            ledger::end_transaction(backend, xid);
    }
    covered = ledger::no_low;
    newest = {};
}

}  // namespace snowflake_ids::writer
