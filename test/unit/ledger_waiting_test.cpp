// Waiting: each step alone. Every interleaving is in ledger_waiting_model_test.
#include "ledger/waiting.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <vector>

#include "support/ledger_process.hpp"
#include "support/times.hpp"

namespace snowflake_ids::ledger {
namespace {

using namespace snowflake_ids::test;

constexpr std::uint64_t database = 5;

constexpr MonotonicTime at(microseconds us) { return MonotonicTime{us}; }

struct LedgerWaiting : testing::Test {
    LedgerMemory memory;
    Ledger ledger = memory.make();
    Header& header = *ledger.header;
    Backend& backend = ledger.backends[0];

    TracePlace place(std::uint64_t table) const { return trace_place(header, database, table); }
    std::int64_t trace(std::uint64_t table) const { return number_of(trace_of(header, place(table))); }

    // A transaction that has stamped rows of the table, or of more than can be noted, ends. Returns whom it wakes.
    std::vector<std::uint64_t> ends(std::optional<std::uint64_t> table, std::int64_t newest) {
        backend.database.store(database);
        backend.tables[0].store(table.value_or(0));
        std::vector<std::uint64_t> woken;
        const std::uint64_t groups = leave_traces(header, backend, 1, !table, unix_us(newest));
        wake_sleepers(header, groups, [&woken](std::uint64_t process) { woken.push_back(process); });
        return woken;
    }
    bool watched(MonotonicTime now) {
        return is_watched(header, [now] { return now; });
    }
    // The first table from `from` on for which `wanted(place)` is true.
    template <class Wanted>
    std::uint64_t table_with(std::uint64_t from, Wanted wanted) const {
        while (!wanted(place(from))) from++;
        return from;
    }
};

TEST_F(LedgerWaiting, TraceOfATable) {
    EXPECT_EQ(trace(7), 0);
    ends(7, 100);
    EXPECT_EQ(trace(7), 100);
    ends(7, 90);
    EXPECT_EQ(trace(7), 100) << "a trace only grows";
    EXPECT_NE(place(7).first, trace_place(header, database + 1, 7).first);
}

TEST_F(LedgerWaiting, TablesThatShareOneWordKeepTheirTraces) {
    const TracePlace mine = place(7);
    const auto first = table_with(8, [&](const TracePlace& p) {
        return p.first == mine.first && p.second != mine.second && p.second != mine.first;
    });
    const auto second = table_with(8, [&](const TracePlace& p) {
        return p.second == mine.second && p.first != mine.first && p.first != mine.second;
    });
    ends(first, 100);
    EXPECT_EQ(trace(7), 0);
    ends(second, 80);
    EXPECT_EQ(trace(7), 80) << "too late, which costs a poll";
}

TEST_F(LedgerWaiting, WakesTheReadersOfTheTable) {
    const auto other = table_with(8, [&](const TracePlace& p) { return p.group != place(7).group; });
    ASSERT_NE(put_sleeper(header, 0, place(7).group), nullptr);
    ASSERT_NE(put_sleeper(header, 41, place(other).group), nullptr);
    auto* const word = put_sleeper(header, 42, place(7).group);
    EXPECT_EQ(ends(7, 1), (std::vector<std::uint64_t>{0, 42}));
    EXPECT_EQ(ends(other, 1), (std::vector<std::uint64_t>{41}));
    word->store(0);
    EXPECT_EQ(ends(7, 1), (std::vector<std::uint64_t>{0}));
}

TEST_F(LedgerWaiting, EveryTable) {
    const auto other = table_with(8, [&](const TracePlace& p) { return p.group != place(7).group; });
    put_sleeper(header, 41, place(7).group);
    put_sleeper(header, 42, place(other).group);
    EXPECT_EQ(ends(std::nullopt, 100), (std::vector<std::uint64_t>{41, 42}));
    for (const std::uint64_t table : {std::uint64_t{7}, other, std::uint64_t{4294967295}}) EXPECT_EQ(trace(table), 100);
}

TEST_F(LedgerWaiting, SleepersAreAsManyAsWords) {
    constexpr std::uint64_t most = (std::uint64_t{1} << (64 - group_count)) - 1;
    EXPECT_EQ(put_sleeper(header, most + 1, 1), nullptr) << "its number does not fit";
    ASSERT_NE(put_sleeper(header, most, place(7).group), nullptr);
    for (std::uint64_t i = 1; i < sleeper_count; i++) EXPECT_NE(put_sleeper(header, i, 1), nullptr);
    EXPECT_EQ(put_sleeper(header, 99, 1), nullptr);
    EXPECT_EQ(ends(7, 1).front(), most);
}

TEST_F(LedgerWaiting, NobodyWatches) {
    EXPECT_FALSE(watched(at(1s)));
    header.watched_until.store(at(5s));
    EXPECT_TRUE(watched(at(5s) - 1us));
    EXPECT_EQ(header.watched_until.load(), at(5s));
    EXPECT_FALSE(watched(at(5s)));
    EXPECT_EQ(header.watched_until.load(), MonotonicTime{}) << "the next transactions need not read the clock";
}

TEST_F(LedgerWaiting, WatchLiftedBetweenTheLoadsStays) {
    header.watched_until.store(at(5s));
    EXPECT_TRUE(is_watched(header, [this] {
        header.watched_until.store(at(66s));
        return at(6s);
    }));
    EXPECT_EQ(header.watched_until.load(), at(66s));
}

TEST_F(LedgerWaiting, TracesAreTrustedOnlyWhileWatched) {
    Watch watch_of_reader;
    std::int64_t issued = 10;
    const auto looks = [&](MonotonicTime now) {
        watch(
            header, watch_of_reader, [now] { return now; }, [&issued] { return unix_us(issued); });
        return number_of(watch_of_reader.since);
    };
    EXPECT_EQ(looks(at(100s)), 10);
    EXPECT_EQ(header.watched_until.load(), at(100s) + watch_time);
    issued = 20;
    EXPECT_EQ(looks(at(100s) + trust_time - 1us), 10) << "all transactions since have left traces";
    EXPECT_EQ(looks(at(100s) + 2 * trust_time), 20) << "some may have left none";
}

}  // namespace
}  // namespace snowflake_ids::ledger
