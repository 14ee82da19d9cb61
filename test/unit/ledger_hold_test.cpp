// Hold: the clock is behind and the generator continues to count. It takes new ticks only by monotonic time, so its
// lead does not grow by itself.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <string>

#include "core/sno.hpp"
#include "ledger/claim.hpp"
#include "support/issued.hpp"
#include "support/ledger_tape.hpp"
#include "support/times.hpp"

namespace snowflake_ids::ledger {
namespace {

using namespace snowflake_ids::test;

struct Behind : Tape {
    Behind(const Rules& rules, std::uint32_t next)
        : Tape(rules, {.tick = 100, .safe = rules.has_toggle ? 100u : 0u, .next = next}, 90) {}
};

void expect_waits(const Claim& c, microseconds left) {
    EXPECT_EQ(c.outcome, Outcome::overflow);
    EXPECT_TRUE(c.standing.held);
    EXPECT_EQ(c.wait, left);
    EXPECT_EQ(c.count, 0u);
}

void expect_issued(const Claim& c, std::uint64_t tick, std::uint32_t first, bool advanced) {
    EXPECT_EQ(c.outcome, Outcome::issued);
    EXPECT_EQ(c.tick, tick);
    EXPECT_EQ(c.first, first);
    EXPECT_EQ(c.standing.begun, advanced);
    EXPECT_TRUE(c.standing.held);
}

TEST(LedgerHold, GoesOnInTheSameTick) {
    for (const Rules& rules : {mastic_rules, sno_rules}) {
        Behind t(rules, 3);
        expect_issued(t.claim(), 100, 3, false);
        EXPECT_EQ(t.cells[begun_cell], 0u);
    }
}

TEST(LedgerHold, NextTickAfterOneTickOfMonotonicTime) {
    for (const Rules& rules : {mastic_rules, sno_rules}) {
        Behind t(rules, 10);
        expect_waits(t.claim(), 1000us);
        t.monotonic_now += 1us;
        expect_waits(t.claim(), 999us);
        t.monotonic_now += 998us;
        expect_waits(t.claim(), 1us);
        t.monotonic_now += 1us;
        expect_issued(t.claim(4), 101, 0, true);
        expect_issued(t.claim(6), 101, 4, false);
        t.monotonic_now += 400us;
        expect_waits(t.claim(), 600us);
        t.monotonic_now += 600us;
        expect_issued(t.claim(), 102, 0, true);
    }
}

// At each access of the first, another one is faster.
TEST(LedgerHold, OneOfTwoBeginsTheTick) {
    for (const Access& where : {Access{Op::load, begun_cell}, Access{Op::read_monotonic}, swap_begun, swap_word}) {
        Behind t(mastic_rules, 10);
        t.claim();
        t.monotonic_now += 1000us;
        Claim other;
        t.once_before(where, [&] { other = t.claim(); });
        const Claim mine = t.claim();
        const bool i_won = where == swap_word;  // the other one only looked at `begun`
        expect_issued(mine, 101, i_won ? 0 : 1, i_won);
        if (i_won) {
            expect_waits(other, 1000us);
        } else {
            expect_issued(other, 101, 0, true);
        }
    }
}

TEST(LedgerHold, KilledAnywhereTheNextGoesOn) {
    for (const Access& where : {Access{Op::load, begun_cell}, Access{Op::read_monotonic}, swap_begun, swap_word}) {
        for (const bool ready : {false, true}) {
            Behind t(mastic_rules, 10);
            t.claim();
            if (ready) t.monotonic_now += 1000us;
            t.claim_killed_before(where);
            Claim c = t.claim();
            if (c.outcome != Outcome::issued) {
                EXPECT_LE(c.wait, 1ms);
                t.monotonic_now += 1000us;
                c = t.claim();
            }
            expect_issued(c, 101, 0, true);
        }
    }
}

TEST(LedgerHold, LongUptime) {
    for (const std::uint64_t start :
         {(std::uint64_t{1} << 48) - 3500, (std::uint64_t{1} << 48) + 12345, (std::uint64_t{5} << 48) - 2500}) {
        Behind t(mastic_rules, 10);
        t.monotonic_now = MonotonicTime{microseconds{start}};
        std::uint64_t begun = 0;
        for (int i = 0; i < 100; i++, t.monotonic_now += 100us) begun += t.claim(10).standing.begun;
        EXPECT_LE(begun, 10u) << "of a thousand microseconds each, in 10000 microseconds";
        EXPECT_GE(begun, 8u);
    }
}

TEST(LedgerHold, EndsAtTheLastTick) {
    Tape t(mastic_rules, {.tick = max_tick(false), .next = 10}, max_tick(false) - 5);
    expect_waits(t.claim(), 1000us);
    t.monotonic_now += 1000us;
    EXPECT_EQ(t.claim().outcome, Outcome::ended);
    EXPECT_EQ(t.state().tick, max_tick(false));
    EXPECT_EQ(t.state().next, 10u);
}

// Random clock, time and kills. One beginner gives all numbers of a tick, and ticks do not come faster than monotonic
// time.
TEST(LedgerHold, NeverFasterThanTime) {
    std::uint64_t taken = 0, kills = 0;
    for (std::uint64_t seed = 0; seed < 3000; seed++) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        std::mt19937_64 random(seed);
        const auto below = [&](std::uint64_t n) { return random() % n; };
        const bool has_toggle = below(2) != 0;
        Behind t(has_toggle ? sno_rules : mastic_rules, static_cast<std::uint32_t>(below(11)));
        t.rules.max = static_cast<std::uint32_t>(1 + below(5));
        t.monotonic_now = MonotonicTime{10s + microseconds{below(1'000'000)}};
        const MonotonicTime start = t.monotonic_now;
        const std::uint64_t clock = t.now.value;
        std::uint64_t advanced = 0;
        Issued issued;
        for (int i = 0; i < 200; i++) {
            t.monotonic_now += microseconds{below(3) != 0 ? below(300) : below(3000)};
            if (below(8) == 0) {
                constexpr Access where[] = {swap_word, swap_begun, {Op::load, begun_cell}, {Op::read_monotonic}};
                kills += t.claim_killed_before(where[below(4)], 1);
                continue;
            }
            const Claim c = t.claim(static_cast<std::uint32_t>(1 + below(8)));
            if (c.outcome != Outcome::issued) {
                EXPECT_GT(c.wait, 0us);
                EXPECT_LE(c.wait, t.length);
                continue;
            }
            EXPECT_TRUE(issued.add(c.tick, c.toggle, c.first, c.count));
            advanced += c.standing.begun;
        }
        const auto elapsed = static_cast<std::uint64_t>((t.monotonic_now - start) / t.length);
        EXPECT_EQ(t.now.value, clock);
        EXPECT_LE(t.state().tick - 100, elapsed + 1);
        EXPECT_LE(advanced, t.state().tick - 100);
        taken += advanced;
        if (HasFailure()) return;
    }
    EXPECT_GT(taken, 10000u);
    EXPECT_GT(kills, 10000u);
}

TEST(LedgerHold, LeadShrinksWhileTheClockRuns) {
    Behind t(mastic_rules, 10);
    std::uint64_t lead = 10;
    for (int i = 0; i < 300; i++) {
        t.monotonic_now += 100us;
        if (i % 10 == 9) t.now.value++;
        const Claim c = t.claim(10);
        if (c.outcome == Outcome::issued && !c.standing.held) {
            EXPECT_EQ(c.tick, t.now.value);
        }
        const std::uint64_t tick = t.state().tick;
        const std::uint64_t now_lead = tick > t.now.value ? tick - t.now.value : 0;
        EXPECT_LE(now_lead, lead + 1);
        lead = std::min(lead, std::max<std::uint64_t>(now_lead, 10));
    }
    EXPECT_LE(t.state().tick, t.now.value + 11);
}

TEST(LedgerHold, IdleTimeIsNotSaved) {
    Behind t(mastic_rules, 10);
    t.claim();
    t.monotonic_now += 50'000us;
    expect_issued(t.claim(10), 101, 0, true);
    expect_waits(t.claim(), 1000us);
}

}  // namespace
}  // namespace snowflake_ids::ledger
