// Steps of the wall clock are counted once each; what is no step is not.
#include "ledger/clock_step_stats.hpp"

#include <gtest/gtest.h>

#include <functional>

#include "support/times.hpp"

namespace snowflake_ids::ledger {
namespace {

using namespace snowflake_ids::test;

struct Words {
    Word clock_steps;
    Holds<microseconds> clock_offset, clock_step;
    Holds<UnixTime> clock_stepped;
};

constexpr UnixTime year_2026 = unix_us(1767225600000000);

struct TwoClocks {
    UnixTime now = year_2026;
    microseconds since_boot = 1h;
    bool interrupted = false;
    std::function<void()> between = [] {};

    UnixTime wall() const { return now; }
    microseconds offset() const {
        const microseconds offset = interrupted ? 0us : now.time_since_epoch() - since_boot;
        between();
        return offset;
    }
    void pass(microseconds d) {
        now += d;
        since_boot += d;
    }
};

struct LedgerClockStep : testing::Test {
    Words header{};
    TwoClocks clock;

    void look() { note_clock_step(header, clock); }
    std::uint64_t steps() const { return header.clock_steps.load(); }
    microseconds last() const { return header.clock_step.load(); }
};

TEST_F(LedgerClockStep, TheFirstLookIsNone) {
    look();
    EXPECT_EQ(steps(), 0u);
    EXPECT_EQ(header.clock_offset.load(), clock.now.time_since_epoch() - clock.since_boot);
    EXPECT_EQ(header.clock_stepped.load(), UnixTime{});
}

TEST_F(LedgerClockStep, TimeThatPassesIsNone) {
    for (const microseconds d : {0us, 1us, 1000000us}) {
        look();
        clock.pass(d);
    }
    clock.pass(365 * 24h);
    look();
    EXPECT_EQ(steps(), 0u);
}

TEST_F(LedgerClockStep, BackAndAhead) {
    look();
    clock.now -= 30000000us;
    look();
    EXPECT_EQ(steps(), 1u);
    EXPECT_EQ(last(), -30000000us);
    EXPECT_EQ(header.clock_stepped.load(), clock.now);
    look();
    EXPECT_EQ(steps(), 1u);
    clock.pass(5000000us);
    clock.now += 3600000000us;
    look();
    EXPECT_EQ(steps(), 2u);
    EXPECT_EQ(last(), 3600000000us);
    EXPECT_EQ(header.clock_stepped.load(), clock.now);
}

TEST_F(LedgerClockStep, SmallOnesAddUp) {
    look();
    clock.now += least_clock_step - 1us;
    look();
    EXPECT_EQ(steps(), 0u);
    clock.now -= 2 * (least_clock_step - 1us);
    look();
    EXPECT_EQ(steps(), 0u);
    clock.now -= 1us;
    look();
    EXPECT_EQ(steps(), 1u);
    EXPECT_EQ(last(), -least_clock_step);
}

TEST_F(LedgerClockStep, AFrozenClockGoesBack) {
    look();
    for (int i = 0; i < 5; i++) {
        clock.since_boot += 60000000us;
        look();
    }
    EXPECT_EQ(steps(), 5u);
    EXPECT_EQ(last(), -60000000us);
}

TEST_F(LedgerClockStep, AnInterruptedReadingSaysNothing) {
    look();
    clock.interrupted = true;
    clock.now -= 30000000us;
    look();
    EXPECT_EQ(steps(), 0u);
    clock.interrupted = false;
    look();
    EXPECT_EQ(steps(), 1u);
}

TEST_F(LedgerClockStep, OfTwoThatSeeItOneCounts) {
    look();
    clock.now -= 30000000us;
    TwoClocks other = clock;
    clock.between = [&] { note_clock_step(header, other); };
    look();
    EXPECT_EQ(steps(), 1u);
    EXPECT_EQ(last(), -30000000us);
}

// One process reads the clocks before the step and stands still until another one has counted it.
TEST_F(LedgerClockStep, AnOldReadingIsNoStepBack) {
    look();
    TwoClocks other = clock;
    other.now -= 30000000us;
    clock.between = [&] { note_clock_step(header, other); };
    clock.now += least_clock_step;  // as if it had looked after another small step
    look();
    EXPECT_EQ(steps(), 1u);
    EXPECT_EQ(last(), -30000000us);
}

TEST_F(LedgerClockStep, TheMachinesClocks) {
    for (int i = 0; i < 1000; i++) note_clock_step(header);
    EXPECT_NE(header.clock_offset.load(), 0us);
    EXPECT_EQ(steps(), 0u);
}

}  // namespace
}  // namespace snowflake_ids::ledger
