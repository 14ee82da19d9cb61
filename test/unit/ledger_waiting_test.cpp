// Waiting: each step alone. Every interleaving is in ledger_waiting_model_test.
#include "ledger/waiting.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <vector>

#include "support/ledger_process.hpp"

namespace snowflake_ids::ledger {
namespace {

using namespace snowflake_ids::test;

constexpr std::uint64_t database = 5;

struct LedgerWaiting : testing::Test {
    LedgerMemory memory;
    Ledger ledger = memory.make();
    Backend& backend = ledger.backends[0];
    Group& group = ledger.groups[group_of(database, 7)];

    void notes(std::uint64_t table) {
        const std::uint64_t n = backend.table_count.load();
        backend.tables[n].store(table);
        backend.table_count.store(n + 1);
    }
    std::vector<std::uint32_t> groups(std::uint64_t of = database) const {
        std::vector<std::uint32_t> all;
        each_group(backend, noted_by(backend), of, [&all](std::uint32_t i) { all.push_back(i); });
        return all;
    }
    void prepares(Backend& place, std::uint64_t xid, std::uint64_t table, std::uint64_t of = database) const {
        place.database.store(of);
        place.tables[0].store(table);
        place.table_count.store(1);
        place.xid.store(xid);
    }
    Sum sees(std::uint64_t last_over = 0) const {
        return look(group, 10, prepared_at(ledger), database, 7, [=](std::uint64_t x) { return x <= last_over; });
    }
};

TEST_F(LedgerWaiting, GroupsOfTables) {
    EXPECT_TRUE(groups().empty());
    notes(7);
    notes(8);
    EXPECT_EQ(groups(), (std::vector{group_of(database, 7), group_of(database, 8)}));
    EXPECT_NE(group_of(database, 7), group_of(database + 1, 7));
    std::set<std::uint32_t> used;
    for (std::uint64_t table = 16384; table < 16384 + groups_of_database; table++) {
        used.insert(group_of(database, table));
        EXPECT_LT(group_of(~std::uint64_t{0}, table), group_count);
    }
    EXPECT_GT(used.size(), groups_of_database / 2) << "neighbours have different groups";
}

TEST_F(LedgerWaiting, ManyTablesAreAllOfTheirDatabase) {
    for (std::uint64_t table = 1; table <= noted_tables; table++) notes(table);
    backend.every_table.store(1);
    const auto all = groups();
    EXPECT_EQ(all.size(), groups_of_database);
    EXPECT_EQ((std::set<std::uint32_t>(all.begin(), all.end())).size(), groups_of_database);
    for (const std::uint64_t table : {std::uint64_t{1}, std::uint64_t{99}, std::uint64_t{4294967295}}) {
        EXPECT_NE(std::ranges::find(all, group_of(database, table)), all.end());
        EXPECT_EQ(std::ranges::find(all, group_of(database + 1, table)), all.end());
    }
}

TEST_F(LedgerWaiting, TablesRemainWhenTheTransactionHasEnded) {
    notes(7);
    const Noted noted = noted_by(backend);
    end_transaction(backend, 0);
    EXPECT_TRUE(groups().empty());
    std::vector<std::uint32_t> all;
    each_group(backend, noted, database, [&all](std::uint32_t i) { all.push_back(i); });
    EXPECT_EQ(all, (std::vector{group_of(database, 7)}));
}

TEST_F(LedgerWaiting, CountsDiffer) {
    std::set<std::uint64_t> counts;
    for (std::uint32_t i = 0; i < group_count; i++)
        for (std::uint64_t n = 0; n < 100; n++) counts.insert(first_count(42, i) + n);
    EXPECT_EQ(counts.size(), group_count * 100) << "no group has the count of another one soon";
}

TEST_F(LedgerWaiting, CountsThenWakes) {
    group.count.store(41);
    std::uint64_t when_woken = 0;
    count_up(group, [&when_woken](const Group& g) { when_woken = g.count.load(); });
    EXPECT_EQ(when_woken, 42);
    EXPECT_EQ(sees().number, 42);
    EXPECT_FALSE(sees().prepared);
}

TEST_F(LedgerWaiting, PreparedTransactionsOfTheTable) {
    group.count.store(41);
    const std::uint64_t before = sees().number;
    prepares(ledger.prepared[3], 100, 7);
    const Sum one = sees();
    EXPECT_TRUE(one.prepared);
    EXPECT_NE(one.number, before);
    prepares(ledger.prepared[4], 101, 7);
    const Sum both = sees();
    EXPECT_NE(both.number, one.number);
    EXPECT_EQ(sees(101).number, before) << "both are over";
    EXPECT_NE(sees(100).number, both.number) << "the first is over";
    EXPECT_NE(sees(100).number, one.number) << "the second is not the first";
    EXPECT_FALSE(sees(101).prepared);
}

TEST_F(LedgerWaiting, OtherPreparedTransactions) {
    group.count.store(41);
    prepares(ledger.prepared[0], 100, 8);
    prepares(ledger.prepared[1], 101, 7, database + 1);
    prepares(ledger.prepared[2], 102 | taken_mark, 7);
    EXPECT_EQ(sees().number, 41);
    EXPECT_FALSE(sees().prepared);
    ledger.prepared[0].every_table.store(1);
    EXPECT_TRUE(sees().prepared) << "it has more tables than can be noted";
}

}  // namespace
}  // namespace snowflake_ids::ledger
