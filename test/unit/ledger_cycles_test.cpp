// The time counter: its rate is never taken to be too high, and a tick is never taken to last longer than the clock
// says.
#include "ledger/cycles.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <random>
#include <string>

#include "core/mastic.hpp"
#include "core/sno.hpp"
#include "ledger/clock.hpp"
#include "support/times.hpp"

namespace snowflake_ids::ledger {
namespace {

using namespace snowflake_ids::test;

using cycles::longest_ns;
using cycles::Rate;

constexpr std::uint64_t second = 1000000000;

struct Machine {
    std::uint64_t per_us;
    std::uint64_t ns = 5 * second;
    std::uint64_t offset = 0;

    std::uint64_t count() const { return offset + ns / 1000 * per_us + ns % 1000 * per_us / 1000; }
    // A pair of readings, with delays around that of the clock.
    void note(Rate& rate, std::uint64_t delay_before = 20, std::uint64_t delay_after = 20, bool steady = true) {
        const std::uint64_t before = count();
        ns += delay_before;
        const std::uint64_t clock = ns;
        ns += delay_after;
        rate.note(before, clock, count(), steady);
    }
};

TEST(CyclesRate, UnknownAtFirst) {
    Rate rate;
    EXPECT_TRUE(rate.due(0));
    EXPECT_TRUE(rate.due(123456789));
    EXPECT_FALSE(rate.begun());
    EXPECT_EQ(rate.surely_within(second), 0u);
    Machine m{2450};
    m.note(rate);
    EXPECT_TRUE(rate.begun());
    EXPECT_EQ(rate.surely_within(second), 0u);
    EXPECT_FALSE(rate.due(m.count()));
    m.ns += 3000000;
    EXPECT_TRUE(rate.due(m.count()));
}

// At most 7/8, and a count for rounding.
std::uint64_t most(const Machine& m, std::uint64_t ns) { return ns * m.per_us / 1000 * 7 / 8 + 1; }

TEST(CyclesRate, NeverTooHigh) {
    std::mt19937_64 random(17);
    for (const std::uint64_t per_us : {1u, 24u, 1000u, 2450u, 5000u, 15000u}) {
        Machine m{per_us};
        Rate rate;
        m.note(rate);
        while (!rate.due(m.count())) m.ns += 1000000;
        m.note(rate);
        for (const std::uint64_t ns : {std::uint64_t{1000000}, longest_ns, 10 * second}) {
            const std::uint64_t bounded = std::min(ns, longest_ns);
            EXPECT_LE(rate.surely_within(ns), most(m, bounded)) << per_us;
            EXPECT_GE(rate.surely_within(ns), bounded * per_us / 1000 * 85 / 100) << per_us;
        }
        for (int i = 0; i < 20000; i++) {
            m.ns += random() % (random() % 4 == 0 ? 100 * second : 3000000);
            if (!rate.due(m.count())) continue;
            m.note(rate, random() % (random() % 8 == 0 ? 50000000 : 100),
                   random() % (random() % 8 == 0 ? 50000000 : 100));
            const std::uint64_t ns = random() % (2 * longest_ns);
            ASSERT_LE(rate.surely_within(ns), most(m, ns)) << per_us;
        }
    }
}

TEST(CyclesRate, Extremes) {
    Machine m{15000};
    Rate rate;
    m.note(rate);
    m.ns += 365 * 86400 * second;
    m.note(rate);
    EXPECT_LE(rate.surely_within(longest_ns), most(m, longest_ns));
    EXPECT_GE(rate.surely_within(longest_ns), longest_ns * 15 * 85 / 100);
    EXPECT_EQ(rate.surely_within(0), 0u);
    EXPECT_LE(rate.surely_within(1), 15u);
}

TEST(CyclesRate, WithoutTrustThereIsNone) {
    Machine m{2450};
    Rate rate;
    m.note(rate);
    m.ns += second;
    m.note(rate);
    EXPECT_NE(rate.surely_within(longest_ns), 0u);
    m.ns += second;
    m.note(rate, 20, 20, false);
    EXPECT_EQ(rate.surely_within(longest_ns), 0u);
    m.ns += 10000000;
    EXPECT_FALSE(rate.due(m.count()));
    m.ns += second;
    EXPECT_TRUE(rate.due(m.count()));
    m.note(rate);
    EXPECT_NE(rate.surely_within(longest_ns), 0u);
}

// As after the machine was moved, or stopped and started.
TEST(CyclesRate, Jumps) {
    for (const std::uint64_t jump :
         {std::uint64_t{0} - 3 * second, std::uint64_t{0} - 20000 * second, 3 * second, 20000 * second}) {
        Machine m{2450};
        m.offset = 10000 * second;
        Rate rate;
        m.note(rate);
        m.ns += second;
        m.note(rate);
        ASSERT_NE(rate.surely_within(longest_ns), 0u);
        m.offset += jump;
        m.ns += second;
        m.note(rate);
        EXPECT_EQ(rate.surely_within(longest_ns), 0u) << jump;
        m.ns += second;
        m.note(rate);
        EXPECT_NE(rate.surely_within(longest_ns), 0u);
        EXPECT_LE(rate.surely_within(longest_ns), most(m, longest_ns));
    }
    // The monotonic clock of a stopped machine is put back.
    Machine m{2450};
    Rate rate;
    m.note(rate);
    m.ns += second;
    m.note(rate);
    m.offset = m.count();
    m.ns = second;
    m.note(rate);
    EXPECT_EQ(rate.surely_within(longest_ns), 0u);
}

TEST(CyclesRate, Implausible) {
    for (const std::uint64_t per_us : {std::uint64_t{0}, std::uint64_t{20000}, std::uint64_t{1000000}}) {
        Machine m{per_us};
        Rate rate;
        m.note(rate);
        m.ns += second;
        m.note(rate);
        EXPECT_EQ(rate.surely_within(longest_ns), 0u) << per_us;
    }
}

microseconds offset() { return wall_clock().time_since_epoch() - monotonic_clock().time_since_epoch(); }

[[maybe_unused]] bool kernel_uses_tsc() {
    std::ifstream file("/sys/devices/system/clocksource/clocksource0/current_clocksource");
    std::string name;
    return file >> name && name == "tsc";
}

// A tick from the memo lasted when it was asked for, or has begun since.
void against_clock(const Timeline& timeline) {
    TickMemo memo;
    std::uint64_t counted = 0, asked = 0, wrong = 0;
    const microseconds at_first = offset();
    const MonotonicTime end = monotonic_clock() + 2s;
    while (monotonic_clock() < end) {
        for (int i = 0; i < 1000; i++) {
            const std::uint64_t before = timeline.floor_tick(wall_clock()).value;
            const std::uint64_t from = memo.from_count;
            const std::uint64_t tick = tick_now(memo, timeline);
            const std::uint64_t after = timeline.floor_tick(wall_clock()).value;
            if (tick < before || tick > after) wrong++;
            (memo.from_count == from ? counted : asked)++;
        }
    }
    std::printf("%lu looks at the counter, %lu at the clock\n", static_cast<unsigned long>(counted),
                static_cast<unsigned long>(asked));
    if (std::chrono::abs(offset() - at_first) > 1ms) GTEST_SKIP() << "the clock was set meanwhile";
    EXPECT_EQ(wrong, 0u);
    if (cycles::available) {
        EXPECT_GT(asked, 0u);
    }
#ifdef __x86_64__
    EXPECT_EQ(counted > 0, kernel_uses_tsc());
#endif
}

TEST(TickNow, Sno) { against_clock(sno::timeline); }
TEST(TickNow, Mastic) { against_clock(mastic::layout.timeline); }

TEST(TickNow, LongTicks) {
    if (!cycles::available) GTEST_SKIP() << "no time counter";
    constexpr Timeline timeline = timeline_us(1262304000000000, 1000000, 39);
    TickMemo memo;
    const MonotonicTime start = monotonic_clock();
    std::uint64_t looks = 0;
    MonotonicTime last;
    microseconds longest{};
    // Longer on a machine that stood still.
    const auto goes_on = [&](microseconds d) { return d < 500ms || (looks < 2 && d < 1min); };
    while (goes_on(monotonic_clock() - start)) {
        const MonotonicTime before = monotonic_clock();
        const std::uint64_t from = memo.from_count;
        tick_now(memo, timeline);
        if (memo.from_count == from) {
            longest = std::max(longest, before - last);
        } else {
            looks++;
            last = monotonic_clock();
        }
    }
    EXPECT_GT(looks, 1u);
    EXPECT_LE(longest, nanoseconds{longest_ns});
}

}  // namespace
}  // namespace snowflake_ids::ledger
