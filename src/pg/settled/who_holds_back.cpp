// The SQL function snowflake_ids.unsettled_transactions(): which transactions hold the settled time back.
#include "ledger/settling.hpp"

#include "pg/datum.hpp"
#include "pg/pg.hpp"
#include "pg/promise/writer.hpp"
#include "pg/server/shared_ledger.hpp"
#include "pg/settled/reader.hpp"

extern "C" {
#include "funcapi.h"
#include "storage/procarray.h"
#include "utils/tuplestore.h"
}

namespace snowflake_ids {

namespace {

// A process, or a prepared transaction, and the time that it shows.
void put_unsettled(ReturnSetInfo* result, int pid, TransactionId xid, UnixTime t) {
    Columns row;
    row.add(Int32GetDatum(pid), pid == 0);
    row.add(TransactionIdGetDatum(xid), !TransactionIdIsValid(xid));
    row.add(TimestampTzGetDatum(t == never ? DT_NOBEGIN : timestamptz(t)));
    tuplestore_putvalues(result->setResult, result->setDesc, row.values, row.nulls);
}

}  // namespace

// unsettled_transactions(), unsettled_transactions(of_table): a row for each open transaction, with its pid, and for
// each prepared one, with its xid. The third column is the end of the tick of its first id.
FUNCTION(snowflake_ids_unsettled) {
    InitMaterializedSRF(fcinfo, 0);
    auto* result = reinterpret_cast<ReturnSetInfo*>(fcinfo->resultinfo);
    const ledger::Ledger& shared = shared_ledger();
    const Oid table = table_argument(fcinfo, 0);
    if (table != writer::every_table) check_stamped(table, any_format);
    for (uint32 i = 0; i < static_cast<uint32>(MaxBackends); i++) {
        const ledger::Backend& b = shared.backends[i];
        const UnixTime low = b.low.load();
        if (low == ledger::no_low || b.database.load() != MyDatabaseId) continue;
        if (!ledger::counts_for(b, table)) continue;
        const int pid = process(i).pid;
        if (pid != 0) put_unsettled(result, pid, InvalidTransactionId, low);
    }
    const FullXidSnapshot snapshot{active_snapshot(), next_xid()};
    // Before the first id of a life, all.
    const uint64 limit = shared.header->prepared_below.load(), below = limit != 0 ? limit : snapshot.next;
    // Prepared before the server started and not in the ledger, so that the first id is unknown.
    each_prepared([&](PGPROC& p) {
        const TransactionId xid = p.xid;
        if (!prepared_before_start(p) || p.databaseId != MyDatabaseId || !TransactionIdIsValid(xid) ||
            !TransactionIdIsInProgress(xid))
            return;
        const uint64 full = snapshot.full(xid);
        if (full < below && !ledger_has_prepared(shared, full)) put_unsettled(result, 0, xid, never);
    });
    // Prepared since then.
    for (uint32 i = 0; i < shared.header->prepared_count; i++) {
        const ledger::Backend& b = shared.prepared[i];
        const uint64 xid = b.xid.load() & ~ledger::taken_mark;
        if (xid == 0 || snapshot.finished(xid) || b.database.load() != MyDatabaseId || !ledger::counts_for(b, table))
            continue;
        put_unsettled(result, 0, static_cast<TransactionId>(xid), b.low.load());
    }
    return Datum{0};
}

}  // namespace snowflake_ids
