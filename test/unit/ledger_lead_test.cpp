// The lead: a life begins ahead of a right clock, and that is no regression. Races are in ledger_lead_model_test.cpp.
#include <gtest/gtest.h>

#include <random>
#include <string>

#include "ledger/begin_life.hpp"
#include "ledger/claim.hpp"
#include "support/issued.hpp"
#include "support/ledger_tape.hpp"
#include "support/times.hpp"

namespace snowflake_ids::ledger {
namespace {

using namespace snowflake_ids::test;

constexpr OnRegression policies[] = {OnRegression::hold, OnRegression::wait, OnRegression::error};

Rules rules_of(OnRegression policy, bool has_toggle, std::uint64_t lead) {
    return {.min = 0,
            .max = 9,
            .max_tick = max_tick(has_toggle),
            .has_toggle = has_toggle,
            .on_regression = policy,
            .lead = lead};
}

// ---- the step ----

TEST(LedgerLead, StepHoldsWithinItUnderEveryPolicy) {
    for (const OnRegression policy : policies) {
        for (const bool has_toggle : {false, true}) {
            const Rules rules = rules_of(policy, has_toggle, 8);
            const State at{.tick = 100, .safe = 99, .next = 3};
            for (const std::uint64_t now : {92, 96, 99}) {
                const Step s = step(at, now, 1, rules);
                EXPECT_EQ(s.verdict, Verdict::issued);
                EXPECT_TRUE(s.held && s.own_lead);
                EXPECT_EQ(s.state.tick, 100u);
                EXPECT_EQ(s.state.drifts, 0u) << "no toggle is free";
            }
            const Step beyond = step(at, 91, 1, rules);
            EXPECT_EQ(beyond.verdict == Verdict::issued, policy == OnRegression::hold) << "the policy decides";
            EXPECT_FALSE(beyond.own_lead);
        }
    }
}

TEST(LedgerLead, StepUsesAToggleThatIsFree) {
    for (const OnRegression policy : policies) {
        const State at{.tick = 100, .safe = 95, .next = 3};
        const Step s = step(at, 99, 1, rules_of(policy, true, 8));
        EXPECT_EQ(s.state.drifts, 1u);
        EXPECT_EQ(s.state.tick, 99u);
        EXPECT_EQ(s.state.safe, 100u);
        EXPECT_FALSE(s.held || s.own_lead);
        EXPECT_TRUE(step(at, 95, 1, rules_of(policy, true, 8)).own_lead);
    }
}

TEST(LedgerLead, WaitEndsWhereTheLeadBegins) {
    const State at{.tick = 100, .next = 3};
    const Rules rules = rules_of(OnRegression::wait, false, 8);
    const Step waits = step(at, 50, 1, rules);
    EXPECT_EQ(waits.verdict, Verdict::regression);
    EXPECT_EQ(waits.resume, 92u);
    EXPECT_EQ(step(at, waits.resume, 1, rules).verdict, Verdict::issued);
}

// ---- the claim ----

TEST(LedgerLead, RightClockIsNeverBlamed) {
    for (std::uint64_t seed = 0; seed < 2000; seed++) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        std::mt19937_64 random(seed);
        const auto below = [&](std::uint64_t n) { return random() % n; };
        const bool has_toggle = below(2) != 0;
        const std::uint64_t start = 1000 + below(100);
        Tape t(rules_of(policies[below(3)], has_toggle, 60 + 3), {.tick = start - below(50), .next = 1}, start);
        if (has_toggle) t.cells[safe_cell] = start - below(80);
        Issued issued;
        std::uint64_t last = 0;
        for (int i = 0; i < 300; i++) {
            t.monotonic_now += microseconds{below(700)};
            t.now.value = start + static_cast<std::uint64_t>((t.monotonic_now - MonotonicTime{1s}) / 1ms);
            if (below(40) == 0) {
                begin_slot(t.slot(), t.now.value + below(60), has_toggle);
                continue;
            }
            const Claim c = t.claim(static_cast<std::uint32_t>(1 + below(12)));
            ASSERT_TRUE(c.outcome == Outcome::issued || c.outcome == Outcome::overflow);
            ASSERT_FALSE(c.standing.toggled);
            ASSERT_EQ(c.standing.held, c.standing.own_lead);
            if (c.outcome != Outcome::issued) continue;
            ASSERT_TRUE(issued.add(c.tick, c.toggle, c.first, c.count));
            ASSERT_GE(c.tick << 16 | c.first, last);
            last = (c.tick << 16 | c.first) + c.count;
        }
    }
}

// The end of the next one must be waited for.
TEST(LedgerLead, FirstTickAfterTheFloorBeginsAtOnce) {
    Tape t(rules_of(OnRegression::error, false, 70), {.tick = 100, .next = 1}, 100);
    begin_slot(t.slot(), 160, false);
    Claim c = t.claim(100000);
    EXPECT_EQ(c.outcome, Outcome::issued);
    EXPECT_EQ(c.tick, 161u);
    EXPECT_EQ(t.claim().outcome, Outcome::overflow);
    t.monotonic_now += 999us;
    EXPECT_EQ(t.claim().wait, 1us);
    t.monotonic_now += 1us;
    c = t.claim(100000);
    EXPECT_EQ(c.tick, 162u);
    begin_slot(t.slot(), 162, false);
    EXPECT_EQ(t.claim().outcome, Outcome::overflow) << "a floor that moves nothing changes nothing";
}

// A bulk load drives sno beyond the floor. Only a step back after that spends a toggle.
TEST(LedgerLead, HeldTicksRaiseSafe) {
    Tape t(rules_of(OnRegression::error, true, 70), {.tick = 100, .next = 1}, 100);
    begin_slot(t.slot(), 110, true);
    for (std::uint64_t tick = 111; tick <= 120; tick++, t.monotonic_now += 1000us) {
        const Claim c = t.claim(100000);
        EXPECT_EQ(c.tick, tick);
        EXPECT_TRUE(c.standing.held && c.standing.own_lead && !c.standing.toggled);
        EXPECT_EQ(t.state().safe, tick);
    }
    t.now = std::uint64_t{115};
    EXPECT_EQ(t.claim(100000).tick, 121u);
    t.now = std::uint64_t{200};
    EXPECT_EQ(t.claim().tick, 200u);
    EXPECT_EQ(t.state().safe, 121u);
    t.now = std::uint64_t{150};
    EXPECT_TRUE(t.claim().standing.toggled);
    EXPECT_EQ(t.state().safe, 200u);
}

}  // namespace
}  // namespace snowflake_ids::ledger
