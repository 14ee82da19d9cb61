// snowflake_ids_wait(): sleeps until a transaction has committed rows of a stamped table. How writers wake it is in
// ledger/waiting.hpp.
#include <algorithm>

#include "ledger/clock.hpp"
#include "ledger/waiting.hpp"
#include "pg/pg.hpp"
#include "pg/promise/writer.hpp"
#include "pg/server/deadline.hpp"
#include "pg/server/shared_ledger.hpp"
#include "pg/server/waiters.hpp"
#include "pg/settled/reader.hpp"

extern "C" {
#include "access/xact.h"
#include "access/xlog.h"
#include "storage/procarray.h"
#include "utils/memutils.h"
#include "utils/wait_event.h"
}

namespace snowflake_ids {

namespace {

void check_can_wait() {
    if (RecoveryInProgress()) {
        ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE), errmsg("cannot wait for rows on a standby"),
                        errhint("Poll with a pause, or wait on the primary.")));
    }
    if (IsolationUsesXactSnapshot()) {
        ereport(ERROR, (errcode(ERRCODE_INVALID_TRANSACTION_STATE),
                        errmsg("cannot wait for rows in a transaction that does not see what others commit"),
                        errhint("Use the isolation level READ COMMITTED, or wait before the transaction begins.")));
    }
}

// Step 3 of ledger/waiting.hpp. The tables of transactions that were prepared before the server started are not known,
// so each counts for all tables of its database.
ledger::Sum look(const ledger::Ledger& shared, const ledger::Group& group, Oid table) {
    ledger::Sum sum = ledger::look(group, shared.header->prepared_count, ledger::prepared_at(shared), MyDatabaseId,
                                   table, writer::is_over);
    each_prepared([&sum](const PGPROC& p) {
        if (p.databaseId == MyDatabaseId && TransactionIdIsValid(p.xid) && prepared_before_start(p) &&
            TransactionIdIsInProgress(p.xid))
            sum.add(p.xid);
    });
    // A client may keep it in a double.
    sum.number &= (uint64{1} << 53) - 1;
    return sum;
}

// True if commits stream in. Each answer then costs the writers time, so answers come `pace` apart. The readers of a
// group measure together: Group::pace has the time in ms and the count when that was done last, and the outcome.
constexpr milliseconds pace{20};

bool commits_stream_in(ledger::Group& group) {
    constexpr uint32 window_ms = 50, most_in_window = 100;
    constexpr uint32 count_mask = (uint32{1} << 31) - 1;
    uint64 last = group.pace.load(std::memory_order_relaxed);
    const auto now = static_cast<uint32>(number_of(ledger::monotonic_clock()) / 1000);
    const uint32 count = static_cast<uint32>(group.count.load(std::memory_order_relaxed)) & count_mask;
    const uint32 passed = now - static_cast<uint32>(last >> 32);
    if (passed < window_ms) return (last & 1) != 0;
    const uint32 commits = (count - (static_cast<uint32>(last) >> 1)) & count_mask;
    const bool streams = last != 0 && uint64{commits} * window_ms > uint64{most_in_window} * passed;
    (void) group.pace.compare_exchange_strong(last, uint64{now} << 32 | uint64{count} << 1 | uint64{streams});
    return streams;
}

// Takes no memory beyond the call. Raises an error if the table is gone, or no longer stamped.
void check_table(Oid table, MemoryContext temporary) {
    const MemoryContext before = MemoryContextSwitchTo(temporary);
    (void) check_stamped(table, any_format);
    MemoryContextSwitchTo(before);
    MemoryContextReset(temporary);
}

uint64 wait(Oid table, uint64 seen, microseconds timeout) {
    constexpr microseconds recheck = seconds{3}, recheck_prepared = milliseconds{50};
    const MonotonicTime end = ledger::monotonic_clock() + timeout;
    const uint32 event = SNOWFLAKE_IDS_WAIT_EVENT("SnowflakeIdsNewRows");
    check_can_wait();
    const MemoryContext temporary =
        AllocSetContextCreate(CurrentMemoryContext, "snowflake_ids_wait", ALLOCSET_SMALL_SIZES);
    check_table(table, temporary);
    const ledger::Ledger& shared = shared_ledger();
    ledger::Group& group = shared.groups[ledger::group_of(MyDatabaseId, table)];
    if (seen != 0 && commits_stream_in(group)) nap(std::min<microseconds>(pace, timeout), event);
    ledger::Sum now{};
    for (;;) {
        now = look(shared, group, table);
        const microseconds left = end - ledger::monotonic_clock();
        if (now.number != seen || left.count() <= 0) break;
        // The first call enters the list, and does not sleep. Who is woken is in the list again.
        const microseconds longest = std::min(left, now.prepared ? recheck_prepared : recheck);
        if (ConditionVariableTimedSleep(&waiters(group), std::chrono::ceil<milliseconds>(longest).count(), event))
            check_table(table, temporary);
    }
    (void) ConditionVariableCancelSleep();
    MemoryContextDelete(temporary);
    return now.number;
}

// Infinity counts as thirty years.
microseconds timeout_argument(FunctionCallInfo fcinfo, int n) {
    constexpr double longest = 1e15;
    const Interval& i = *PG_GETARG_INTERVAL_P(n);
    const double us = static_cast<double>(i.time) + (static_cast<double>(i.day) + 30.0 * static_cast<double>(i.month)) *
                                                        static_cast<double>(USECS_PER_DAY);
    return microseconds{static_cast<int64>(std::clamp(us, 0.0, longest))};
}

}  // namespace

// snowflake_ids_wait(of_table, seen, timeout)
FUNCTION(snowflake_ids_wait) {
    if (PG_ARGISNULL(0) || PG_ARGISNULL(2)) PG_RETURN_NULL();
    const uint64 seen = PG_ARGISNULL(1) ? 0 : static_cast<uint64>(PG_GETARG_INT64(1));
    PG_RETURN_INT64(static_cast<int64>(wait(table_argument(fcinfo, 0), seen, timeout_argument(fcinfo, 2))));
}

}  // namespace snowflake_ids
