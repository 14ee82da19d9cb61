// Each step of settled.hpp by itself: what it leaves in which word, in which order, and what it does if another process
// comes in between.
#include <gtest/gtest.h>

#include "ledger/settled.hpp"
#include "support/ledger_hooked.hpp"

namespace snowflake_ids::ledger {
namespace {

using namespace snowflake_ids::test;

// Words in shared memory: sessions of two versions may share them.
static_assert(no_low == 0xffff'ffff'ffff'ffff && being_written == 0xffff'ffff'ffff'ffff);
static_assert(ended_mark == 0x8000'0000'0000'0000 && adopted_mark == 0x4000'0000'0000'0000);
static_assert(unordered_mark == 0x8000'0000'0000'0000 && over_mark == 0x4000'0000'0000'0000);

struct Words {
    HookedWord low{no_low}, database, holder, ended;
    struct {
        HookedWord xid, low;
    } ring[4];
};

struct Entry {
    HookedWord xid, low, database;
};

// A snapshot that knows all transactions up to `last` as finished. The backend's process has `running` open.
struct View {
    std::uint64_t last, running = 0;

    bool finished(std::uint64_t xid) const { return xid <= last; }
    bool is_after(std::uint64_t xid) const { return xid <= last + 1; }
    bool runs(std::uint64_t lxid) const { return lxid == running; }
    std::uint64_t next_xid() const { return last + 1; }
};

struct LedgerSettledSteps : testing::Test {
    Words backend;
    HookedWord promise;
    std::uint64_t covered = no_low;

    bool draws(std::uint64_t t) { return accepts(promise, backend, t, covered); }
    void ends(std::uint64_t lxid, std::uint64_t xid) {
        end_transaction(backend, lxid, xid, [] { return std::uint64_t{77}; });
    }
    std::uint64_t limit(const View& view) {
        std::uint64_t t = 100;
        return limit_by(backend, 0, view, t) ? t : 0;
    }
};

// ---- draws

TEST_F(LedgerSettledSteps, LowGoesDownWhateverOthersDo) {
    HookedWord word{100};
    word.before_swap = [&] { word.value = 70; };
    lower_to(word, 50);
    EXPECT_EQ(word.value, 50u);
    word.before_swap = [&] { word.value = 20; };
    lower_to(word, 40);
    EXPECT_EQ(word.value, 20u);
}

TEST_F(LedgerSettledSteps, AnIdAtThePromiseIsAccepted) {
    promise.value = 50;
    EXPECT_TRUE(draws(50));
    EXPECT_EQ(covered, 50u);
}

// What is covered is not looked at again: the promise may have risen since.
TEST_F(LedgerSettledSteps, CoveredIdsAreAccepted) {
    EXPECT_TRUE(draws(50));
    promise.value = 90;
    EXPECT_TRUE(draws(50));
    EXPECT_TRUE(draws(80));
    EXPECT_FALSE(draws(49));
    EXPECT_EQ(covered, 50u);
}

// ---- workers

TEST_F(LedgerSettledSteps, LeaderThatHasDrawnNeedsNoHolder) {
    EXPECT_TRUE(draws(50));
    hold_for(backend, 7);
    EXPECT_EQ(backend.holder.value, 0u);
}

TEST_F(LedgerSettledSteps, HolderIsNotedOnce) {
    hold_for(backend, 7);
    EXPECT_TRUE(draws(50));
    hold_for(backend, 7);
    EXPECT_EQ(backend.holder.value, 7u) << "the low is that of transaction 7 alone";
    hold_for(backend, 8);
    EXPECT_EQ(backend.holder.value, 8 | adopted_mark);
    hold_for(backend, 8);
    EXPECT_EQ(backend.holder.value, 8 | adopted_mark);
}

TEST_F(LedgerSettledSteps, TransactionOneIsAsGoodAsAnother) {
    hold_for(backend, 1);
    EXPECT_TRUE(draws(50));
    hold_for(backend, 9);
    EXPECT_EQ(backend.holder.value, 9 | adopted_mark);
    backend = {};
    covered = no_low;
    hold_for(backend, 1);
    EXPECT_TRUE(draws(50));
    ends(1, 0);
    EXPECT_EQ(backend.holder.value, 0u);
    EXPECT_EQ(backend.low.value, no_low);
}

TEST_F(LedgerSettledSteps, HolderWhileAReaderMarksTheOldOne) {
    hold_for(backend, 7);
    EXPECT_TRUE(draws(50));
    backend.holder.before_swap = [&] { backend.holder.value = 11 | ended_mark; };
    hold_for(backend, 9);
    EXPECT_EQ(backend.holder.value, 9 | adopted_mark);
}

// ---- the end

TEST_F(LedgerSettledSteps, EndOfATransactionWithoutIdsIsNotNoted) {
    ends(7, 11);
    EXPECT_EQ(backend.ended.value, 0u);
    backend.low.value = 50;
    ends(7, 12);
    EXPECT_EQ(backend.ended.value, 1u);
}

TEST_F(LedgerSettledSteps, EndOfAnotherTransactionChangesNothing) {
    hold_for(backend, 7);
    EXPECT_TRUE(draws(50));
    ends(8, 11);
    EXPECT_EQ(backend.low.value, 50u);
    EXPECT_EQ(backend.holder.value, 7u);
    EXPECT_EQ(backend.ended.value, 0u);
    ends(7, 11);
    EXPECT_EQ(backend.low.value, no_low);
    EXPECT_EQ(backend.holder.value, 0u);
    EXPECT_EQ(backend.ring[0].xid.value, 11u);
    EXPECT_EQ(backend.ring[0].low.value, 50u);
}

TEST_F(LedgerSettledSteps, EntryIsWholeBeforeItCounts) {
    bool counted = false;
    backend.ended.before_store = [&] {
        counted = true;
        EXPECT_EQ(backend.ring[0].xid.value, 11u);
        EXPECT_EQ(backend.ring[0].low.value, 50u);
    };
    note_ended(backend, 11, 50);
    EXPECT_TRUE(counted);
}

// ---- readers

// The reader does not ask whether the process has "transaction 0" open.
TEST_F(LedgerSettledSteps, LeaderWithoutHolderStaysUnmarked) {
    EXPECT_TRUE(draws(50));
    EXPECT_EQ(limit({10, 8}), 50u);
    EXPECT_EQ(backend.holder.value, 0u);
}

TEST_F(LedgerSettledSteps, HolderThatIsOverCountsForOlderSnapshotsOnly) {
    hold_for(backend, 7);
    EXPECT_TRUE(draws(50));
    EXPECT_EQ(limit({10, 8}), 100u) << "the reader has marked it, and its snapshot is newer";
    EXPECT_EQ(backend.holder.value, 11 | ended_mark);
    EXPECT_EQ(limit({9, 8}), 50u);
}

// The leader's next transaction has taken over before the reader marks the old one.
TEST_F(LedgerSettledSteps, HolderThatChangesWhileItIsMarked) {
    hold_for(backend, 7);
    EXPECT_TRUE(draws(50));
    backend.holder.before_swap = [&] { backend.holder.value = 9 | adopted_mark; };
    EXPECT_EQ(limit({10, 9}), 50u);
    EXPECT_EQ(backend.holder.value, 9 | adopted_mark);
}

TEST_F(LedgerSettledSteps, UnorderedEntryDoesNotEndTheSearch) {
    note_ended(backend, 12, 50);
    note_ended(backend, 9 | unordered_mark, 30);
    EXPECT_EQ(limit({10}), 50u);
    note_ended(backend, 10, 40);
    EXPECT_EQ(limit({10}), 100u);
}

// Many transactions end after the reader has found the ring empty: it needs none of them.
TEST_F(LedgerSettledSteps, EmptyRingIsNeverOvertaken) {
    backend.ended.before_load = [&] { backend.ended.before_load = [&] { backend.ended.value = 100; }; };
    EXPECT_EQ(limit({10}), 100u);
}

// ---- prepared transactions

struct LedgerSettledTable : LedgerSettledSteps {
    Entry table[3];
    HookedWord reused;

