// Leases among all the rest: sessions that hold them are killed, their server is killed and
// started again, the power fails, a standby takes over or is promoted, the clock is behind.
#include <gtest/gtest.h>

#include <utility>

#include "support/ledger_explore.hpp"
#include "support/ledger_lives.hpp"
#include "support/ledger_wrong_leases.hpp"

namespace snowflake_ids::ledger {
namespace {

using namespace snowflake_ids::test;

// An exploration in which no lease served anybody shows nothing.
void expect_right(Lives& m) {
    test::expect_right(m);
    EXPECT_GT(m.served, 0u);
}

struct Plain : Lives {
    Plain() {
        sequence_bits = 2;
        rules.max = 3;
        lease_share = 2;
    }
};
struct Sno : Plain {
    Sno() { rules.has_toggle = true; }
};

struct PowerLoss : Plain {
    PowerLoss() {
        with_wal = false;
        may_lose_power = true;
    }
};

// The clock may also be beyond the ceilings, so that the next life can draw at once.
TEST(LedgerLeaseLives, File) {
    PowerLoss m;
    m.clock = {1, 4};
    m.lease_sessions({2}, 3);
    m.lease_sessions({1}, 1);
    m.start_in_life(1);
    expect_right(m);
}

TEST(LedgerLeaseLives, SnoFile) {
    Sno m;
    m.with_wal = false;
    m.may_lose_power = m.syncs_may_fail = true;
    m.lease_sessions({1, 1}, 3);
    m.start_in_life(1);
    expect_right(m);
}

TEST(LedgerLeaseLives, FileAndWal) {
    Plain m;
    m.may_fail_over = true;
    m.clock = {1, 4};
    m.lease_sessions({2}, 3);
    m.lease_sessions({1}, 1);
    m.start_in_life(1);
    expect_right(m);
}

TEST(LedgerLeaseLives, SnoFileAndWal) {
    Sno m;
    m.may_fail_over = m.may_lose_power = true;
    m.lease_sessions({1, 1}, 3);
    m.start_in_life(1);
    expect_right(m);
}

TEST(LedgerLeaseLives, ThreeProcesses) {
    Plain m;
    m.may_fail_over = m.may_lose_power = true;
    m.clock = {1};
    m.lease_sessions({2, 1, 1}, 3);
    m.start_in_life(1);
    expect_right(m);
}

TEST(LedgerLeaseLives, ThreeProcessesFile) {
    Plain m;
    m.with_wal = false;
    m.lease_sessions({1}, 3);
    m.lease_sessions({1, 1}, 1);
    m.start_in_life(1);
    expect_right(m);
}

// The clock is behind the slot, or has come up with it: held ticks begin, and leases after them.
TEST(LedgerLeaseLives, FileHold) {
    Plain m;
    m.with_wal = false;
    m.last_monotonic = 1;
    m.lease_sessions({1, 1}, 4);
    m.start_in_life(2);
    expect_right(m);
}

TEST(LedgerLeaseLives, FileAndWalHold) {
    Plain m;
    m.rules.max = 2;
    m.last_monotonic = 2;
    m.lease_sessions({1, 1}, 3);
    m.start_in_life(2);
    expect_right(m);
}

TEST(LedgerLeaseLives, Commits) {
    PowerLoss m;
    m.lease_sessions({1}, 3);
    m.lease_sessions({1}, 2, true);
    m.start_in_life(1);
    expect_right(m);
}

TEST(LedgerLeaseLives, Floor) {
    Plain m;
    m.lease_sessions({1}, 3);
    m.floor_session(1);
    m.start_in_life(1);
    expect_right(m);
}

TEST(LedgerLeaseLives, SnoFloor) {
    Sno m;
    m.lease_sessions({1}, 3);
    m.floor_session(1);
    m.start_in_life(1);
    expect_right(m);
}

// Sessions that drew as a standby's and go on as the primary's.
TEST(LedgerLeaseLives, Promotion) {
    Plain m;
    m.sequence_bits = 3;
    m.rules.max = 7;
    m.clock = {3};
    m.most_events = 0;
    m.lease_sessions({1}, 5);
    m.lease_sessions({1}, 1);
    m.start_as_standby(1, 2);
    expect_right(m);
}

// No id is older than the call that drew it.
TEST(LedgerLeaseLives, RunningClock) {
    Plain m;
    m.clock_has_time = true;
    m.lease_sessions({1, 1}, 3);
    m.start_in_life(1);
    expect_right(m);
}

// ---- wrong on purpose ----

template <class Steps, class M>
void expect_caught(M&& m, const char* complaint, Value draws = 4) {
    m.template lease_sessions<Steps>({1, 1}, draws);
    if (m.initial.empty()) m.start_in_life(1);
    expect_found(m, complaint);
}

TEST(LedgerLeaseLives, FindsLeaseThatOutlivesItsTick) {
    PowerLoss m;
    m.clock_has_time = true;
    expect_caught<LeaseOutlivesItsTick>(std::move(m), "an id is older than the call that drew it");
}

TEST(LedgerLeaseLives, FindsLeaseThatOutlivesItsView) {
    PowerLoss m;
    m.lease_sessions<LeaseOutlivesItsView>({1}, 3);
    m.lease_sessions({1}, 2, true);
    m.start_in_life(1);
    expect_found(m, "an id is not larger than one that was seen");
}

TEST(LedgerLeaseLives, FindsLeaseThatOutlivesAFloor) {
    Plain m;
    m.floor_session(1);
    m.lease_sessions<LeaseOutlivesAFloor>({1}, 3);
    m.start_in_life(1);
    expect_found(m, "issued at or below a floor");
}

TEST(LedgerLeaseLives, FindsLeaseKeptAboveAFloor) {
    Plain m;
    m.floor_session(1);
    m.lease_sessions<LeaseKeptBySetUp>({1}, 3);
    m.start_in_life(1);
    expect_found(m, "issued at or below a floor");
}

struct Standby : Plain {
    Standby() {
        clock = {1, 3};
        start_as_standby(1, 2);
    }
};

TEST(LedgerLeaseLives, FindsLeaseKeptThroughPromotion) {
    Standby m;
    m.lease_sessions<LeaseKeptBySetUp>({1}, 3);
    expect_found(m, "issued beyond the flushed ceiling");
}

TEST(LedgerLeaseLives, FindsStandbyThatIsNotSetUpAgain) {
    Standby m;
    m.lease_sessions<StandbyNeverSetUpAgain>({1}, 3);
    expect_found(m, "issued beyond the flushed ceiling");
}

TEST(LedgerLeaseLives, FindsLeaseTakenWhileHeld) {
    PowerLoss m;
    m.start_in_life(2);
    expect_caught<LeaseWhileHeld>(std::move(m), "more than one number was claimed while the clock was behind");
}

TEST(LedgerLeaseLives, FindsHeldNumbersGivenUp) {
    PowerLoss m;
    m.start_in_life(2);
    expect_caught<HeldNumbersGivenUp>(std::move(m), "more than one number was claimed while the clock was behind");
}

TEST(LedgerLeaseLives, FindsLeaseOfAllThatWasWanted) {
    expect_caught<LeaseOfAllThatWasWanted>(PowerLoss(), "issued beyond the bounds");
}

TEST(LedgerLeaseLives, FindsLeaseWithoutBound) {
    expect_caught<LeaseWithoutBound>(PowerLoss(), "a lease is larger than its part of the pool");
}

TEST(LedgerLeaseLives, FindsLeaseWithTheSlotsToggle) {
    Sno m;
    m.with_wal = false;
    m.start_in_life(2);
    expect_caught<LeaseWithTheSlotsToggle>(std::move(m), "issued twice");
}

}  // namespace
}  // namespace snowflake_ids::ledger
