// The lead: what a floor puts a slot ahead of a clock that is right is no regression, until the clock has caught up.
// Step and claim, one process at a time. What races do to it is in ledger_lead_model_test.cpp.
#include <gtest/gtest.h>

#include <random>
#include <string>

#include "ledger/claim.hpp"
#include "ledger/life.hpp"
#include "support/issued.hpp"
#include "support/ledger_tape.hpp"

namespace snowflake_ids::ledger {
namespace {

using namespace snowflake_ids::test;

constexpr OnRegression policies[] = {OnRegression::hold, OnRegression::wait, OnRegression::error};

Rules rules_of(OnRegression policy, bool has_toggle) {
    return {.min = 0, .max = 9, .max_tick = max_tick(has_toggle), .has_toggle = has_toggle, .on_regression = policy};
}

// ---- the step ----

TEST(LedgerLead, StepHoldsWithinItUnderEveryPolicy) {
    for (const OnRegression policy : policies) {
        for (const bool has_toggle : {false, true}) {
            const Rules rules = rules_of(policy, has_toggle);
            const State at{.tick = 100, .safe = 95, .next = 3, .lead = 8};
            for (const std::uint64_t now : {92, 96, 99}) {
                const Step s = step(at, now, 1, rules);
                EXPECT_EQ(s.verdict, Verdict::issued);
                EXPECT_TRUE(s.held && s.own_lead);
                EXPECT_EQ(s.state.tick, 100u);
                EXPECT_EQ(s.state.drifts, 0u) << "no toggle is spent";
                EXPECT_EQ(s.state.lead, 8u);
            }
            const Step beyond = step(at, 91, 1, rules);
            EXPECT_EQ(beyond.verdict == Verdict::issued, policy == OnRegression::hold) << "the policy decides";
            EXPECT_FALSE(beyond.own_lead);
        }
    }
}

TEST(LedgerLead, StepEndsItWhenTheClockHasCaughtUp) {
    for (const OnRegression policy : policies) {
        const Rules rules = rules_of(policy, false);
        for (const std::uint64_t now : {100, 101}) {
            EXPECT_EQ(step({.tick = 100, .next = 3, .lead = 8}, now, 1, rules).state.lead, 0u);
        }
        // Not by an overflow: the state is what it was.
        const Step used = step({.tick = 100, .next = 10, .lead = 8}, 100, 1, rules);
        EXPECT_EQ(used.verdict, Verdict::overflow);
        EXPECT_EQ(used.state.lead, 8u);
    }
}

TEST(LedgerLead, WaitEndsWhereTheLeadBegins) {
    const State at{.tick = 100, .next = 3, .lead = 8};
    const Step waits = step(at, 50, 1, rules_of(OnRegression::wait, false));
    EXPECT_EQ(waits.verdict, Verdict::regression);
    EXPECT_EQ(waits.resume, 92u);
    EXPECT_EQ(step(at, waits.resume, 1, rules_of(OnRegression::wait, false)).verdict, Verdict::issued);
}

// ---- the claim ----

struct Begun : Tape {
    Begun(const Rules& rules, std::uint64_t was, std::uint64_t now, std::uint64_t floor)
        : Tape(rules, {.tick = was, .next = 1}, now) {
        begin(floor);
    }
    void begin(std::uint64_t floor) { begin_slot(slot(), floor, rules.has_toggle, now.value, 4500); }
    std::uint64_t lead() const { return detail::lead_ticks(cells[lead_cell]); }
};

// The life raises a slot by 60 ticks; more than that the clock has gone back by itself.
TEST(LedgerLead, IsWhatTheFloorAdds) {
    const Rules rules = rules_of(OnRegression::error, false);
    EXPECT_EQ(Begun(rules, 100, 105, 160).lead(), 55u + 2) << "as far as it is ahead of the clock";
    EXPECT_EQ(Begun(rules, 100, 40, 160).lead(), 60u + 2) << "and no more than the floor has added";
    EXPECT_EQ(Begun(rules, 100, 160, 160).lead(), 0u);
    EXPECT_EQ(Begun(rules, 100, 170, 160).lead(), 0u);
    EXPECT_EQ(Begun(rules, 0, 10000, 160).lead(), 0u);
    EXPECT_EQ(Begun(rules, 0, 10000, 20000).lead(), 4500u + 2) << "of a slot that does not know where it was";
}

// Quick restarts add up. What a clock that has caught up since has left is not counted.
TEST(LedgerLead, AddsUp) {
    const Rules rules = rules_of(OnRegression::error, false);
    Begun t(rules, 100, 100, 160);
    t.begin(220);
    EXPECT_GE(t.lead(), 120u);
    EXPECT_LE(t.lead(), 124u);
    t.begin(220);
    EXPECT_LE(t.lead(), 124u) << "the same floor once more adds nothing";
    t.now = std::uint64_t{250};
    t.begin(260);
    EXPECT_LE(t.lead(), 12u);
}

// A clock that only goes forward never meets a regression, whatever the policy and wherever the slot begins.
TEST(LedgerLead, RightClockIsNeverBlamed) {
    for (std::uint64_t seed = 0; seed < 2000; seed++) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        std::mt19937_64 random(seed);
        const auto below = [&](std::uint64_t n) { return random() % n; };
        const bool has_toggle = below(2) != 0;
        const std::uint64_t start = 1000 + below(100);
        Tape t(rules_of(policies[below(3)], has_toggle), {.tick = start - below(50), .next = 1}, start);
        if (has_toggle) t.cells[safe_cell] = start - below(80);
        Issued issued;
        std::uint64_t last = 0;
        for (int i = 0; i < 300; i++) {
            t.monotonic += below(700);
            t.now.value = start + (t.monotonic - 1'000'000) / 1000;
            if (below(40) == 0) {
                begin_slot(t.slot(), t.now.value + below(60), has_toggle, t.now.value, 4500);
                continue;
            }
            const std::uint64_t tick = t.state().tick;
            const Claim c = t.claim(static_cast<std::uint32_t>(1 + below(12)));
            ASSERT_TRUE(c.outcome == Outcome::issued || c.outcome == Outcome::overflow);
            ASSERT_FALSE(c.toggled);
            ASSERT_EQ(c.held, c.own_lead);
            if (c.outcome != Outcome::issued) continue;
            ASSERT_TRUE(issued.add(c.tick, c.toggle, c.first, c.count));
            ASSERT_GE(c.tick << 16 | c.first, last);
            last = (c.tick << 16 | c.first) + c.count;
            // The first new tick that the clock begins ends it; the fast path looks at no lead.
            if (!c.held && c.tick > tick) {
                EXPECT_EQ(detail::lead_ticks(t.cells[lead_cell]), 0u);
            }
        }
    }
}

// Nobody has begun the floor's tick, so its end need not be waited for; that of the next one must be.
TEST(LedgerLead, FirstTickAfterTheFloorBeginsAtOnce) {
    const Rules rules = rules_of(OnRegression::error, false);
    Begun t(rules, 100, 100, 160);
    Claim c = t.claim(100000);
    EXPECT_EQ(c.outcome, Outcome::issued);
    EXPECT_EQ(c.tick, 161u);
    EXPECT_EQ(t.claim().outcome, Outcome::overflow);
    t.monotonic += 999;
    EXPECT_EQ(t.claim().wait_us, 1);
    t.monotonic += 1;
    c = t.claim(100000);
    EXPECT_EQ(c.tick, 162u);
    t.begin(162);
    EXPECT_EQ(t.claim().outcome, Outcome::overflow) << "a floor that moves nothing changes nothing";
}

// The clock has caught up once: from then on a step back is one.
TEST(LedgerLead, IsOverWhenTheClockHasCaughtUp) {
    Begun t(rules_of(OnRegression::error, false), 100, 100, 160);
    Claim c = t.claim();
    EXPECT_TRUE(c.own_lead);
    EXPECT_EQ(c.tick, 161u);
    t.now = std::uint64_t{90};
    EXPECT_EQ(t.claim().outcome, Outcome::regression) << "back beyond the lead";
    t.now = std::uint64_t{110};
    EXPECT_EQ(t.claim().outcome, Outcome::issued);
    t.now = std::uint64_t{162};
    c = t.claim();
    EXPECT_FALSE(c.held);
    t.now = std::uint64_t{161};
    EXPECT_EQ(t.claim().outcome, Outcome::regression);
}

}  // namespace
}  // namespace snowflake_ids::ledger
