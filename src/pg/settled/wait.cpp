// sno_wait() and so on: sleep until a reader of a stamped table may find rows after the last one that it has read. How
// writers wake it is in ledger/waiting.hpp.
#include <algorithm>

#include "core/mastic.hpp"
#include "core/sno.hpp"
#include "core/snowflake_si.hpp"
#include "ledger/clock.hpp"
#include "ledger/waiting.hpp"
#include "pg/ceilings/issue_limit.hpp"
#include "pg/datum.hpp"
#include "pg/layouts/layouts.hpp"
#include "pg/pg.hpp"
#include "pg/promise/writer.hpp"
#include "pg/server/deadline.hpp"
#include "pg/settled/reader.hpp"

extern "C" {
#include "access/xact.h"
#include "storage/latch.h"
#include "utils/lsyscache.h"
#include "utils/wait_event.h"
}

namespace snowflake_ids {

namespace {

// The last id that the caller has read. A row after it has an id of this tick or later.
struct Position {
    UnixTime tick_end;
    uint64 rest;  // differs between the ids of a tick
};

// What this process has told callers who wait for rows of a table after a position: rows with ids before `upto` may be
// there. If such a call is repeated, the caller has found none. So an id whose row was rolled back, or that belongs to
// another table, wakes a caller once.
struct Answer {
    Oid table;
    StampFormat format;
    Position last;
    UnixTime upto;
    UnixTime trace;  // of the table, at that time
    MonotonicTime given;
    int streak;  // so many calls before this one did not have to sleep
};
constexpr int most_answers = 16;
constinit Answer answers[most_answers]{};
constinit int next_answer = 0;

constinit ledger::Watch own_watch{};

// In sleepers, and in the ledger.
uint64 own_number(const ledger::Ledger& shared) {
    return static_cast<uint64>(&writer::own_backend(shared) - shared.backends);
}

// Of what is committed by now. The statement's own snapshot is older.
UnixTime settled_now(Oid table, StampFormat format) {
    PushActiveSnapshot(GetLatestSnapshot());
    const UnixTime t = settle(GetActiveSnapshot(), table, format);
    PopActiveSnapshot();
    return t;
}

// Writers to a partition also leave a trace of the table that it is a part of.
struct Traces {
    const ledger::Ledger& shared;
    ledger::TracePlace place;

