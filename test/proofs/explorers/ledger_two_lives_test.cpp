// Two lives at once under every interleaving, each with its own memory and both with one ceiling file: a process
// outlives its postmaster, or two postmasters run on one data directory.
#include <gtest/gtest.h>

#include <string>

#include "explorers/expectations.hpp"
#include "explorers/ledger_lives.hpp"
#include "explorers/wrong_lives.hpp"

namespace snowflake_ids::ledger {
namespace {

using namespace snowflake_ids::test;

// If no process was told that its life is over, nothing is shown.
void expect_right(Lives& m) {
    test::expect_right(m);
    EXPECT_GT(m.fenced, 0u);
}

// A process loses its postmaster, the next server draws too, and either may end anywhere.
struct Orphans : File {
    Orphans() {
        two_lives = may_leave_orphans = true;
        clock = {1, 3};
    }
};

TEST(LedgerTwoLives, Orphan) {
    Orphans m;
    m.sessions({2, 1}, 2);
    m.start_in_life(1);
    expect_right(m);
}

TEST(LedgerTwoLives, SnoOrphan) {
    Sno<Orphans> m;
    m.syncs_may_fail = true;
    m.sessions({2, 1});
    m.start_in_life(1);
    expect_right(m);
}

TEST(LedgerTwoLives, OrphanAndPowerLoss) {
    Orphans m;
    m.may_lose_power = true;
    m.most_events = 2;
    m.rules.max = 0;
    m.sessions({2, 1});
    m.start_in_life(1);
    expect_right(m);
}

TEST(LedgerTwoLives, OrphanOfANewSlot) {
    Orphans m;
    m.sessions({2, 1});
    m.start_new();
    expect_right(m);
}

TEST(LedgerTwoLives, ThreeProcesses) {
    Orphans m;
    m.rules.max = 0;
    m.sessions({1, 1, 1});
    m.start_in_life(1);
    expect_right(m);
}

// The files are lost before the next life begins. The clock does not go back.
struct OrphansWithoutFile : LostFiles {
    OrphansWithoutFile() { two_lives = may_leave_orphans = true; }
};

TEST(LedgerTwoLives, OrphanAndLostFiles) {
    OrphansWithoutFile m;
    m.sessions({1, 1}, 2);
    m.start_in_life(1, 2);
    expect_right(m);
}

TEST(LedgerTwoLives, OrphanAndLostFilesInOneSecond) {
    OrphansWithoutFile m;
    m.second = 2;
    m.sessions({1, 1}, 2);
    m.start_in_life(1, 2);
    expect_right(m);
}

// The server whose life begins last continues.
struct TwoServers : File {
    TwoServers() {
        two_lives = true;
        may_restart = false;
        clock = {1, 3};
    }
    template <class Steps = RightSteps>
    void run(std::initializer_list<std::size_t> first, std::initializer_list<std::size_t> second, Value draws = 1) {
        sessions<Steps>(first, draws, 0);
        sessions<Steps>(second, draws, 1);
    }
};

TEST(LedgerTwoLives, TwoServers) {
    TwoServers m;
    m.run({2}, {2}, 2);
    m.start_in_life(1);
    expect_right(m);
}

TEST(LedgerTwoLives, TwoNewServers) {
    TwoServers m;
    m.syncs_may_fail = true;
    m.run({2}, {2});
    m.start_new();
    expect_right(m);
}

TEST(LedgerTwoLives, SnoTwoServers) {
    Sno<TwoServers> m;
    m.run({1, 1}, {1});
    m.start_in_life(1);
    expect_right(m);
}

// ---- wrong on purpose ----

template <class Steps, class M = Orphans>
void expect_caught(const std::string& complaint, Value second = 0) {
    M m;
    m.second = second;
    m.clock = {1, 3};
    m.template sessions<Steps>({1, 1}, 3);
    m.start_in_life(1, 2);
    expect_found(m, complaint);
}

TEST(LedgerTwoLives, FindsRaiseComparesWithMemoryOnly) { expect_caught<RaiseComparesWithMemoryOnly>("issued twice"); }

TEST(LedgerTwoLives, FindsNoFence) { expect_caught<NoFence>("issued twice"); }

TEST(LedgerTwoLives, FindsFenceWithoutIds) { expect_caught<FenceWithoutIds, OrphansWithoutFile>("issued twice", 2); }

TEST(LedgerTwoLives, FindsLivesCountedInTheFile) {
    expect_caught<LivesCountedInTheFile, OrphansWithoutFile>("issued twice");
}

TEST(LedgerTwoLives, FindsLifeByStartTime) { expect_caught<LifeByStartTime>("issued twice"); }

TEST(LedgerTwoLives, FindsMemoryOfEachVersion) {
    TwoServers m;
    m.run<MemoryOfEachVersion>({2}, {2}, 3);
    m.start_in_life(1);
    expect_found(m, "issued twice");
}

}  // namespace
}  // namespace snowflake_ids::ledger
