// Leases while sessions and servers are killed, the power fails, a standby takes over or is promoted, and the clock is
// behind.
#include <gtest/gtest.h>

#include <utility>

#include "explorers/expectations.hpp"
#include "explorers/ledger_lives.hpp"
#include "explorers/wrong_leases.hpp"
#include "explorers/wrong_lives.hpp"

namespace snowflake_ids::ledger {
namespace {

using namespace snowflake_ids::test;

// If no lease served anybody, nothing is shown.
void expect_right(Lives& m) {
    test::expect_right(m);
    EXPECT_GT(m.served, 0u);
}

template <class M>
struct Leases : M {
    Leases() {
        this->sequence_bits = 2;
        this->rules.max = 3;
        this->lease_share = 2;
    }
};

// A clock beyond the ceilings lets the next life draw at once.
TEST(LedgerLeaseLives, File) {
    Leases<PowerLoss> m;
    m.clock = {1, 4};
    m.lease_sessions({2}, 3);
    m.lease_sessions({1}, 1);
    m.start_in_life(1);
    expect_right(m);
}

TEST(LedgerLeaseLives, SnoFile) {
    Sno<Leases<PowerLoss>> m;
    m.syncs_may_fail = true;
    m.lease_sessions({1, 1}, 3);
    m.start_in_life(1);
    expect_right(m);
}

TEST(LedgerLeaseLives, FileAndWal) {
    Leases<Lives> m;
    m.may_fail_over = true;
    m.clock = {1, 4};
    m.lease_sessions({2}, 3);
    m.lease_sessions({1}, 1);
    m.start_in_life(1);
    expect_right(m);
}

TEST(LedgerLeaseLives, SnoFileAndWal) {
    Sno<Leases<Lives>> m;
    m.may_fail_over = m.may_lose_power = true;
    m.lease_sessions({1, 1}, 3);
    m.start_in_life(1);
    expect_right(m);
}

TEST(LedgerLeaseLives, ThreeProcesses) {
    Leases<Lives> m;
    m.may_fail_over = m.may_lose_power = true;
    m.clock = {1};
    m.lease_sessions({2, 1, 1}, 3);
    m.start_in_life(1);
    expect_right(m);
}

TEST(LedgerLeaseLives, ThreeProcessesFile) {
    Leases<File> m;
    m.lease_sessions({1}, 3);
    m.lease_sessions({1, 1}, 1);
    m.start_in_life(1);
    expect_right(m);
}

TEST(LedgerLeaseLives, FileHold) {
    Leases<File> m;
    m.last_monotonic = 1;
    m.lease_sessions({1, 1}, 4);
    m.start_in_life(2);
    expect_right(m);
}

TEST(LedgerLeaseLives, FileAndWalHold) {
    Leases<Lives> m;
    m.rules.max = 2;
    m.last_monotonic = 2;
    m.lease_sessions({1, 1}, 3);
    m.start_in_life(2);
    expect_right(m);
}

TEST(LedgerLeaseLives, Commits) {
    Leases<PowerLoss> m;
    m.lease_sessions({1}, 3);
    m.lease_sessions({1}, 2, true);
    m.start_in_life(1);
    expect_right(m);
}

TEST(LedgerLeaseLives, Floor) {
    Leases<Lives> m;
    m.lease_sessions({1}, 3);
    m.floor_session(1);
    m.start_in_life(1);
    expect_right(m);
}

TEST(LedgerLeaseLives, SnoFloor) {
    Sno<Leases<Lives>> m;
    m.lease_sessions({1}, 3);
    m.floor_session(1);
    m.start_in_life(1);
    expect_right(m);
}

TEST(LedgerLeaseLives, Promotion) {
    Leases<Lives> m;
    m.clock = {1, 3};
    m.most_events = 0;
    m.lease_sessions({1}, 3);
    m.lease_sessions({1}, 1);
    m.start_promoted(1, 2);
    expect_right(m);
}

TEST(LedgerLeaseLives, RunningClock) {
    Leases<Lives> m;
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
    Leases<PowerLoss> m;
    m.clock_has_time = true;
    expect_caught<LeaseOutlivesItsTick>(std::move(m), "an id is older than the call that drew it");
}

TEST(LedgerLeaseLives, FindsLeaseThatOutlivesItsView) {
    Leases<PowerLoss> m;
    m.lease_sessions<LeaseOutlivesItsView>({1}, 3);
    m.lease_sessions({1}, 2, true);
    m.start_in_life(1);
    expect_found(m, "an id is not larger than one that was seen");
}

TEST(LedgerLeaseLives, FindsLeaseThatOutlivesAFloor) {
    Leases<Lives> m;
    m.floor_session(1);
    m.lease_sessions<LeaseOutlivesAFloor>({1}, 3);
    m.start_in_life(1);
    expect_found(m, "issued at or below a floor");
}

TEST(LedgerLeaseLives, FindsLeaseKeptAboveAFloor) {
    Leases<Lives> m;
    m.floor_session(1);
    m.lease_sessions<LeaseKeptBySetUp>({1}, 3);
    m.start_in_life(1);
    expect_found(m, "issued at or below a floor");
}

TEST(LedgerLeaseLives, FindsPromotedWithoutFloor) {
    Leases<Lives> m;
    m.start_promoted(1, 2);
    expect_caught<DatabaseEnteredWithoutFloor>(std::move(m), "issued twice");
}

TEST(LedgerLeaseLives, FindsLeaseTakenWhileHeld) {
    Leases<PowerLoss> m;
    m.start_in_life(2);
    expect_caught<LeaseWhileHeld>(std::move(m), "more than one number was claimed while the clock was behind");
}

TEST(LedgerLeaseLives, FindsHeldNumbersGivenUp) {
    Leases<PowerLoss> m;
    m.start_in_life(2);
    expect_caught<HeldNumbersGivenUp>(std::move(m), "more than one number was claimed while the clock was behind");
}

TEST(LedgerLeaseLives, FindsLeaseOfAllThatWasWanted) {
    expect_caught<LeaseOfAllThatWasWanted>(Leases<PowerLoss>(), "issued beyond the bounds");
}

TEST(LedgerLeaseLives, FindsLeaseWithoutBound) {
    expect_caught<LeaseWithoutBound>(Leases<PowerLoss>(), "a lease is larger than its part of the pool");
}

TEST(LedgerLeaseLives, FindsLeaseWithTheSlotsToggle) {
    Sno<Leases<File>> m;
    m.start_in_life(2);
    expect_caught<LeaseWithTheSlotsToggle>(std::move(m), "issued twice");
}

}  // namespace
}  // namespace snowflake_ids::ledger
