// The durable ceilings, lives and the ceiling in WAL under every interleaving, with crashes, power losses and
// failovers: see ledger_lives.hpp. Two lives at once: ledger_two_lives_test.cpp.
#include "explorers/ledger_lives.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "explorers/expectations.hpp"
#include "explorers/wrong_lives.hpp"

namespace snowflake_ids::ledger {
namespace {

using namespace snowflake_ids::test;

// ---- the ceiling file alone: power fails ----

TEST(LedgerLives, FirstLife) {
    Sno<Lives> m;
    m.most_events = 0;
    m.sessions({1, 1});
    m.start_new();
    expect_right(m);
}

TEST(LedgerLives, File) {
    PowerLoss m;
    m.sessions({2, 2});
    m.start_in_life(1);
    expect_right(m);
}

TEST(LedgerLives, SnoFile) {
    Sno<PowerLoss> m;
    m.syncs_may_fail = true;
    m.sessions({2, 2});
    m.start_in_life(1);
    expect_right(m);
}

TEST(LedgerLives, FileTwice) {
    PowerLoss m;
    m.most_events = 2;
    m.rules.max = 0;
    m.sessions({3, 1});
    m.start_in_life(1);
    expect_right(m);
}

TEST(LedgerLives, FileOfANewSlot) {
    PowerLoss m;
    m.syncs_may_fail = true;
    m.sessions({2, 1});
    m.start_new();
    expect_right(m);
}

TEST(LedgerLives, FileHold) {
    PowerLoss m;
    m.clock = {1};
    m.rules.max = 0;
    m.last_monotonic = 2;
    m.sessions({2, 1}, 3);
    m.start_in_life(1);
    expect_right(m);
}

TEST(LedgerLives, SnoFileInTheLead) {
    Sno<File> m;
    m.with_begun = true;
    m.rules.lead = 2;
    m.rules.max = 0;
    m.clock = {1, 3};
    m.sessions({2, 1});
    m.start_in_life(1);
    expect_right(m);
}

// ---- neither knows of the last ids ----

TEST(LedgerLives, LostFiles) {
    LostFiles m;
    m.sessions({2, 1});
    m.start_in_life(1);
    expect_right(m);
}

TEST(LedgerLives, SnoLostFiles) {
    Sno<LostFiles> m;
    m.sessions({1, 1}, 2);
    m.start_in_life(1);
    expect_right(m);
}

TEST(LedgerLives, LostFilesInLife) {
    LostFiles m;
    m.may_lose_files_in_life = true;
    m.most_events = 2;
    m.sessions({1, 1}, 2);
    m.start_in_life(1);
    expect_right(m);
}

// ---- the ceiling in WAL alone: a standby takes over, whose clock may be behind ----

TEST(LedgerLives, Wal) {
    Failover m;
    m.clock = {1};
    m.sessions({2, 1});
    m.start_in_life(1);
    expect_right(m);
}

TEST(LedgerLives, SnoWal) {
    Sno<Failover> m;
    m.sessions({1, 1});
    m.start_in_life(1);
    expect_right(m);
}

// ---- both ----

TEST(LedgerLives, FileAndWal) {
    Lives m;
    m.may_fail_over = m.may_lose_power = true;
    m.clock = {1};
    m.sessions({2, 1});
    m.start_in_life(1);
    expect_right(m);
}

// ---- a forced reset

// A draw that is under way may end as it began.
struct ForcedReset : File {
    ForcedReset() {
        syncs_may_fail = true;
        clock = {1, 2};
        start_in_life(5);
    }
    Complaint on_issue(Global& g, const IssuedClaim& i) override {
        g.ghost[issued_ghost] = 0;
        return i.revision == g.memory[revision_cell] ? Lives::on_issue(g, i) : nullptr;
    }
    template <class Steps = RightSteps>
    void run(std::initializer_list<std::size_t> of_processes = {2}, Value draws = 2) {
        lease_sessions<Steps>(of_processes, draws);
        operator_session<Steps>(1);
    }
};

TEST(LedgerLives, ForcedReset) {
    ForcedReset m;
    m.run();
    expect_right(m);
}

TEST(LedgerLives, ForcedResetAndPowerLoss) {
    ForcedReset m;
    m.may_lose_power = true;
    m.run({1, 1}, 1);
    expect_right(m);
}

// ---- wrong on purpose ----

template <class Steps, class M>
void expect_caught(M&& m, const std::string& complaint, Value draws = 1) {
    m.template sessions<Steps>({2, 2}, draws);
    m.start_in_life(1);
    expect_found(m, complaint);
}

TEST(LedgerLives, FindsPublishedBeforeTheSync) {
    expect_caught<PublishedBeforeTheSync>(PowerLoss(), "published a ceiling that is not durable");
}

TEST(LedgerLives, FindsPublishedThoughTheSyncFailed) {
    PowerLoss m;
    m.syncs_may_fail = true;
    expect_caught<PublishedThoughTheSyncFailed>(std::move(m), "published a ceiling that is not durable");
}

TEST(LedgerLives, FindsCeilingStored) {
    PowerLoss m;
    m.clock = {2, 3};
    expect_caught<CeilingStored>(std::move(m), "published a ceiling beyond the one in the file", 2);
}

TEST(LedgerLives, FindsSlotsNotRaised) { expect_caught<SlotsNotRaised>(PowerLoss(), "issued twice"); }

TEST(LedgerLives, FindsFilesTrusted) { expect_caught<FilesTrusted>(LostFiles(), "issued twice"); }

TEST(LedgerLives, FindsNewSlotAtTheClock) { expect_caught<NewSlotAtTheClock>(LostFiles(), "issued twice"); }

TEST(LedgerLives, FindsLifePublishedFirst) { expect_caught<LifePublishedFirst>(PowerLoss(), "issued twice"); }

// The writer is killed before the sync, the next life believes it, and the power fails.
TEST(LedgerLives, FindsUnsyncedCeilingTrusted) {
    expect_caught<UnsyncedCeilingTrusted>(PowerLoss(), "published a ceiling that is not durable");
}

TEST(LedgerLives, FindsDatabaseEnteredBeforeItsFloor) {
    expect_caught<DatabaseEnteredBeforeItsFloor>(Failover(), "issued twice");
}

TEST(LedgerLives, FindsDatabaseEnteredWithoutFloor) {
    expect_caught<DatabaseEnteredWithoutFloor>(Failover(), "issued twice");
}

TEST(LedgerLives, FindsWalNotFlushed) { expect_caught<WalNotFlushed>(Failover(), "issued beyond the flushed ceiling"); }

TEST(LedgerLives, FindsWalReadUnflushed) {
    expect_caught<WalReadUnflushed>(Failover(), "issued beyond the flushed ceiling");
}

TEST(LedgerLives, FindsFileLoweredFirst) {
    ForcedReset m;
    m.run<FileLoweredFirst>();
    expect_found(m, "published a ceiling beyond the one in the file");
}

TEST(LedgerLives, FindsFileLoweredBeforeTheEpoch) {
    ForcedReset m;
    m.run<FileLoweredBeforeTheEpoch>();
    expect_found(m, "issued beyond the durable ceiling");
}

// ---- wrong on purpose: it stops ----

TEST(LedgerLives, FindsLockKeptAfterAFailedSync) {
    PowerLoss m;
    m.syncs_may_fail = true;
    expect_caught<LockKeptAfterAFailedSync>(std::move(m), "the lock was left behind");
}

TEST(LedgerLives, FindsLifeBegunAtTheLastTick) {
    expect_caught<LifeBegunAtTheLastTick>(PowerLoss(), "nobody can go on from here");
}

TEST(LedgerLives, FindsFileOfTheFutureRefused) {
    PowerLoss m;
    m.second = 1;
    expect_caught<FileOfTheFutureRefused>(std::move(m), "nobody can go on from here");
}

TEST(LedgerLives, FindsHeldTickNeverBegins) {
    File m;
    m.clock = {1};
    m.rules.max = 0;
    m.last_monotonic = 2;
    m.sessions<HeldTickNeverBegins>({1, 1}, 2);
    m.start_in_life(2);
    expect_found(m, "nobody can go on from here");
}

}  // namespace
}  // namespace snowflake_ids::ledger
