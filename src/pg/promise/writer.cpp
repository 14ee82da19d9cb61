// Writes the Backend of this process in the ledger.
#include "pg/promise/writer.hpp"

#include "ledger/waiting.hpp"

extern "C" {
#include "access/twophase.h"
#include "access/xact.h"
#include "storage/ipc.h"
#include "storage/proc.h"
#include "storage/procarray.h"
}

#include "pg/server/relatives.hpp"
#include "pg/server/shared_ledger.hpp"
#include "pg/server/waiters.hpp"

namespace snowflake_ids::writer {

namespace {

// 0 if the present transaction has no id, because it has written nothing.
uint64 top_xid() { return U64FromFullTransactionId(GetTopFullTransactionIdIfAny()); }

}  // namespace

// TransactionIdIsInProgress() knows only the lower 32 bits, so an id 2^31 or more behind the next one is over.
bool is_over(uint64 xid) {
    constexpr uint64 known = (uint64{1} << 31) - 1;
    return next_xid() - xid > known || !TransactionIdIsInProgress(static_cast<TransactionId>(xid));
}

ledger::Backend& own_backend(const ledger::Ledger& shared) { return shared.backends[MyProc - ProcGlobal->allProcs]; }

namespace {

// Readers look at the database only after they have seen `low`, so this comes before an id is shown.
ledger::Backend& ready_to_show(const ledger::Ledger& shared) {
    ledger::Backend& backend = own_backend(shared);
    if (backend.database.load() != MyDatabaseId) backend.database.store(MyDatabaseId);
    return backend;
}

}  // namespace

bool admit(UnixTime t) {
    const ledger::Ledger& shared = shared_ledger();
    return ledger::admit(shared.header->promise, ready_to_show(shared), t);
}

void will_write(Oid table) {
    const ledger::Ledger& shared = shared_ledger();
    List* const tables = relatives_above(table);
    const ListCell* cell;
    foreach (cell, tables) ledger::note_table(shared.header->promise, own_backend(shared), lfirst_oid(cell));
    list_free(tables);
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

void end_transaction(bool committed, bool prepared) {
    if (const ledger::Ledger* shared = ledger_if_attached()) {
        ledger::Backend& backend = own_backend(*shared);
        const uint64 xid = committed ? top_xid() : 0;
        const ledger::Noted noted = ledger::noted_by(backend);
        ledger::end_transaction(backend, xid);
        if (xid != 0 || prepared) {
            ledger::each_group(backend, noted, MyDatabaseId, [shared](uint32 i) {
                ledger::count_up(shared->groups[i], [](auto& group) { ConditionVariableBroadcast(&waiters(group)); });
            });
        }
    }
}

}  // namespace snowflake_ids::writer
