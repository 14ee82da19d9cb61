// Steps of the wall clock are counted, each once; what is no step is not.
#include "ledger/clock_step.hpp"

#include <gtest/gtest.h>

#include <functional>

namespace snowflake_ids::ledger {
namespace {

struct Words {
    Word clock_offset, clock_steps, clock_step, clock_stepped;
};

constexpr std::int64_t year_2026 = 1767225600000000;

// Of a machine that was started an hour before.
struct TwoClocks {
    std::int64_t wall = year_2026;
    std::int64_t since_boot = 3600000000;
    bool interrupted = false;
    std::function<void()> between = [] {};  // of what others do while the clocks are read

    std::int64_t wall_us() const { return wall; }
    std::int64_t offset_us() const {
        const std::int64_t offset = interrupted ? 0 : wall - since_boot;
        between();
        return offset;
    }
    void pass(std::int64_t us) {
        wall += us;
        since_boot += us;
    }
};

struct LedgerClockStep : testing::Test {
    Words header{};
    TwoClocks clock;

    void look() { note_clock_step(header, clock); }
    std::uint64_t steps() const { return header.clock_steps.load(); }
    std::int64_t last() const { return static_cast<std::int64_t>(header.clock_step.load()); }
};

TEST_F(LedgerClockStep, TheFirstLookIsNone) {
    look();
    EXPECT_EQ(steps(), 0u);
    EXPECT_EQ(header.clock_offset.load(), static_cast<std::uint64_t>(clock.wall - clock.since_boot));
    EXPECT_EQ(header.clock_stepped.load(), 0u);
}

TEST_F(LedgerClockStep, TimeThatPassesIsNone) {
    for (const std::int64_t us : {0, 1, 1000000}) {
        look();
        clock.pass(us);
    }
    clock.pass(std::int64_t{86400} * 365 * 1000000);
    look();
    EXPECT_EQ(steps(), 0u);
}

TEST_F(LedgerClockStep, BackAndAhead) {
    look();
    clock.wall -= 30000000;
    look();
    EXPECT_EQ(steps(), 1u);
    EXPECT_EQ(last(), -30000000);
    EXPECT_EQ(header.clock_stepped.load(), static_cast<std::uint64_t>(clock.wall));
    look();
    EXPECT_EQ(steps(), 1u);
    clock.pass(5000000);
    clock.wall += 3600000000;
    look();
    EXPECT_EQ(steps(), 2u);
    EXPECT_EQ(last(), 3600000000);
    EXPECT_EQ(header.clock_stepped.load(), static_cast<std::uint64_t>(clock.wall));
}

TEST_F(LedgerClockStep, SmallOnesAddUp) {
    look();
    clock.wall += least_clock_step_us - 1;
    look();
    EXPECT_EQ(steps(), 0u);
    clock.wall -= 2 * (least_clock_step_us - 1);
    look();
    EXPECT_EQ(steps(), 0u);
    clock.wall--;
    look();
    EXPECT_EQ(steps(), 1u);
    EXPECT_EQ(last(), -least_clock_step_us);
}

// A wall clock that stands still is set back again and again.
TEST_F(LedgerClockStep, AFrozenClockGoesBack) {
    look();
    for (int i = 0; i < 5; i++) {
        clock.since_boot += 60000000;
        look();
    }
    EXPECT_EQ(steps(), 5u);
    EXPECT_EQ(last(), -60000000);
}

TEST_F(LedgerClockStep, AnInterruptedReadingSaysNothing) {
    look();
    clock.interrupted = true;
    clock.wall -= 30000000;
    look();
    EXPECT_EQ(steps(), 0u);
    clock.interrupted = false;
    look();
    EXPECT_EQ(steps(), 1u);
}

// Both have seen the offset of before. One counts.
TEST_F(LedgerClockStep, OfTwoThatSeeItOneCounts) {
    look();
    clock.wall -= 30000000;
    TwoClocks other = clock;
    clock.between = [&] { note_clock_step(header, other); };
    look();
    EXPECT_EQ(steps(), 1u);
    EXPECT_EQ(last(), -30000000);
}

// One has read the clocks before the step, and stands still until another one has counted it: that is no step ahead.
TEST_F(LedgerClockStep, AnOldReadingIsNoStepBack) {
    look();
    TwoClocks other = clock;
    other.wall -= 30000000;
    clock.between = [&] { note_clock_step(header, other); };
    clock.wall += least_clock_step_us;  // as if it had looked after another small step
    look();
    EXPECT_EQ(steps(), 1u);
    EXPECT_EQ(last(), -30000000);
}

TEST_F(LedgerClockStep, TheMachinesClocks) {
    for (int i = 0; i < 1000; i++) note_clock_step(header);
    EXPECT_NE(header.clock_offset.load(), 0u);
    EXPECT_EQ(steps(), 0u);
}

}  // namespace
}  // namespace snowflake_ids::ledger