    UnixTime latest() const { return std::max(own_watch.since, ledger::trace_of(*shared.header, place)); }
};

// Sleeps until a transaction leaves a trace from `t` on, but not longer than `longest`, nor than a reader may without
// lifting Header::watched_until. Nothing raises an error while others can see the sleeper.
void sleep_until_trace(const Traces& traces, UnixTime t, microseconds longest) {
    constexpr microseconds recheck = seconds{10}, without_word = milliseconds{10};
    auto* const word = ledger::put_sleeper(*traces.shared.header, own_number(traces.shared), traces.place.group);
    longest = std::min(longest, word == nullptr ? without_word : recheck);
    if (traces.latest() < t) {
        (void) WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH,
                         std::chrono::ceil<milliseconds>(longest).count(),
                         SNOWFLAKE_IDS_WAIT_EVENT("SnowflakeIdsNewRows"));
    }
    if (word != nullptr) word->store(0);
    ResetLatch(MyLatch);
    CHECK_FOR_INTERRUPTS();
}

// Raises an error if the caller can never see the rows for which it waits.
void check_can_wait(const ledger::Ledger& shared, Oid table, StampFormat format) {
    if (IsolationUsesXactSnapshot()) {
        ereport(ERROR, (errcode(ERRCODE_INVALID_TRANSACTION_STATE),
                        errmsg("cannot wait for rows in a transaction that does not see what others commit"),
                        errhint("Use the isolation level READ COMMITTED, or wait before the transaction begins.")));
    }
    check_stamped(table, format);
    if (ledger::has_noted(writer::own_backend(shared), table)) {
        ereport(ERROR,
                (errcode(ERRCODE_INVALID_TRANSACTION_STATE),
                 errmsg("cannot wait for rows of \"%s\" in a transaction that has written to it", get_rel_name(table)),
                 errhint("Commit first: rows of others are not settled before that.")));
    }
}

// True as soon as rows after `last` may be readable, false after the timeout. If commits stream in, so that the last
// calls had nothing to sleep for, the answers are `pace` apart: each poll costs the writers time.
bool wait_for_rows(Oid table, StampFormat format, const Position& last, microseconds timeout) {
    constexpr milliseconds some_after{10}, longest_pause{20}, pace{10};
    constexpr int streams = 2;
    const MonotonicTime end = ledger::monotonic_clock() + timeout;
    (void) readers_snapshot();
    const ledger::Ledger& shared = issue_limit::enter_life_and_database(false, Deadline{});
    check_can_wait(shared, table, format);
    UnixTime told = last.tick_end, before = never;
    MonotonicTime given{};
    int streak = 0;
    for (const Answer& a : answers) {
        if (a.table != table || a.format != format) continue;
        before = std::max(before, a.trace);
        if (a.last.tick_end == last.tick_end && a.last.rest == last.rest) told = std::max(told, a.upto);
        if (a.given > given) {
            given = a.given;
            streak = a.streak;
        }
    }
    MonotonicTime ready = streak >= streams ? given + pace : MonotonicTime{};
    const Traces traces{shared, ledger::trace_place(*shared.header, MyDatabaseId, table)};
    MonotonicTime pending_since{};
    UnixTime target = before;
    microseconds pause = milliseconds{1};
    for (;;) {
        ledger::watch(*shared.header, own_watch, ledger::monotonic_clock, [&] { return issued_until(shared); });
        const UnixTime trace = traces.latest();
        const MonotonicTime now = ledger::monotonic_clock();
        if (trace < told) {
            if (now >= end) return false;
            sleep_until_trace(traces, told, end - now);
            check_stamped(table, format);
            streak = -1;
            ready = {};
            continue;
        }
        // A row whose id has this time was there when the wait began, or was the first to come.
        if (pending_since == MonotonicTime{}) {
            pending_since = now;
            if (target < told) target = trace;
        }
        // Before this, no reader is told that such a row has settled.
        const microseconds due =
            std::max<microseconds>(target + microseconds{1} + promise_slack - ledger::wall_clock(), ready - now);
        if (due.count() > 0 && due <= longest_pause && now < end) {
            nap(std::min(due, end - now));
            continue;
        }
        const UnixTime settled = settled_now(table, format);
        if (settled > target || (settled > told && now - pending_since >= some_after)) {
            answers[next_answer] = {table, format, last, settled, trace, ledger::monotonic_clock(), streak + 1};
            next_answer = (next_answer + 1) % most_answers;
            return true;
        }
        if (now >= end) return false;
        nap(std::min(pause, end - now));
        pause = std::min<microseconds>(2 * pause, longest_pause);
    }
}

// Infinity counts as thirty years.
microseconds timeout_argument(FunctionCallInfo fcinfo, int n) {
    constexpr double longest = 1e15;
    const Interval& i = *PG_GETARG_INTERVAL_P(n);
    const double us = static_cast<double>(i.time) + (static_cast<double>(i.day) + 30.0 * static_cast<double>(i.month)) *
                                                        static_cast<double>(USECS_PER_DAY);
    return microseconds{static_cast<int64>(std::clamp(us, 0.0, longest))};
}

// `what` is the word for ids of the layout.
Position position_argument(FunctionCallInfo fcinfo, int n, const Layout& layout, const char* what) {
    const int64 id = PG_GETARG_INT64(n);
    return {layout.timeline.last(split_id(layout, id, what).tick), static_cast<uint64>(id)};
}

// The table in argument `n`, then the last id, then the timeout.
Datum wait(FunctionCallInfo fcinfo, int n, StampFormat format, const Position& last) {
    PG_RETURN_BOOL(wait_for_rows(table_argument(fcinfo, n), format, last, timeout_argument(fcinfo, n + 2)));
}

}  // namespace

// sno_wait(of_table, last, timeout)
FUNCTION(snowflake_ids_sno_wait) {
    const auto& id = id_argument<sno::Id>(fcinfo, 1);
    return wait(fcinfo, 0, {StampKind::sno}, {sno::last_of_tick(id), load_be<8>(id.bytes + 2)});
}

// mastic_wait(of_table, last, timeout)
FUNCTION(snowflake_ids_mastic_wait) {
    return wait(fcinfo, 0, {StampKind::mastic}, position_argument(fcinfo, 1, mastic::layout, "mastic"));
}

// snowflake_si_wait(of_table, last, timeout)
FUNCTION(snowflake_ids_snowflake_si_wait) {
    return wait(fcinfo, 0, {StampKind::snowflake_si},
                position_argument(fcinfo, 1, snowflake_si::layout, "Snowflake-SI id"));
}

// snowflake_wait(layout, of_table, last, timeout)
FUNCTION(snowflake_ids_snowflake_wait) {
    const NamedLayout& named = layouts::argument(fcinfo, 0);
    return wait(fcinfo, 1, {StampKind::snowflake, named.name},
                position_argument(fcinfo, 2, named.layout, psprintf("%s id", named.name)));
}

}  // namespace snowflake_ids
