// The parts of a claim, each by itself. Whole claims are in ledger_claim_test.cpp and ledger_hold_test.cpp.
#include <gtest/gtest.h>

#include "ledger/claim.hpp"
#include "ledger/slot.hpp"
#include "support/times.hpp"

namespace snowflake_ids::ledger {
namespace {

using namespace snowflake_ids::test;

struct Words {
    Word word, safe, begun;
};

struct FixedClock {
    std::uint64_t now = 0;
    microseconds up{};

    Result<std::uint64_t> tick() const { return now; }
    MonotonicTime monotonic() const { return MonotonicTime{up}; }
    microseconds until(std::uint64_t t) const { return static_cast<std::int64_t>(t - now) * tick_length(); }
    microseconds tick_length() const { return 1ms; }
};

static_assert(no_limit == 0xffff'ffff'ffff'ffff);
static_assert(used_up == 0x1'0000 && used_up <= next_mask, "above every sequence, and it fits the word");

TEST(LedgerClaimParts, WordThatSaysWhenATickWasBegun) {
    EXPECT_EQ(detail::pack_begun(3, 0x1'2345), 0x3'2345u);
    EXPECT_EQ(detail::begun_time_mask, 0xffff'ffff'ffffu);
}

// Tick 0x2'0064 is used up, and was begun at monotonic time 5000.
TEST(LedgerClaimParts, NextHeldTickAfterOneTick) {
    constexpr std::uint64_t tick = 0x2'0064;
    Words slot{};
    slot.word = 7;
    slot.begun = detail::pack_begun(5000, tick);
    FixedClock clock{.up = 5999us};
    EXPECT_EQ(detail::begin_held_tick(slot, clock, 7, tick), 1us);
    EXPECT_EQ(slot.begun, detail::pack_begun(5000, tick));
    clock.up = 6000us;
    EXPECT_EQ(detail::begin_held_tick(slot, clock, 7, tick), 0us);
    EXPECT_EQ(slot.begun, detail::pack_begun(6000, tick + 1));
}

TEST(LedgerClaimParts, NextHeldTickIfNobodyKnowsWhenThisOneWasBegun) {
    constexpr std::uint64_t tick = 0x2'0064;
    for (const std::uint64_t begun : {detail::pack_begun(5000, tick - 1), detail::pack_begun(9000, tick)}) {
        Words slot{};
        slot.word = 7;
        slot.begun = begun;
        FixedClock clock{.up = 8000us};
        EXPECT_LT(detail::begin_held_tick(slot, clock, 6, tick), 0us) << "another process has changed the word";
        EXPECT_EQ(slot.begun, begun);
        EXPECT_EQ(detail::begin_held_tick(slot, clock, 7, tick), 1000us) << "a whole tick from now";
        EXPECT_EQ(slot.begun, detail::pack_begun(8000, tick));
    }
}

// The sequence is used up: the next tick must be below the limit before anybody waits for it.
TEST(LedgerClaimParts, NextHeldTickIsBelowTheLimit) {
    const Rules rules{.max = 9, .max_tick = 1000};
    Words slot{};
    slot.word = pack({.tick = 100, .next = 10}, false);
    FixedClock clock{.now = 90};
    const Claim refused = claim<false>(slot, clock, 1, rules, 101);
    EXPECT_EQ(refused.outcome, Outcome::ceiling);
    EXPECT_EQ(refused.tick, 101u);
    EXPECT_EQ(slot.begun, 0u);
    const Claim waits = claim<false>(slot, clock, 1, rules, 102);
    EXPECT_EQ(waits.outcome, Outcome::overflow);
    EXPECT_EQ(waits.tick, 100u);
    EXPECT_EQ(waits.wait, 1000us);
    const Rules last{.max = 9, .max_tick = 100};
    slot.begun = 0;
    EXPECT_EQ(claim<false>(slot, clock, 1, last, 101).outcome, Outcome::overflow);
    slot.begun = detail::pack_begun(0, 100);
    clock.up = 1000us;
    EXPECT_EQ(claim<false>(slot, clock, 1, last, 101).outcome, Outcome::ended);
}

TEST(LedgerClaimParts, ClaimThatIssuesNothingSaysNoNumbers) {
    const Rules rules{.max = 9, .max_tick = 100, .on_regression = OnRegression::error};
    Words slot{};
    slot.word = pack({.tick = 100, .next = 10}, false);
    for (const std::uint64_t now : {90, 100, 101}) {
        FixedClock clock{.now = now};
        const Claim c = claim<false>(slot, clock, 1, rules);
        EXPECT_NE(c.outcome, Outcome::issued);
        EXPECT_EQ(c.first + c.count + c.toggle, 0u);
        EXPECT_FALSE(c.standing.toggled || c.standing.held || c.standing.begun || c.standing.own_lead);
        EXPECT_EQ(c.tick, 100u);
        EXPECT_EQ(c.wait, now == 90 ? 10ms : now == 100 ? 1ms : 0ms);
    }
}

// The loser of the race for `begun` looks at the word again and does not begin the tick.
struct LostOnce {
    std::uint64_t value, theirs;

    std::uint64_t load() const { return value; }
    bool compare_exchange_strong(std::uint64_t& seen, std::uint64_t wanted) {
        if (value != theirs) {
            value = seen = theirs;
            return false;
        }
        value = wanted;
        return true;
    }
};

TEST(LedgerClaimParts, LoserOfTheRaceForATickWaits) {
    struct {
        Word word, safe;
        LostOnce begun;
    } slot{pack({.tick = 100, .next = 10}, false), 0, {detail::pack_begun(5000, 100), detail::pack_begun(8000, 101)}};
    FixedClock clock{.now = 90, .up = 8000us};
    const Claim c = claim<false>(slot, clock, 1, {.max = 9, .max_tick = 1000});
    EXPECT_EQ(c.outcome, Outcome::overflow);
    EXPECT_EQ(c.wait, 1000us);
}

TEST(LedgerClaimParts, NoToggleWithoutTheBit) {
    Words slot{};
    slot.word = pack({.tick = 101, .next = 3}, false);
    FixedClock clock{.now = 101};
    const Claim c = claim<false>(slot, clock, 1, {.max = 9, .max_tick = 1000});
    EXPECT_EQ(c.outcome, Outcome::issued);
    EXPECT_EQ(c.toggle, 0u);
}

}  // namespace
}  // namespace snowflake_ids::ledger
