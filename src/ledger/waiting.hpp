// Waiting: how readers of stamped tables sleep until there may be rows that they have not read.
//
// This is a hint only. A reader polls as before, so a wake-up that is late or for nothing costs time, and never a row.
//
//   trace     The time of the newest id of all transactions that have ended and stamped a table. A table has two words
//             of Header::traces, and the earlier one counts. Tables can share words, so a trace may be too late. It is
//             never too early.
//   sleeper   A word for each process that sleeps: which process, and a bit for the group of its table.
//
// A reader takes these steps:
//   1. Lift watched_until to `watch_time` from now. If the process has not done that for `trust_time`, transactions may
//      have left no traces. So the time of the last id that any generator has issued then counts as a trace of every
//      table (Watch::since).
//   2. Put a sleeper.
//   3. Only then look at the traces. If nothing is new, sleep.
// A transaction that has stamped rows takes these steps after step 5 of settling.hpp. It may skip them if it has left
// no rows, and if the promise has not passed its first id: then it has not held back any reader.
//   4. If watched_until is 0, end. Otherwise read the clock, and then load watched_until again. If that is over, make
//      it 0 and end.
//   5. Lift the traces of its tables to the time of its newest id.
//   6. Only then look at the sleepers, and wake those with a group of its tables.
// In steps 2 and 3, and in 5 and 6, each side writes before it reads, so at least one of them sees the other. In steps
// 1 and 4 too: a transaction that did not see the reader had its ids before, so the last id of the generators covers
// them.
//
// The functions are templates over the words, so that the model checker runs this very code.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>

#include "ledger/settling.hpp"

namespace snowflake_ids::ledger {

inline constexpr seconds watch_time{60}, trust_time{50};

// What a process that reads remembers of step 1.
struct Watch {
    MonotonicTime until{};  // until then, transactions leave traces for certain
    UnixTime since{};
};

// Step 1. `clock()` is the monotonic clock, and `last_issued()` the time of the last id of all generators.
template <class H, class Clock, class LastIssued>
void watch(H& header, Watch& watch, Clock clock, LastIssued last_issued) {
    const MonotonicTime now = clock();
    lift_to(header.watched_until, now + watch_time);
    if (clock() >= watch.until) watch.since = last_issued();
    watch.until = now + trust_time;
}

// Where the trace of a table is, and its group.
struct TracePlace {
    std::size_t first, second;
    std::uint64_t group;  // one bit of all_groups
};
inline constexpr unsigned group_count = 48;
inline constexpr std::uint64_t all_groups = (std::uint64_t{1} << group_count) - 1;

template <class H>
TracePlace trace_place(const H& header, std::uint64_t database, std::uint64_t table) {
    const std::uint64_t mixed = (database << 32 | table) * 0x9e3779b97f4a7c15;
    const std::size_t first = (mixed >> 32) % std::size(header.traces),
                      second = (mixed >> 48) % std::size(header.traces);
    return {first, second, std::uint64_t{1} << first % group_count};
}

// Step 2: returns the word of the process, or null if all are in use. `group` is that of the table that it reads.
template <class H>
auto put_sleeper(H& header, std::uint64_t process, std::uint64_t group) {
    constexpr auto none = static_cast<decltype(&header.sleepers[0])>(nullptr);
    if (process >= std::uint64_t{1} << (64 - group_count)) return none;
    for (auto& word : header.sleepers) {
        std::uint64_t seen = word.load();
        if (seen == 0 && word.compare_exchange_strong(seen, process << group_count | group)) return &word;
    }
    return none;
}

// Step 3, for one table.
template <class H>
UnixTime trace_of(const H& header, const TracePlace& place) {
    const UnixTime first = header.traces[place.first].load(), second = header.traces[place.second].load();
    return first < second ? first : second;
}

// Step 4: false if no reader waits.
template <class H, class Clock>
bool is_watched(H& header, Clock clock) {
    if (header.watched_until.load() == MonotonicTime{}) return false;
    const MonotonicTime now = clock();
    MonotonicTime until = header.watched_until.load();
    if (until > now) return true;
    header.watched_until.compare_exchange_strong(until, MonotonicTime{});
    return false;
}

// Step 5, for the first `count` tables of a Backend, or for every table. Returns the groups of these tables.
template <class H, class B>
std::uint64_t leave_traces(H& header, const B& backend, std::uint64_t count, bool every, UnixTime newest) {
    if (every) {
        for (auto& trace : header.traces) lift_to(trace, newest);
        return all_groups;
    }
    std::uint64_t groups = 0;
    for (std::uint64_t i = 0; i < count; i++) {
        const TracePlace place = trace_place(header, backend.database.load(), backend.tables[i].load());
        lift_to(header.traces[place.first], newest);
        lift_to(header.traces[place.second], newest);
        groups |= place.group;
    }
    return groups;
}

// Step 6: calls `wake(process)` for each sleeper with one of the groups.
template <class H, class Wake>
void wake_sleepers(H& header, std::uint64_t groups, Wake wake) {
    for (auto& word : header.sleepers) {
        const std::uint64_t seen = word.load();
        if ((seen & groups) != 0) wake(seen >> group_count);
    }
}

}  // namespace snowflake_ids::ledger
