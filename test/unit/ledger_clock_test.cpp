// What the wall clock shows, with readings that the test chooses.
#include "ledger/clock.hpp"

#include <gtest/gtest.h>

#include <ctime>
#include <optional>

#include <sys/syscall.h>
#include <unistd.h>

#include "support/times.hpp"

namespace {

std::optional<timespec> wall;

}  // namespace

extern "C" int clock_gettime(clockid_t id, timespec* t) {
    const int r = static_cast<int>(syscall(SYS_clock_gettime, id, t));
    if (id == CLOCK_REALTIME && wall) *t = *wall;
    return r;
}

namespace snowflake_ids::ledger {
namespace {

using namespace snowflake_ids::test;

TEST(LedgerClock, Microseconds) {
    wall = timespec{5, 999'999'999};
    EXPECT_EQ(wall_clock(), unix_us(5'999'999));
    wall.reset();
}

TEST(LedgerClock, Tick) {
    constexpr Timeline timeline = timeline_us(10'500'000, 4000, 10);
    const auto at = [&](time_t second, long ns) {
        wall = timespec{second, ns};
        return tick_now(timeline);
    };
    EXPECT_EQ(at(10, 504'000'000), 1u);
    EXPECT_EQ(at(10, 507'999'999), 1u);
    EXPECT_EQ(at(10, 508'000'000), 2u);
    EXPECT_EQ(at(14, 595'999'999), 1023u);
    EXPECT_EQ(at(14, 596'000'000), 0u) << "after the end";
    EXPECT_EQ(at(10, 499'999'999), 0u) << "before the epoch";
    wall.reset();
}

}  // namespace
}  // namespace snowflake_ids::ledger
