// Each step of settling.hpp by itself, also if another process comes in between.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "ledger/settling.hpp"
#include "support/ledger_hooked.hpp"
#include "support/times.hpp"

namespace snowflake_ids::ledger {
namespace {

using namespace snowflake_ids::test;

// Two versions may share the memory.
static_assert(number_of(no_low) == INT64_MAX && taken_mark == 0x8000'0000'0000'0000 && any_database == 0);

struct Words {
    HookedWord<UnixTime> low{no_low};
    HookedWord<> database{5}, xid, ended, every_table, table_count, tables[2];
    struct {
        HookedWord<> xid;
        HookedWord<UnixTime> low;
        HookedWord<> database;
    } ring[4];
};

struct LedgerSettledSteps : testing::Test {
    Words backend;
    HookedWord<UnixTime> promise;

    bool draws(std::int64_t us) { return admit(promise, backend, unix_us(us)); }
    void ends(std::uint64_t xid) { end_transaction(backend, xid); }
    std::int64_t limit(std::uint64_t last, std::uint64_t database = 5) {
        UnixTime t = unix_us(100);
        limit_by(
            backend, database, [=](std::uint64_t xid) { return xid <= last; }, t);
        return number_of(t);
    }
    void note(std::uint64_t xid, std::int64_t low, std::uint64_t database) {
        note_ended(backend, xid, unix_us(low), database);
    }
    void put(unsigned place, std::uint64_t xid, std::int64_t low, std::uint64_t database = 5) {
        backend.ring[place].xid.value = xid;
        backend.ring[place].low.value = unix_us(low);
        backend.ring[place].database.value = database;
        backend.ended.value = place + 1;
    }
    std::string ring() {
        std::string all;
        for (std::uint64_t i = 0; i < backend.ended.value; i++) {
            const auto& e = backend.ring[i];
            all += (i > 0 ? ", " : "") + std::to_string(e.xid.value) + " " + std::to_string(number_of(e.low.value)) +
                   " " + std::to_string(e.database.value);
        }
        return all;
    }
};

// ---- one table

TEST_F(LedgerSettledSteps, WhatDoesNotCountIsPassedOverButNotItsRing) {
    EXPECT_TRUE(draws(50));
    UnixTime t = unix_us(100);
    const auto finished = [](std::uint64_t xid) { return xid == 0; };
    note_table(promise, backend, 8);
    limit_by(backend, 5, finished, t, 7);
    EXPECT_EQ(t, unix_us(100));
    note_table(promise, backend, 7);
    limit_by(backend, 5, finished, t, 7);
    EXPECT_EQ(t, unix_us(50));
    // The tables are cleared when the ring has the transaction.
    backend.table_count.before_store = [&] {
        EXPECT_EQ(ring() + " " + std::to_string(backend.low.value == no_low), "11 50 5 1");
    };
    ends(11);
    EXPECT_EQ(backend.table_count.value, 0u);
    t = unix_us(100);
    limit_by(backend, 5, finished, t, 7);
    EXPECT_EQ(t, unix_us(50));
}

TEST_F(LedgerSettledSteps, TablesAreNotedOnceAndBeforeTheyCount) {
    const auto reads = [&](std::uint64_t table) { return has_noted(backend, table); };
    backend.table_count.before_store = [&] { EXPECT_EQ(backend.tables[backend.table_count.value].value, 7u); };
    note_table(promise, backend, 7);
    note_table(promise, backend, 7);
    EXPECT_EQ(backend.table_count.value, 1u);
    EXPECT_TRUE(reads(7));
    EXPECT_FALSE(reads(8));
    backend.table_count.before_store = nullptr;
    note_table(promise, backend, 8);
    EXPECT_TRUE(reads(8));
    EXPECT_FALSE(reads(9));
    note_table(promise, backend, 9);
    EXPECT_EQ(backend.table_count.value, 2u);
    EXPECT_TRUE(reads(9) && reads(10)) << "more than fit: every table";
    ends(0);
    EXPECT_FALSE(reads(7) || reads(8) || reads(9)) << "a transaction that has noted tables and got no id";
}

// ---- the end

TEST_F(LedgerSettledSteps, EndOfATransactionWithoutIdsIsNotNoted) {
    ends(11);
    EXPECT_EQ(ring(), "");
    backend.low.value = unix_us(50);
    ends(12);
    EXPECT_EQ(ring(), "12 50 5");
    EXPECT_EQ(backend.low.value, no_low);
    backend.low.value = unix_us(60);
    ends(0);
    EXPECT_EQ(ring(), "12 50 5") << "aborted";
    EXPECT_EQ(backend.low.value, no_low);
}

TEST_F(LedgerSettledSteps, EntryIsWholeBeforeItCounts) {
    bool counted = false;
    backend.ended.before_store = [&] {
        counted = true;
        backend.ended.value = 1;
        EXPECT_EQ(ring(), "11 50 5");
    };
    note(11, 50, 5);
    EXPECT_TRUE(counted);
}

TEST_F(LedgerSettledSteps, EntryIsNotedBeforeLowIsCleared) {
    backend.low.value = unix_us(50);
    bool cleared = false;
    backend.low.before_store = [&] {
        cleared = true;
        EXPECT_EQ(ring(), "11 50 5");
    };
    ends(11);
    EXPECT_TRUE(cleared);
}

// ---- the ring

TEST_F(LedgerSettledSteps, NeighboursWithinAMillisecondAreMerged) {
    note(1, 5000, 5);
    note(2, 5000 + ring_resolution.count() - 1, 5);
    EXPECT_EQ(ring(), "2 5000 5");
    note(3, 5000 + ring_resolution.count(), 5);
    EXPECT_EQ(ring(), "2 5000 5, 3 6000 5");
    note(4, 10, 5);
    EXPECT_EQ(ring(), "2 5000 5, 4 10 5") << "lower: nothing is lost";
    note(5, 10, 6);
    EXPECT_EQ(ring(), "2 5000 5, 4 10 5, 5 10 6") << "another database";
}

TEST_F(LedgerSettledSteps, LowGoesDownBeforeTheIdGoesUp) {
    note(1, 5000, 5);
    bool low_first = false;
    backend.ring[0].xid.before_store = [&] { low_first = backend.ring[0].low.value == unix_us(4000); };
    note(2, 4000, 5);
    EXPECT_TRUE(low_first);
    EXPECT_EQ(ring(), "2 4000 5");
}

TEST_F(LedgerSettledSteps, ClosestNeighboursAreMerged) {
    put(0, 1, 10000), put(1, 2, 50000), put(2, 3, 90000), put(3, 4, 94000);
    note(5, 100000, 5);
    // 40 of 90, 40 of 50, 4 of 10
    EXPECT_EQ(ring(), "1 10000 5, 2 50000 5, 4 90000 5, 5 100000 5");
    note(6, 200000, 5);
    // 40 of 190, 40 of 150, 10 of 110
    EXPECT_EQ(ring(), "1 10000 5, 2 50000 5, 5 90000 5, 6 200000 5");
    note(7, 1200000, 5);
    // 40 of 1190, 40 of 1150, 110 of 1110
    EXPECT_EQ(ring(), "2 10000 5, 5 90000 5, 6 200000 5, 7 1200000 5");
}

TEST_F(LedgerSettledSteps, WhatANewerOneCoversIsMergedForNothing) {
    put(0, 1, 10000), put(1, 2, 12000), put(2, 3, 70000), put(3, 4, 60000);
    note(5, 100000, 5);
    EXPECT_EQ(ring(), "1 10000 5, 2 12000 5, 4 60000 5, 5 100000 5");
    put(0, 1, 10000), put(1, 2, 12000), put(2, 3, 70000, 6), put(3, 4, 80000);
    note(5, 11000, 6);
    EXPECT_EQ(ring(), "1 10000 5, 3 12000 0, 4 80000 5, 5 11000 6") << "of two databases: counts for all";
}

// What a reader has not met yet is in the place below before it is overwritten.
TEST_F(LedgerSettledSteps, EntriesAreWholeBelowBeforeTheyAreOverwritten) {
    for (unsigned merged = 0; merged < 3; merged++) {
        put(0, 1, 10000), put(1, 2, 30000), put(2, 3, 50000), put(3, 4, 70000);
        backend.ring[merged + 1].low.value = backend.ring[merged].low.value + 1us;
        const auto before = [this](unsigned i) {
            return std::pair(backend.ring[i].xid.value, backend.ring[i].low.value);
        };
        std::vector<std::pair<std::uint64_t, UnixTime>> old;
        for (unsigned i = 0; i < 4; i++) old.push_back(before(i));
        unsigned overwritten = 0;
        for (unsigned i = merged + 1; i < 4; i++) {
            backend.ring[i].low.before_store = [&, i] {
                overwritten++;
                const bool is_merged = i == merged + 1;
                EXPECT_EQ(before(i - 1).first, old[i].first);
                EXPECT_EQ(before(i - 1).second, is_merged ? old[i - 1].second : old[i].second);
            };
        }
        note(5, 900000, 5);
        EXPECT_EQ(overwritten, 3 - merged);
        EXPECT_EQ(backend.ended.value, 4u);
    }
}

// ---- readers

TEST_F(LedgerSettledSteps, RingIsReadFromTheNewestToTheFirstThatIsFinished) {
    put(0, 9, 10), put(1, 10, 20), put(2, 11, 40), put(3, 12, 30);
    EXPECT_EQ(limit(12), 100);
    EXPECT_EQ(limit(11), 30);
    EXPECT_EQ(limit(10), 30);
    EXPECT_EQ(limit(9), 20);
    backend.ring[0].xid.before_load = [] { FAIL() << "it is older than one that is finished"; };
    EXPECT_EQ(limit(10), 30);
    backend.ring[0].xid.before_load = nullptr;
}

TEST_F(LedgerSettledSteps, OnlyTheDatabaseOfTheReaderCounts) {
    backend.low.value = unix_us(50);
    EXPECT_EQ(limit(10), 50);
    EXPECT_EQ(limit(10, 6), 100);
    put(0, 11, 40, 6);
    EXPECT_EQ(limit(10), 50);
    EXPECT_EQ(limit(10, 6), 40);
    put(1, 12, 30, any_database);
    EXPECT_EQ(limit(10), 30);
    EXPECT_EQ(limit(10, 6), 30);
}

// ---- prepared transactions

struct LedgerSettledPlaces : LedgerSettledSteps {
    Words place[3];

    LedgerSettledPlaces() {
        for (Words& p : place) p.database.value = 0;
    }
    bool prepare(std::uint64_t xid, std::uint64_t last_over = 0) {
        return note_prepared(
            backend, 2, [this](std::uint32_t i) -> Words& { return place[i]; }, xid,
            [=](std::uint64_t x) { return x <= last_over; });
    }
    std::int64_t prepared_limit(std::uint64_t last) {
        UnixTime t = unix_us(100);
        for (int i = 0; i < 2; i++)
            limit_by(
                place[i], 5, [=](std::uint64_t xid) { return xid <= last; }, t);
        return number_of(t);
    }
    void draw_and_prepare(std::uint64_t xid, std::int64_t low) {
        backend.low.value = unix_us(low);
        EXPECT_TRUE(prepare(xid));
    }
};

TEST_F(LedgerSettledPlaces, PlaceThatAnotherProcessTakes) {
    backend.low.value = unix_us(50);
    place[0].xid.before_swap = [&] { place[0].xid.value = taken_mark; };
    EXPECT_TRUE(prepare(11));
    EXPECT_EQ(place[0].xid.value, taken_mark);
    EXPECT_EQ(place[0].low.value, no_low);
    EXPECT_EQ(place[1].xid.value, 11u);
    EXPECT_EQ(place[1].low.value, unix_us(50));
    EXPECT_FALSE(prepare(12, 10)) << "it is not free";
}

// A reader that misses it finds it in the ring.
TEST_F(LedgerSettledPlaces, OldTransactionIsInTheRingBeforeItIsOverwritten) {
    draw_and_prepare(11, 50);
    unsigned overwritten = 0;
    const auto is_in_ring = [&] {
        overwritten++;
        EXPECT_EQ(place[0].ended.value, 1u);
        EXPECT_EQ(place[0].ring[0].xid.value, 11u);
        EXPECT_EQ(place[0].ring[0].low.value, unix_us(50));
        EXPECT_EQ(place[0].ring[0].database.value, 5u);
        EXPECT_EQ(prepared_limit(10), 50);
    };
    place[0].low.before_store = place[0].database.before_store = place[0].xid.before_store = is_in_ring;
    place[0].ended.before_store = [&] {
        EXPECT_EQ(place[0].xid.value, 11 | taken_mark);
        EXPECT_EQ(prepared_limit(10), 50);
    };
    backend.low.value = unix_us(70);
    backend.database.value = 6;
    EXPECT_TRUE(prepare(12, 11));
    EXPECT_EQ(overwritten, 3u);
    EXPECT_EQ(place[0].xid.value, 12u);
    EXPECT_EQ(place[0].low.value, unix_us(70));
    EXPECT_EQ(place[0].database.value, 6u);
    EXPECT_EQ(prepared_limit(10), 50);
    EXPECT_EQ(prepared_limit(11), 100) << "of another database";
}

// ---- the clock that the promise follows

TEST(LedgerPromiseClock, RunsAtHalfSpeedUntilTheWallClockHasCaughtUp) {
    const auto at = [](std::int64_t s) { return MonotonicTime{seconds{s}}; };
    const auto wall = [](std::int64_t s) { return UnixTime{seconds{s}}; };
    const UnixTime base = promise_base_at(wall(1010), at(500));  // ids are 10 s ahead of the clock
    EXPECT_EQ(promise_clock(base, at(500), wall(1000)), wall(1010));
    EXPECT_EQ(promise_clock(base, at(508), wall(1008)), wall(1014));
    EXPECT_EQ(promise_clock(base, at(520), wall(1020)), wall(1020));
    EXPECT_EQ(promise_clock(base, at(600), wall(1100)), wall(1100)) << "from then on it is the wall clock";
    EXPECT_EQ(promise_clock(UnixTime{}, at(600), wall(1100)), wall(1100)) << "no life has begun ahead of the clock";
    EXPECT_EQ(promise_clock(base, at(508), wall(900)), wall(1014)) << "it does not go back with the wall clock";
}

}  // namespace
}  // namespace snowflake_ids::ledger
