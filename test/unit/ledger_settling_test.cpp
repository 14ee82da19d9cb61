// Settled: the steps one after another, and what of the promise outlives the server's memory. Every interleaving is in
// ledger_settling_model_test.
#include "ledger/settling.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <filesystem>
#include <set>

#include "ledger/life.hpp"
#include "ledger/reset.hpp"
#include "support/ledger_data.hpp"
#include "support/times.hpp"

namespace snowflake_ids::ledger {
namespace {

using namespace snowflake_ids::test;

constexpr std::uint64_t database = 5;
constexpr Ceiling now = unix_ms(1798761600000);

struct Snapshot {
    std::uint64_t last;
    std::set<std::uint64_t> open{};

    bool operator()(std::uint64_t xid) const { return xid <= last && !open.contains(xid); }
};

struct LedgerSettled : testing::Test {
    LedgerMemory memory;
    Ledger ledger = memory.make();
    Backend& backend = ledger.backends[0];
    Holds<UnixTime>& promise = ledger.header->promise;

    LedgerSettled() { backend.database.store(database); }
    bool draws(std::int64_t us) { return admit(promise, backend, unix_us(us)); }
    void ends(std::uint64_t xid) { end_transaction(backend, xid); }
    std::int64_t limit(const Snapshot& snapshot, std::int64_t at_most, std::uint64_t of = database) {
        UnixTime t = unix_us(at_most);
        limit_by(backend, of, snapshot, t);
        return number_of(t);
    }
};

TEST_F(LedgerSettled, OpenTransactionLimits) {
    EXPECT_EQ(limit({10}, 100), 100);
    EXPECT_TRUE(draws(50));
    EXPECT_TRUE(draws(60));
    EXPECT_EQ(limit({10}, 100), 50);
    EXPECT_EQ(limit({10}, 40), 40);
    EXPECT_EQ(limit({10}, 100, database + 1), 100) << "another database";
    EXPECT_TRUE(draws(45));
    EXPECT_EQ(limit({10}, 100), 45);
    ends(0);
    EXPECT_EQ(limit({10}, 100), 100) << "aborted";
}

TEST_F(LedgerSettled, PromiseRejects) {
    promise.store(unix_us(70));
    EXPECT_FALSE(draws(69));
    EXPECT_EQ(limit({10}, 100), 100) << "an id that is thrown away holds nobody back";
    EXPECT_TRUE(draws(70));
    EXPECT_EQ(limit({10}, 100), 70);
    promise.store(unix_us(90));
    EXPECT_FALSE(draws(80));
    EXPECT_TRUE(draws(90));
    EXPECT_FALSE(draws(60));
    EXPECT_EQ(limit({10}, 100), 70);
}

TEST_F(LedgerSettled, CommittedAfterTheSnapshotLimits) {
    EXPECT_TRUE(draws(50));
    ends(11);
    EXPECT_EQ(limit({10}, 100), 50);
    EXPECT_EQ(limit({11}, 100), 100);
    EXPECT_EQ(limit({12, {11}}, 100), 50);
    EXPECT_EQ(limit({10}, 100, database + 1), 100) << "another database";
}

TEST_F(LedgerSettled, ATimeIsLateInProportionToTheAgeOfTheSnapshot) {
    for (const std::int64_t step : {50, 300, 5000}) {
        backend.ended.store(0);
        constexpr std::int64_t start = 1000000000, last = 200000;
        for (std::int64_t xid = 1; xid <= last; xid++) {
            backend.low.store(unix_us(start + xid * step));
            ends(static_cast<std::uint64_t>(xid));
        }
        EXPECT_EQ(backend.ended.load(), ring_size);
        const std::int64_t end = start + last * step, never = INT64_MAX - 1;
        EXPECT_EQ(limit({last}, never), never);
        for (std::int64_t seen = 0; seen < last; seen++) {
            const std::int64_t right = start + (seen + 1) * step, age = end - right;
            const std::int64_t t = limit({static_cast<std::uint64_t>(seen)}, never);
            ASSERT_LE(t, right);
            ASSERT_LE(right - t, 2 * (age + ring_resolution.count())) << step << " us, of age " << age;
        }
    }
}

TEST_F(LedgerSettled, TransactionsOfAMillisecondAreOneEntry) {
    const auto ended = [this](std::uint64_t xid, std::int64_t low) {
        backend.low.store(unix_us(low));
        ends(xid);
    };
    ended(1, 5000);
    ended(2, 5999);
    EXPECT_EQ(backend.ended.load(), 1u);
    EXPECT_EQ(limit({1}, 9999), 5000) << "late by what was merged";
    EXPECT_EQ(limit({2}, 9999), 9999);
    ended(3, 6000);
    EXPECT_EQ(backend.ended.load(), 2u);
    EXPECT_EQ(limit({2}, 9999), 6000);
    ended(4, 100);
    EXPECT_EQ(limit({2}, 9999), 100);
    EXPECT_EQ(limit({3}, 9999), 100);
    EXPECT_EQ(limit({4, {3}}, 9999), 9999) << "ended before one that the snapshot knows";
}

TEST_F(LedgerSettled, ATransactionThatWasOpenForLongIsAnEntryOfItsOwn) {
    std::uint64_t xid = 1;
    std::int64_t at = 1000000000;
    for (; xid <= 1000; xid++, at += 1000) {
        backend.low.store(unix_us(at));
        ends(xid);
    }
    const std::uint64_t long_one = xid;
    const std::int64_t began = at, never = INT64_MAX;
    backend.low.store(unix_us(began));
    at += 3600000000;
    ends(xid++);
    for (; xid <= 2000; xid++, at += 1000) {
        backend.low.store(unix_us(at));
        ends(xid);
    }
    EXPECT_LE(limit({long_one - 1}, never), began);
    EXPECT_GE(limit({long_one - 1}, never), began - 1000000);
    EXPECT_EQ(limit({long_one}, never), began + 3600000000) << "not that of the long one";
}

TEST_F(LedgerSettled, WhatEndedInAnotherDatabaseDoesNotCount) {
    for (std::uint64_t xid = 1; xid <= 10; xid++) {
        backend.database.store(database + xid % 2);
        backend.low.store(unix_us(static_cast<std::int64_t>(1000 * xid)));
        ends(xid);
    }
    EXPECT_EQ(limit({6}, 99999), 8000);
    EXPECT_EQ(limit({6}, 99999, database + 1), 7000);
    EXPECT_EQ(limit({6}, 99999, database + 2), 99999);
    for (std::uint64_t xid = 11; xid <= 100; xid++) {
        backend.database.store(database + xid % 2);
        backend.low.store(unix_us(static_cast<std::int64_t>(1000 * xid)));
        ends(xid);
    }
    EXPECT_LE(limit({6}, 999999), 8000) << "merged with those of the other database";
    EXPECT_EQ(limit({99}, 999999), 100000);
    EXPECT_EQ(limit({99}, 999999, database + 1), 999999);
}

TEST_F(LedgerSettled, APreparedTransactionHasAPlace) {
    const auto prepare = [&](std::uint64_t xid, std::uint64_t last_over) {
        return note_prepared(backend, 2, prepared_at(ledger), xid, [=](std::uint64_t x) { return x <= last_over; });
    };
    const auto prepared_limit = [&](const Snapshot& snapshot, std::uint64_t of = database) {
        UnixTime t = unix_us(100);
        for (int i = 0; i < 2; i++) limit_by(ledger.prepared[i], of, snapshot, t);
        return number_of(t);
    };
    EXPECT_TRUE(draws(50));
    EXPECT_TRUE(prepare(11, 0));
    ends(0);
    EXPECT_EQ(prepared_limit({10}), 50);
    EXPECT_EQ(prepared_limit({10}, database + 1), 100);
    EXPECT_EQ(prepared_limit({11}), 100);
    EXPECT_TRUE(draws(60));
    EXPECT_TRUE(prepare(12, 0));
    EXPECT_FALSE(prepare(13, 0)) << "no room";
    EXPECT_TRUE(prepare(13, 11));
    ends(0);
    EXPECT_EQ(prepared_limit({10}), 50) << "it is in the ring of the place";
    EXPECT_EQ(prepared_limit({11}), 60);
    EXPECT_EQ(prepared_limit({12, {11}}), 50);
    EXPECT_EQ(prepared_limit({13}), 100);
    EXPECT_EQ(limit({10}, 100), 100) << "nothing of it is left with the process";
}

// With its own tables only, whoever had the place before.
TEST_F(LedgerSettled, APreparedTransactionKeepsItsTables) {
    constexpr std::uint64_t first = 7, second = 8;
    const auto prepare = [&](std::uint64_t xid, std::int64_t t, std::uint64_t table) {
        EXPECT_TRUE(draws(t));
        if (table != 0) note_table(ledger.header->promise, backend, table);
        EXPECT_TRUE(note_prepared(backend, 1, prepared_at(ledger), xid, [=](std::uint64_t x) { return x < xid; }));
        ends(0);
    };
    const auto limit_of = [&](std::uint64_t last, std::uint64_t table) {
        UnixTime t = unix_us(100);
        limit_by(ledger.prepared[0], database, Snapshot{last}, t, table);
        return number_of(t);
    };
    prepare(11, 50, first);
    EXPECT_EQ(limit_of(10, first), 50);
    EXPECT_EQ(limit_of(10, second), 100);
    prepare(12, 60, second);
    EXPECT_EQ(limit_of(11, second), 60);
    EXPECT_EQ(limit_of(11, first), 100);
    prepare(13, 70, 0);
    EXPECT_EQ(limit_of(12, first), 100);
    EXPECT_EQ(limit_of(12, second), 100);
    EXPECT_EQ(limit_of(12, all_tables), 70);
}

// ---- the promise outlives the memory

struct LedgerPromise : testing::Test {
    DataDirectory data;