    bool prepare(std::uint64_t xid, std::uint64_t last_over = 0) {
        return note_prepared(
            backend, reused, 2, [this](std::uint32_t i) -> Entry& { return table[i]; }, xid, 5,
            [=](std::uint64_t x) { return x <= last_over; });
    }
    std::uint64_t prepared_limit(const View& view) {
        std::uint64_t t = 100;
        limit_by_prepared(
            2, [this](std::uint32_t i) -> Entry& { return table[i]; }, 5, view, t);
        return t;
    }
    void draw_and_prepare(std::uint64_t xid, std::uint64_t low) {
        backend.low.value = low;
        EXPECT_TRUE(prepare(xid));
    }
};

TEST_F(LedgerSettledTable, EveryEntryCounts) {
    draw_and_prepare(11, 50);
    draw_and_prepare(12, 60);
    EXPECT_EQ(prepared_limit({10}), 50u);
    EXPECT_EQ(prepared_limit({11}), 60u);
    EXPECT_EQ(prepared_limit({12}), 100u);
    table[2].xid.value = 13, table[2].low.value = 1, table[2].database.value = 5;
    EXPECT_EQ(prepared_limit({10}), 50u) << "not what is behind the table";
}

TEST_F(LedgerSettledTable, EntryIsWholeBeforeItHasATransaction) {
    backend.low.value = 50;
    bool taken = false, written = false;
    table[0].xid.before_swap = [&] { taken = true; };
    table[0].xid.before_store = [&] {
        written = true;
        EXPECT_EQ(table[0].xid.value, being_written);
        EXPECT_EQ(table[0].low.value, 50u);
        EXPECT_EQ(table[0].database.value, 5u);
    };
    EXPECT_TRUE(prepare(11));
    EXPECT_TRUE(taken && written);
    EXPECT_EQ(table[0].xid.value, 11u);
}

TEST_F(LedgerSettledTable, EntryThatAnotherProcessTakes) {
    backend.low.value = 50;
    table[0].xid.before_swap = [&] { table[0].xid.value = being_written; };
    EXPECT_TRUE(prepare(11));
    EXPECT_EQ(table[0].xid.value, being_written);
    EXPECT_EQ(table[0].low.value, 0u);
    EXPECT_EQ(table[1].xid.value, 11u);
    EXPECT_EQ(table[1].low.value, 50u);
}

// A reader that has seen the new count finds the old transaction in the ring.
TEST_F(LedgerSettledTable, OldTransactionIsInTheRingBeforeItsEntryIsUsedAgain) {
    draw_and_prepare(11, 50);
    const std::uint64_t before = backend.ended.value;
    bool counted = false, taken = false;
    reused.before_store = [&] {
        counted = true;
        EXPECT_EQ(backend.ended.value, before + 1);
        EXPECT_EQ(backend.ring[before].xid.value, 11 | unordered_mark);
        EXPECT_EQ(backend.ring[before].low.value, 50u);
    };
    table[0].xid.before_swap = [&] {
        taken = true;
        EXPECT_EQ(reused.value, 1u);
    };
    backend.low.value = 70;
    EXPECT_TRUE(prepare(12, 11));
    EXPECT_TRUE(counted && taken);
}

}  // namespace
}  // namespace snowflake_ids::ledger
