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

namespace snowflake_ids::ledger {
namespace {

using namespace snowflake_ids::test;

constexpr std::uint64_t database = 5, now_ms = 1798761600000;

// A snapshot that knows the transactions up to one as finished, but for some.
struct Snapshot {
    std::uint64_t last;
    std::set<std::uint64_t> open{};

    bool operator()(std::uint64_t xid) const { return xid <= last && !open.contains(xid); }
};

struct LedgerSettled : testing::Test {
    LedgerMemory memory;
    Ledger ledger = memory.make();
    Backend& backend = ledger.backends[0];
    Word& promise = ledger.header->promise;
    std::uint64_t covered = no_low;

    LedgerSettled() { backend.database.store(database); }
    bool draws(std::uint64_t t) { return accepts(promise, backend, t, covered); }
    void ends(std::uint64_t xid) {
        end_transaction(backend, xid);
        covered = no_low;
    }
    std::uint64_t limit(const Snapshot& snapshot, std::uint64_t t, std::uint64_t of = database) {
        limit_by(backend, of, snapshot, t);
        return t;
    }
};

TEST_F(LedgerSettled, OpenTransactionLimits) {
    EXPECT_EQ(limit({10}, 100), 100u);
    EXPECT_TRUE(draws(50));
    EXPECT_TRUE(draws(60));
    EXPECT_EQ(limit({10}, 100), 50u);
    EXPECT_EQ(limit({10}, 40), 40u);
    EXPECT_EQ(limit({10}, 100, database + 1), 100u) << "another database";
    EXPECT_TRUE(draws(45));
    EXPECT_EQ(limit({10}, 100), 45u);
    ends(0);
    EXPECT_EQ(limit({10}, 100), 100u) << "aborted";
}

TEST_F(LedgerSettled, PromiseRejects) {
    promise.store(70);
    EXPECT_FALSE(draws(69));
    EXPECT_EQ(covered, 70u);
    EXPECT_TRUE(draws(70));
    EXPECT_LE(limit({10}, 100), 70u);
    // Another promise since: also what is covered keeps it.
    promise.store(90);
    EXPECT_FALSE(draws(80));
    EXPECT_TRUE(draws(90));
    EXPECT_FALSE(draws(60));
    EXPECT_EQ(covered, 70u);
}

TEST_F(LedgerSettled, CommittedAfterTheSnapshotLimits) {
    EXPECT_TRUE(draws(50));
    ends(11);
    EXPECT_EQ(limit({10}, 100), 50u);
    EXPECT_EQ(limit({11}, 100), 100u);
    EXPECT_EQ(limit({12, {11}}, 100), 50u);
    EXPECT_EQ(limit({10}, 100, database + 1), 100u) << "another database";
}

// As a snapshot of any age sees it: transactions of a process that never stops.
TEST_F(LedgerSettled, ATimeIsLateInProportionToTheAgeOfTheSnapshot) {
    for (const std::uint64_t step : {50u, 300u, 5000u}) {
        backend.ended.store(0);
        constexpr std::uint64_t start = 1000000000, last = 200000;
        for (std::uint64_t xid = 1; xid <= last; xid++) {
            backend.low.store(start + xid * step);
            ends(xid);
        }
        EXPECT_EQ(backend.ended.load(), ring_size);
        const std::uint64_t now = start + last * step, never = ~std::uint64_t{0} - 1;
        EXPECT_EQ(limit({last}, never), never);
        for (std::uint64_t seen = 0; seen < last; seen++) {
            const std::uint64_t right = start + (seen + 1) * step, t = limit({seen}, never), age = now - right;
            ASSERT_LE(t, right);
            ASSERT_LE(right - t, 2 * (age + ring_resolution_us)) << step << " us, of age " << age;
        }
    }
}

TEST_F(LedgerSettled, TransactionsOfAMillisecondAreOneEntry) {
    const auto ended = [this](std::uint64_t xid, std::uint64_t low) {
        backend.low.store(low);
        ends(xid);
    };
    ended(1, 5000);
    ended(2, 5999);
    EXPECT_EQ(backend.ended.load(), 1u);
    EXPECT_EQ(limit({1}, 9999), 5000u) << "late by what was merged";
    EXPECT_EQ(limit({2}, 9999), 9999u);
    ended(3, 6000);
    EXPECT_EQ(backend.ended.load(), 2u);
    EXPECT_EQ(limit({2}, 9999), 6000u);
    ended(4, 100);
    EXPECT_EQ(limit({2}, 9999), 100u);
    EXPECT_EQ(limit({3}, 9999), 100u);
    EXPECT_EQ(limit({4, {3}}, 9999), 9999u) << "ended before one that the snapshot knows";
}

TEST_F(LedgerSettled, ATransactionThatWasOpenForLongIsAnEntryOfItsOwn) {
    std::uint64_t xid = 1, now = 1000000000;
    for (; xid <= 1000; xid++, now += 1000) {
        backend.low.store(now);
        ends(xid);
    }
    const std::uint64_t long_one = xid, began = now;
    backend.low.store(began);
    now += 3600000000;
    ends(xid++);
    for (; xid <= 2000; xid++, now += 1000) {
        backend.low.store(now);
        ends(xid);
    }
    // The second before the hour is one entry with it.
    EXPECT_LE(limit({long_one - 1}, no_low), began);
    EXPECT_GE(limit({long_one - 1}, no_low), began - 1000000);
    EXPECT_EQ(limit({long_one}, no_low), began + 3600000000) << "not that of the long one";
}

// Processes of several databases, one after another in the same place.
TEST_F(LedgerSettled, WhatEndedInAnotherDatabaseDoesNotCount) {
    for (std::uint64_t xid = 1; xid <= 10; xid++) {
        backend.database.store(database + xid % 2);
        backend.low.store(1000 * xid);
        ends(xid);
    }
    EXPECT_EQ(limit({6}, 99999), 8000u);
    EXPECT_EQ(limit({6}, 99999, database + 1), 7000u);
    EXPECT_EQ(limit({6}, 99999, database + 2), 99999u);
    for (std::uint64_t xid = 11; xid <= 100; xid++) {
        backend.database.store(database + xid % 2);
        backend.low.store(1000 * xid);
        ends(xid);
    }
    EXPECT_LE(limit({6}, 999999), 8000u) << "merged with those of the other database";
    EXPECT_EQ(limit({99}, 999999), 100000u);
    EXPECT_EQ(limit({99}, 999999, database + 1), 999999u);
}

TEST_F(LedgerSettled, APreparedTransactionHasAPlace) {
    const auto prepare = [&](std::uint64_t xid, std::uint64_t last_over) {
        return note_prepared(backend, 2, prepared_at(ledger), xid, [=](std::uint64_t x) { return x <= last_over; });
    };
    const auto prepared_limit = [&](const Snapshot& snapshot, std::uint64_t of = database) {
        std::uint64_t t = 100;
        for (int i = 0; i < 2; i++) limit_by(ledger.prepared[i], of, snapshot, t);
        return t;
    };
    EXPECT_TRUE(draws(50));
    EXPECT_TRUE(prepare(11, 0));
    ends(0);
    EXPECT_EQ(prepared_limit({10}), 50u);
    EXPECT_EQ(prepared_limit({10}, database + 1), 100u);
    EXPECT_EQ(prepared_limit({11}), 100u);
    EXPECT_TRUE(draws(60));
    EXPECT_TRUE(prepare(12, 0));
    EXPECT_FALSE(prepare(13, 0)) << "no room";
    EXPECT_TRUE(prepare(13, 11));
    ends(0);
    EXPECT_EQ(prepared_limit({10}), 50u) << "it is in the ring of the place";
    EXPECT_EQ(prepared_limit({11}), 60u);
    EXPECT_EQ(prepared_limit({12, {11}}), 50u);
    EXPECT_EQ(prepared_limit({13}), 100u);
    EXPECT_EQ(limit({10}, 100), 100u) << "nothing of it is left with the process";
}

// ---- the promise outlives the memory

struct LedgerPromise : testing::Test {
    DataDirectory data;

