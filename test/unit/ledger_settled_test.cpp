// Settled: the steps one after another, and what of the promise outlives the server's memory. Every interleaving is in
// ledger_settled_model_test.
#include "ledger/settled.hpp"

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
struct View {
    std::uint64_t last;
    std::set<std::uint64_t> open{};
    std::uint64_t running = 0;

    bool finished(std::uint64_t xid) const { return xid <= last && !open.contains(xid); }
    bool is_after(std::uint64_t xid) const { return (open.empty() && last + 1 >= xid) || finished(xid); }
    bool runs(std::uint64_t lxid) const { return lxid == running; }
    std::uint64_t next_xid() const { return last + 1; }
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
        end_transaction(backend, 0, xid, [] { return std::uint64_t{0}; });
        covered = no_low;
    }
    // 0: not known.
    std::uint64_t limit(const View& view, std::uint64_t t, std::uint64_t of = database) {
        return limit_by(backend, of, view, t) ? t : 0;
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
    // Another promise since: what is covered is not looked at again, and need not be.
    promise.store(90);
    EXPECT_TRUE(draws(80));
    EXPECT_FALSE(draws(60));
    EXPECT_EQ(covered, 70u);
}

TEST_F(LedgerSettled, CommittedAfterTheSnapshotLimits) {
    EXPECT_TRUE(draws(50));
    ends(11);
    EXPECT_EQ(limit({10}, 100), 50u);
    EXPECT_EQ(limit({11}, 100), 100u);
    EXPECT_EQ(limit({12, {11}}, 100), 50u);
    EXPECT_EQ(limit({10}, 100, database + 1), 50u) << "careful about processes that have changed their database";
}

TEST_F(LedgerSettled, TheRingHoldsThirty) {
    for (std::uint64_t xid = 1; xid <= 100; xid++) {
        EXPECT_TRUE(draws(1000 + xid));
        ends(xid);
    }
    EXPECT_EQ(limit({100}, 9999), 9999u);
    EXPECT_EQ(limit({70}, 9999), 1071u);
    EXPECT_EQ(limit({69}, 9999), 0u) << "31, and which one came before is not known";
    EXPECT_EQ(limit({100, {70}}, 9999), 9999u) << "ended before one that the snapshot knows";
}

TEST_F(LedgerSettled, WorkersAreHeldForTheirLeader) {
    hold_for(backend, 7);
    EXPECT_TRUE(draws(50));
    EXPECT_EQ(limit({10, {}, 7}, 100), 50u);
    // The leader has not taken it back: it counts for a snapshot that may be older than the end of its transaction.
    EXPECT_EQ(limit({10, {9}, 8}, 100), 50u);
    EXPECT_EQ(backend.holder.load(), 11 | ended_mark);
    EXPECT_EQ(limit({10, {9}, 8}, 100), 50u);
    EXPECT_EQ(limit({10, {}, 8}, 100), 100u) << "all earlier ones are finished";
    EXPECT_EQ(limit({11, {9}, 8}, 100), 100u);
    // The leader's next transaction takes it over.
    hold_for(backend, 9);
    EXPECT_EQ(backend.holder.load(), 9 | adopted_mark);
    EXPECT_EQ(limit({11, {}, 9}, 100), 50u);
    end_transaction(backend, 9, 0, [] { return std::uint64_t{20}; });
    EXPECT_EQ(backend.low.load(), no_low);
    EXPECT_EQ(limit({19, {18}, 0}, 100), 50u);
    EXPECT_EQ(limit({19, {}, 0}, 100), 100u);
    EXPECT_EQ(limit({20, {18}, 0}, 100), 100u);
}

TEST_F(LedgerSettled, WhatIsLeftBehindIsOfItsOwnDatabase) {
    hold_for(backend, 7);
    EXPECT_TRUE(draws(50));
    // Another process has got the place, and is in another database.
    hold_for(backend, 9);
    backend.database.store(database + 1);
    covered = no_low;
    EXPECT_TRUE(draws(60));
    EXPECT_EQ(limit({10, {}, 9}, 100), 50u);
    EXPECT_EQ(limit({10, {}, 9}, 100, database + 1), 50u);
    // Its transaction is over too, and nothing was taken back.
    EXPECT_EQ(limit({10, {9}, 8}, 100), 50u);
    EXPECT_EQ(backend.holder.load(), 11 | ended_mark | adopted_mark);
    EXPECT_EQ(limit({10, {9}, 8}, 100, database + 1), 50u);
    EXPECT_EQ(limit({11, {9}, 8}, 100), 100u);
}

TEST_F(LedgerSettled, APreparedTransactionIsInTheTable) {
    const auto entry = [this](std::uint32_t i) -> Prepared& { return ledger.prepared[i]; };
    const auto prepare = [&](std::uint64_t xid, std::uint64_t last_over) {
        return note_prepared(backend, ledger.header->prepared_reused, 2, entry, xid, database,
                             [=](std::uint64_t x) { return x <= last_over; });
    };
    const auto prepared_limit = [&](const View& view, std::uint64_t of = database) {
        std::uint64_t t = 100;
        limit_by_prepared(2, entry, of, view, t);
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
    EXPECT_EQ(ledger.header->prepared_reused.load(), 0u);
    EXPECT_TRUE(prepare(13, 11));
    EXPECT_EQ(ledger.header->prepared_reused.load(), 1u);
    ends(0);
    EXPECT_EQ(limit({10}, 100), 50u) << "it is in the ring now";
    EXPECT_EQ(limit({11}, 100), 100u);
}

// A process that only prepares transactions. The last ones it has prepared are always over.
TEST_F(LedgerSettled, TheRingDoesNotFillUpWithPreparedOnes) {
    const auto entry = [this](std::uint32_t i) -> Prepared& { return ledger.prepared[i]; };
    for (std::uint64_t xid = 1; xid <= 100; xid++) {
        EXPECT_TRUE(draws(1000 + xid));
        EXPECT_TRUE(note_prepared(backend, ledger.header->prepared_reused, 2, entry, xid, database,
                                  [=](std::uint64_t x) { return x < xid; }));
        ends(0);
    }
    EXPECT_EQ(limit({100}, 9999), 9999u);
    EXPECT_EQ(limit({99}, 9999), 9999u) << "100 is in the table";
    EXPECT_EQ(limit({97}, 9999), 1098u);
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