    static CeilingError lifted(const ServerLife& life, Ceiling least) {
        return lift_settled(life.data.place, life.ledger, least).error;
    }
};

TEST_F(LedgerPromise, HoldsForEveryGeneratorOfTheNextLife) {
    {
        const ServerLife life(data, 1);
        life.slot({Format::sno, 3, 0});
        EXPECT_EQ(lifted(life, now), CeilingError::none);
        EXPECT_EQ(life.ledger.header->settled_ceiling.load(), now);
        EXPECT_EQ(data.content().settled, now);
        EXPECT_EQ(lifted(life, now - 1ms), CeilingError::none);
        EXPECT_EQ(data.content().settled, now) << "never lower";
    }
    const ServerLife next(data, 2, now - 3600000ms);
    EXPECT_EQ(next.ledger.header->settled_ceiling.load(), now);
    Slot& slot = next.slot({Format::sno, 4, 0});
    apply_floor(next.ledger, slot);
    EXPECT_GE(next.stands_at(slot) + 4ms, now);
}

TEST_F(LedgerPromise, IsRaisedAlongOnceThereIsOne) {
    const ServerLife life(data, 1);
    const Slot& slot = life.slot({Format::sno, 3, 0});
    EXPECT_EQ(life.lift(slot, now, {{}, now}).error, CeilingError::none);
    EXPECT_EQ(data.content().settled, Ceiling{});
    life.ledger.header->promise.store(unix_us(1));
    EXPECT_EQ(life.lift(slot, now + 5000ms, {{}, now + 2500ms}).error, CeilingError::none);
    EXPECT_EQ(data.content().settled, now + 2500ms);
    EXPECT_EQ(life.ledger.header->settled_ceiling.load(), now + 2500ms);
}

TEST_F(LedgerPromise, CountsOnlyWhenItIsSynced) {
    const ServerLife life(data, 1);
    on_sync = [] { return EIO; };
    EXPECT_EQ(lifted(life, now), CeilingError::io);
    EXPECT_EQ(life.ledger.header->settled_ceiling.load(), Ceiling{});
    on_sync = nullptr;
    EXPECT_EQ(lifted(life, now), CeilingError::none);
}

TEST_F(LedgerPromise, IsWrittenAgainToAFileThatIsNew) {
    const ServerLife life(data, 1);
    EXPECT_EQ(lifted(life, now), CeilingError::none);
    std::filesystem::remove(data.path);
    EXPECT_EQ(life.lifted(life.slot({Format::sno, 3, 0}), now + 1ms), CeilingError::none);
    EXPECT_EQ(data.content().settled, now);
}

TEST_F(LedgerPromise, IsRefusedToALifeThatIsOver) {
    const ServerLife orphan(data, 1), next(data, 2);
    EXPECT_EQ(lifted(orphan, now), CeilingError::superseded);
    EXPECT_EQ(orphan.ledger.header->settled_ceiling.load(), Ceiling{});
}

TEST_F(LedgerPromise, GoesBackWithAForcedResetOnly) {
    const ServerLife life(data, 1);
    EXPECT_EQ(lifted(life, now + 3600000ms), CeilingError::none);
    life.ledger.header->promise.store(now + 3600000ms);
    Reset reset{.floor = now, .ceiling = now + 2500ms};
    EXPECT_EQ(apply_reset(data.place, life.ledger, reset).error, CeilingError::none);
    EXPECT_EQ(data.content().settled, now + 3600000ms);
    reset.force = true;
    EXPECT_EQ(apply_reset(data.place, life.ledger, reset).error, CeilingError::none);
    EXPECT_EQ(data.content().settled, now + 2500ms);
    EXPECT_EQ(life.ledger.header->settled_ceiling.load(), now + 2500ms);
    EXPECT_EQ(life.ledger.header->promise.load(), now);
}

}  // namespace
}  // namespace snowflake_ids::ledger
