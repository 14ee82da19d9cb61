// The claim, one process at a time: it does what the step says, and keeps its protocol. Races are in
// ledger_claim_model_test.cpp and ledger_storm_test.cpp.
#include "ledger/claim.hpp"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "core/mastic.hpp"
#include "core/sno.hpp"
#include "support/issued.hpp"
#include "support/ledger_tape.hpp"
#include "support/times.hpp"

namespace snowflake_ids::ledger {
namespace {

using namespace snowflake_ids::test;

constexpr Access read_clock{Op::read_clock};
using Accesses = std::vector<Access>;

void expect_issued(const Claim& c, std::uint64_t tick, std::uint32_t toggle, std::uint32_t first,
                   std::uint32_t count = 1) {
    EXPECT_EQ(c.outcome, Outcome::issued);
    EXPECT_EQ(c.tick, tick);
    EXPECT_EQ(c.toggle, toggle);
    EXPECT_EQ(c.first, first);
    EXPECT_EQ(c.count, count);
    EXPECT_EQ(c.wait, 0us);
}

// ---- the step's table ----

// A held overflow is not the step's alone: see Hold.
void expect_step(const Claim& c, const Step& s, const State& before, std::uint64_t now, microseconds tick_length) {
    EXPECT_FALSE(c.standing.begun);
    switch (s.verdict) {
        case Verdict::issued:
            EXPECT_EQ(c.outcome, Outcome::issued);
            EXPECT_EQ(c.first, s.first);
            EXPECT_EQ(c.count, s.count);
            EXPECT_EQ(c.tick, s.state.tick);
            EXPECT_EQ(c.toggle, s.state.toggle());
            EXPECT_EQ(c.standing.held, s.held);
            EXPECT_EQ(c.standing.toggled, s.state.toggle() != before.toggle());
            return;
        case Verdict::overflow:
        case Verdict::regression:
            EXPECT_EQ(c.outcome, s.verdict == Verdict::overflow ? Outcome::overflow : Outcome::regression);
            EXPECT_EQ(c.wait, s.held ? tick_length : static_cast<std::int64_t>(s.resume - now) * tick_length);
            EXPECT_GT(c.wait, 0us);
            EXPECT_EQ(c.standing.held, s.held);
            break;
        case Verdict::ended:
            EXPECT_EQ(c.outcome, Outcome::ended);
            break;
    }
    EXPECT_EQ(c.count, 0u);
    EXPECT_EQ(c.tick, before.tick);
}

// claim() and claim_by_step() against the step itself. Small numbers, so that edges come up often; at both ends of
// time.
TEST(LedgerClaim, IsTheStep) {
    std::mt19937_64 random(3);
    const auto below = [&](std::uint64_t n) { return random() % n; };
    std::uint64_t verdicts[4] = {}, toggles = 0, fast = 0;
    for (int i = 0; i < 400000; i++) {
        const bool has_toggle = below(2) != 0;
        Rules rules{.max_tick = has_toggle ? sno::timeline.max_tick() : max_tick(false), .has_toggle = has_toggle};
        rules.min = static_cast<std::uint32_t>(below(4));
        rules.max = rules.min + static_cast<std::uint32_t>(below(6));
        if (below(4) == 0) rules.max = 65535;
        constexpr OnRegression policies[] = {OnRegression::hold, OnRegression::wait, OnRegression::error};
        rules.on_regression = policies[below(3)];
        const std::uint64_t base = below(2) == 0 ? 0 : rules.max_tick - 6;
        const State state{.tick = base + below(7),
                          .safe = base + below(7),
                          .next = below(5) == 0 ? static_cast<std::uint32_t>(used_up - below(4))
                                                : static_cast<std::uint32_t>(below(12)),
                          .drifts = has_toggle ? static_cast<std::uint32_t>(below(2)) : 0};
        const std::uint64_t now = base + below(9);
        const auto want = static_cast<std::uint32_t>(below(3) == 0 ? 1 + below(100000) : 1);
        const Step s = step(state, now, want, rules);
        // A restored generator beyond the end has its sequence used up.
        if (s.verdict == Verdict::ended && now == state.tick && state.next <= rules.max) continue;

        for (const bool by_step : {false, true}) {
            SCOPED_TRACE("case " + std::to_string(i));
            Tape t(rules, state, now);
            const Claim c = by_step ? t.claim_by_step(want) : t.claim(want);
            expect_step(c, s, state, now, t.length);
            EXPECT_EQ(t.cells[word_cell], pack(s.state, has_toggle));
            EXPECT_EQ(t.cells[safe_cell], s.state.safe);
            fast += !by_step && t.accesses.size() == 3;
            if (HasFailure()) return;
        }
        verdicts[static_cast<int>(s.verdict)]++;
        toggles += s.verdict == Verdict::issued && s.state.drifts != state.drifts;
    }
    for (const std::uint64_t n : verdicts) EXPECT_GT(n, 5000u);
    EXPECT_GT(toggles, 5000u);
    EXPECT_GT(fast, 5000u);
}

TEST(LedgerClaim, WantMoreThanIsLeft) {
    for (const Rules& rules : {sno_rules, mastic_rules}) {
        Tape t(rules, {.tick = 100, .next = 7}, 100);
        expect_issued(t.claim(1000), 100, 0, 7, 3);
        EXPECT_EQ(t.state().next, 10u);
        EXPECT_EQ(t.claim(1000).outcome, Outcome::overflow);
        t.now = std::uint64_t{101};
        expect_issued(t.claim(0xffffffff), 101, 0, 0, 10);
    }
}

// The word says "used up" without touching the tick.
TEST(LedgerClaim, WholeSequence) {
    Rules rules = mastic_rules;
    rules.max = mastic::layout.max_sequence();
    Tape t(rules, {}, max_tick(false));
    expect_issued(t.claim(100000), max_tick(false), 0, 0, 65536);
    EXPECT_EQ(t.state().next, used_up);
    EXPECT_EQ(t.state().tick, max_tick(false));
    EXPECT_EQ(t.claim().outcome, Outcome::overflow);
    EXPECT_EQ(t.claim_by_step().outcome, Outcome::overflow);
}

TEST(LedgerClaim, BeforeEpochAndEndedChangeNothing) {
    for (const Rules& rules : {sno_rules, mastic_rules}) {
        for (const auto& [now, outcome] :
             {std::pair{Result<std::uint64_t>(Error::time_before_epoch), Outcome::before_epoch},
              std::pair{Result<std::uint64_t>(Error::time_after_end), Outcome::ended},
              std::pair{Result<std::uint64_t>(rules.max_tick + 1), Outcome::ended}}) {
            Tape t(rules, {.tick = 100, .next = 3}, 0);
            t.now = now;
            const Claim c = t.claim();
            EXPECT_EQ(c.outcome, outcome);
            EXPECT_EQ(c.tick, 100u);
            EXPECT_EQ(c.count, 0u);
            EXPECT_EQ(t.state().tick, 100u);
            EXPECT_EQ(t.state().next, 3u);
        }
    }
}

TEST(LedgerClaim, FailedClockIsNotTickZero) {
    Tape t(mastic_rules, {}, 0);
    t.now = Error::time_before_epoch;
    EXPECT_EQ(t.claim().outcome, Outcome::before_epoch);
    EXPECT_EQ(t.cells[word_cell], 0u);
}

// ---- order of accesses ----

TEST(LedgerClaim, FastPathReadsTheWordThenTheClock) {
    Tape t(sno_rules, {.tick = 100, .next = 3}, 100);
    t.claim();
    EXPECT_EQ(t.accesses, (Accesses{load_word, read_clock, swap_word}));
}

TEST(LedgerClaim, ReadsTheWordThenSafeThenTheClock) {
    Tape t(sno_rules, {.tick = 100, .next = 3}, 101);
    t.claim_by_step();
    EXPECT_EQ(t.accesses, (Accesses{load_word, load_safe, read_clock, swap_word}));
}

TEST(LedgerClaim, RegressionRaisesSafeFirst) {
    Tape t(sno_rules, {.tick = 100, .next = 3}, 90);
    const Claim c = t.claim_by_step();
    expect_issued(c, 90, 1, 0);
    EXPECT_TRUE(c.standing.toggled);
    EXPECT_EQ(t.accesses, (Accesses{load_word, load_safe, read_clock, load_safe, swap_safe, swap_word}));
    EXPECT_EQ(t.state().safe, 100u);
}

TEST(LedgerClaim, InterruptedRegressionIsMoreCareful) {
    Tape t(sno_rules, {.tick = 100, .next = 3}, 90);
    ASSERT_TRUE(t.claim_killed_before(swap_word));
    EXPECT_EQ(t.state().tick, 100u);
    EXPECT_EQ(t.state().safe, 100u);
    const Claim c = t.claim();
    expect_issued(c, 100, 0, 3);
    EXPECT_TRUE(c.standing.held);
    t.now = std::uint64_t{101};
    expect_issued(t.claim(), 101, 0, 0);
}

TEST(LedgerClaim, LostRaceStartsOver) {
    for (const bool by_step : {false, true}) {
        Tape t(sno_rules, {.tick = 100, .next = 3}, 100);
        t.once_before(swap_word, [&] { t.claim(2); });
        expect_issued(by_step ? t.claim_by_step() : t.claim(), 100, 0, 5);
    }
}

// The second finds it done and continues at the new tick.
TEST(LedgerClaim, OnlyOneOfTwoToggles) {
    Tape t(sno_rules, {.tick = 100, .next = 3}, 90);
    t.once_before(swap_safe, [&] { EXPECT_TRUE(t.claim().standing.toggled); });
    const Claim c = t.claim();
    expect_issued(c, 90, 1, 1);
    EXPECT_FALSE(c.standing.toggled);
}

TEST(LedgerClaim, SafeOnlyGrows) {
    Tape t(sno_rules, {.tick = 100, .next = 3}, 90);
    t.once_before(swap_safe, [&] { t.cells[safe_cell] = 200; });
    t.claim();
    EXPECT_EQ(t.cells[safe_cell], 200u);

    WatchedSlot slot(t);
    for (const std::uint64_t floor : {0u, 199u, 200u, 201u, 150u}) {
        const std::uint64_t before = t.cells[safe_cell];
        lift_to(slot.safe, floor);
        EXPECT_EQ(t.cells[safe_cell], std::max(before, floor));
    }
}

// ---- policies ----

TEST(LedgerClaim, WaitAndErrorSayWhenTheClockIsBack) {
    for (const OnRegression policy : {OnRegression::wait, OnRegression::error}) {
        Rules rules = mastic_rules;
        rules.on_regression = policy;
        Tape t(rules, {.tick = 100, .next = 3}, 90);
        Claim c = t.claim();
        EXPECT_EQ(c.outcome, Outcome::regression);
        EXPECT_EQ(c.tick, 100u);
        EXPECT_EQ(c.wait, 10 * t.length);

        t.rules.has_toggle = true;  // comes back at safe + 1
        t.set({.tick = 100, .safe = 95, .next = 3});
        c = t.claim();
        EXPECT_EQ(c.outcome, Outcome::regression);
        EXPECT_EQ(c.wait, 6 * t.length);
        t.now = std::uint64_t{96};
        EXPECT_TRUE(t.claim().standing.toggled);
        EXPECT_EQ(t.state().safe, 100u);
    }
}

// ---- limit ----

TEST(LedgerClaim, NothingAtOrBeyondTheLimit) {
    std::mt19937_64 random(5);
    const auto below = [&](std::uint64_t n) { return random() % n; };
    std::uint64_t stopped = 0, issued = 0;
    for (int i = 0; i < 200000; i++) {
        SCOPED_TRACE("case " + std::to_string(i));
        const Rules& rules = below(2) == 0 ? sno_rules : mastic_rules;
        const State state{
            .tick = 100 + below(8), .safe = 100 + below(8), .next = static_cast<std::uint32_t>(below(12))};
        const std::uint64_t now = 100 + below(8), limit = 100 + below(9);
        Tape free(rules, state, now), limited(rules, state, now);
        limited.limit = limit;
        for (Tape* t : {&free, &limited}) {
            t->cells[begun_cell] = detail::pack_begun(1, state.tick);
        }
        const bool by_step = below(2) != 0;
        const Claim a = by_step ? free.claim_by_step(2) : free.claim(2);
        const Claim b = by_step ? limited.claim_by_step(2) : limited.claim(2);
        if (a.outcome == Outcome::issued && a.tick >= limit) {
            EXPECT_EQ(b.outcome, Outcome::ceiling);
            EXPECT_EQ(b.tick, a.tick);
            EXPECT_EQ(b.count, 0u);
            EXPECT_EQ(limited.cells[word_cell], pack(state, rules.has_toggle));
            EXPECT_EQ(limited.cells[safe_cell], state.safe);
            stopped++;
        } else {
            EXPECT_EQ(b.outcome, a.outcome);
            EXPECT_EQ(b.tick, a.tick);
            EXPECT_EQ(b.first, a.first);
            EXPECT_EQ(b.count, a.count);
            EXPECT_EQ(limited.cells[word_cell], free.cells[word_cell]);
            issued += b.outcome == Outcome::issued;
        }
        if (HasFailure()) return;
    }
    EXPECT_GT(stopped, 20000u);
    EXPECT_GT(issued, 20000u);
}

// Lifted bounds start at the new minimum; lowered ones find the tick used up.
TEST(LedgerClaim, BoundsMayDifferByCaller) {
    Tape t(mastic_rules, {.tick = 100, .next = 3}, 100);
    t.rules.min = 6;
    expect_issued(t.claim(), 100, 0, 6);
    t.rules = {.min = 0, .max = 5, .max_tick = mastic_rules.max_tick};
    EXPECT_EQ(t.claim().outcome, Outcome::overflow);
    t.rules.max = 9;
    expect_issued(t.claim(), 100, 0, 7);
}

}  // namespace
}  // namespace snowflake_ids::ledger
