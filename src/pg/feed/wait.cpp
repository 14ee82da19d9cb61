// wait_feed(): sleeps until a transaction has committed rows of a table. The steps are in ledger/feed_wait.hpp.
//
// A standby has no such counts, because the startup process calls no code of ours. There, a reader looks every 20 ms
// whether any transaction has ended.
#include "pg/feed/wait.hpp"

#include <algorithm>
#include <bitset>

#include "ledger/clock.hpp"
#include "ledger/feed_wait.hpp"
#include "pg/feed/position.hpp"
#include "pg/feed/triggers.hpp"
#include "pg/server/deadline.hpp"
#include "pg/server/feed_waiters.hpp"
#include "pg/server/shared_ledger.hpp"
#include "pg/server/table_ancestors.hpp"

extern "C" {
#include "access/twophase.h"
#include "access/xact.h"
#include "access/xlog.h"
#include "storage/proc.h"
#include "storage/procarray.h"
#include "utils/memutils.h"
#include "utils/wait_event.h"
}

namespace snowflake_ids::feed {

namespace {

// ---- the transaction that writes

// The groups of those tables of this database to which the present transaction writes.
constinit std::bitset<ledger::groups_of_database> written{};
constinit bool watches = false;

// Wakes readers at PREPARE too: they then find the transaction among the prepared ones, and look for its end. A
// parallel worker wakes nobody, because its leader ends the transaction.
void at_event(XactEvent event, void*) {
    if (event != XACT_EVENT_COMMIT && event != XACT_EVENT_ABORT && event != XACT_EVENT_PREPARE) return;
    if (event != XACT_EVENT_ABORT && written.any()) {
        const ledger::Ledger& shared = shared_ledger();  // will_write() has attached it
        for (uint32 i = 0; i < written.size(); i++) {
            if (!written[i]) continue;
            ledger::count_and_wake(shared.groups[ledger::first_group(MyDatabaseId) + i],
                                   [](auto& group) { ConditionVariableBroadcast(&waiters(group)); });
        }
    }
    written.reset();
}

}  // namespace

void will_write(Oid table) {
    if (!watches) RegisterXactCallback(at_event, nullptr);
    watches = true;
    (void) shared_ledger();
    const ListCell* cell;
    foreach (cell, table_and_ancestors(table))
        written.set(ledger::group_of(MyDatabaseId, lfirst_oid(cell)) - ledger::first_group(MyDatabaseId));
}

namespace {

// ---- the reader

struct Sum {
    uint64 number = 0;      // once it has changed, a poll is due
    bool prepared = false;  // there are prepared transactions, so look again soon
};

// COMMIT PREPARED calls no code of ours, so the ids of prepared transactions are part of the sum. They leave it at
// their end.
Sum present_sum(const ledger::Group& group) {
    Sum sum{group.count.load()};
    // PostgreSQL keeps prepared transactions after all processes.
    const uint32 first = ProcGlobal->allProcCount;
    for (uint32 i = 0; i < static_cast<uint32>(max_prepared_xacts); i++) {
        const PGPROC& p = ProcGlobal->allProcs[first + i];
        const TransactionId xid = p.xid;
        if (!TransactionIdIsValid(xid) || p.databaseId != MyDatabaseId || !TransactionIdIsInProgress(xid)) continue;
        sum.number += xid * ledger::spread;
        sum.prepared = true;
    }
    sum.number = Max(sum.number, uint64{1});  // 0 stands for none
    return sum;
}

// How far apart answers are while commits stream in, because each costs the writers time.
constexpr milliseconds pace{20};

// A group's readers share one measurement. Group::pace: when it was made (ms, high 32 bits), the count then (31 bits),
// the outcome (lowest bit).
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

// Raises an error if the table is gone or no longer stamped. Takes no memory beyond the call.
void check_table(Oid table, MemoryContext temporary) {
    const MemoryContext before = MemoryContextSwitchTo(temporary);
    (void) stamp_column(table);
    MemoryContextSwitchTo(before);
    MemoryContextReset(temporary);
}

uint32 event() { return SNOWFLAKE_IDS_WAIT_EVENT("SnowflakeIdsNewRows"); }

uint64 wait_on_standby(uint64 seen, MonotonicTime end) {
    for (;;) {
        const uint64 now = Max(server_transactions_ended(), uint64{1});
        const microseconds left = end - ledger::monotonic_clock();
        if (now != seen || left.count() <= 0) return now;
        nap(std::min<microseconds>(pace, left), event());
    }
}

uint64 wait_on_primary(Oid table, uint64 seen, MonotonicTime end, MemoryContext temporary) {
    constexpr microseconds recheck = milliseconds{200}, recheck_prepared = milliseconds{50};
    const ledger::Ledger& shared = shared_ledger();
    ledger::Group& group = shared.groups[ledger::group_of(MyDatabaseId, table)];
    if (seen != 0 && commits_stream_in(group))
        nap(std::clamp<microseconds>(end - ledger::monotonic_clock(), microseconds{}, pace), event());
    Sum now;
    for (;;) {
        now = present_sum(group);
        const microseconds left = end - ledger::monotonic_clock();
        if (now.number != seen || left.count() <= 0) break;
        // The first call enters the list, and does not sleep. A process that is woken is already in the list again.
        const microseconds longest = std::min(left, now.prepared ? recheck_prepared : recheck);
        if (ConditionVariableTimedSleep(&waiters(group), std::chrono::ceil<milliseconds>(longest).count(), event()))
            check_table(table, temporary);
    }
    (void) ConditionVariableCancelSleep();
    return now.number;
}

uint64 wait(Oid table, uint64 seen, microseconds timeout) {
    const MonotonicTime end = ledger::monotonic_clock() + timeout;
    if (IsolationUsesXactSnapshot()) {
        ereport(ERROR, (errcode(ERRCODE_INVALID_TRANSACTION_STATE),
                        errmsg("cannot wait for rows in a transaction that does not see what others commit"),
                        errhint("Use the isolation level READ COMMITTED, or wait before the transaction begins.")));
    }
    const MemoryContext temporary =
        AllocSetContextCreate(CurrentMemoryContext, "snowflake_ids.wait_feed", ALLOCSET_SMALL_SIZES);
    check_table(table, temporary);
    const uint64 now = RecoveryInProgress() ? wait_on_standby(seen, end) : wait_on_primary(table, seen, end, temporary);
    MemoryContextDelete(temporary);
    return now;
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

}  // namespace snowflake_ids::feed

namespace snowflake_ids {

// wait_feed(of_table, since, timeout): returns `since` with the count that was seen. A reader without a position has
// nothing to wait for.
FUNCTION(snowflake_ids_wait_feed) {
    if (PG_ARGISNULL(0) || PG_ARGISNULL(1) || PG_ARGISNULL(2)) PG_RETURN_NULL();
    const text* const since = PG_GETARG_TEXT_PP(1);
    if (feed::view_of(since).empty()) PG_RETURN_DATUM(PG_GETARG_DATUM(1));
    feed::Read r{};
    const bool is_position = feed::try_read(feed::view_of(since), r);
    r.position.seen = feed::wait(PG_GETARG_OID(0), r.position.seen, feed::timeout_argument(fcinfo, 2));
    if (!is_position) PG_RETURN_DATUM(PG_GETARG_DATUM(1));
    PG_RETURN_TEXT_P(feed::text_of(r.position, r.open));
}

}  // namespace snowflake_ids