    static CeilingError raised(const ServerLife& life, std::uint64_t ms) {
        return raise_settled(life.data.place, life.ledger, ms).error;
    }
};

TEST_F(LedgerPromise, HoldsForEveryGeneratorOfTheNextLife) {
    {
        const ServerLife life(data, 1);
        life.slot({Format::sno, 3, 0});
        EXPECT_EQ(raised(life, now_ms), CeilingError::none);
        EXPECT_EQ(life.ledger.header->settled_ms.load(), now_ms);
        EXPECT_EQ(data.content().settled_ms, now_ms);
        EXPECT_EQ(raised(life, now_ms - 1), CeilingError::none);
        EXPECT_EQ(data.content().settled_ms, now_ms) << "never lower";
    }
    // The clock has gone back: the next life would begin an hour before.
    const ServerLife next(data, 2, now_ms - 3600000);
    EXPECT_EQ(next.ledger.header->settled_ms.load(), now_ms);
    Slot& slot = next.slot({Format::sno, 4, 0});
    apply_floor(next.ledger, slot);
    EXPECT_GE(next.stands_at_ms(slot) + 4, now_ms);
}

TEST_F(LedgerPromise, IsRaisedAlongOnceThereIsOne) {
    const ServerLife life(data, 1);
    const Slot& slot = life.slot({Format::sno, 3, 0});
    EXPECT_EQ(life.raise(slot, now_ms, {0, now_ms}).error, CeilingError::none);
    EXPECT_EQ(data.content().settled_ms, 0u);
    life.ledger.header->promise.store(1);
    EXPECT_EQ(life.raise(slot, now_ms + 5000, {0, now_ms + 2500}).error, CeilingError::none);
    EXPECT_EQ(data.content().settled_ms, now_ms + 2500);
    EXPECT_EQ(life.ledger.header->settled_ms.load(), now_ms + 2500);
}

TEST_F(LedgerPromise, CountsOnlyWhenItIsSynced) {
    const ServerLife life(data, 1);
    on_sync = [] { return EIO; };
    EXPECT_EQ(raised(life, now_ms), CeilingError::io);
    EXPECT_EQ(life.ledger.header->settled_ms.load(), 0u);
    on_sync = nullptr;
    EXPECT_EQ(raised(life, now_ms), CeilingError::none);
}

TEST_F(LedgerPromise, IsWrittenAgainToAFileThatIsNew) {
    const ServerLife life(data, 1);
    EXPECT_EQ(raised(life, now_ms), CeilingError::none);
    std::filesystem::remove(data.path);
    EXPECT_EQ(life.raised(life.slot({Format::sno, 3, 0}), now_ms + 1), CeilingError::none);
    EXPECT_EQ(data.content().settled_ms, now_ms);
}

TEST_F(LedgerPromise, IsRefusedToALifeThatIsOver) {
    const ServerLife orphan(data, 1), next(data, 2);
    EXPECT_EQ(raised(orphan, now_ms), CeilingError::superseded);
    EXPECT_EQ(orphan.ledger.header->settled_ms.load(), 0u);
}

TEST_F(LedgerPromise, GoesBackWithAForcedResetOnly) {
    const ServerLife life(data, 1);
    EXPECT_EQ(raised(life, now_ms + 3600000), CeilingError::none);
    life.ledger.header->promise.store((now_ms + 3600000) * 1000);
    Reset reset{.floor_ms = now_ms, .ceiling_ms = now_ms + 2500};
    EXPECT_EQ(apply(data.place, life.ledger, reset).error, CeilingError::none);
    EXPECT_EQ(data.content().settled_ms, now_ms + 3600000);
    reset.force = true;
    EXPECT_EQ(apply(data.place, life.ledger, reset).error, CeilingError::none);
    EXPECT_EQ(data.content().settled_ms, now_ms + 2500);
    EXPECT_EQ(life.ledger.header->settled_ms.load(), now_ms + 2500);
    EXPECT_EQ(life.ledger.header->promise.load(), now_ms * 1000);
}

}  // namespace
}  // namespace snowflake_ids::ledger
