// The remembered tick is the one that a division finds, whatever times come in whatever order.
#include "ledger/clock.hpp"

#include <gtest/gtest.h>

#include <random>

#include "core/mastic.hpp"
#include "core/sno.hpp"
#include "support/times.hpp"

namespace snowflake_ids::ledger {
namespace {

using namespace snowflake_ids::test;

timespec timespec_at(std::int64_t us, long ns) {
    std::int64_t second = us / 1000000;
    if (us % 1000000 < 0) second--;
    return {static_cast<time_t>(second), static_cast<long>((us - second * 1000000) * 1000 + ns)};
}

std::uint64_t expected(const Timeline& timeline, std::int64_t us) {
    const Result<std::uint64_t> tick = timeline.floor_tick(unix_us(us));
    return tick ? tick.value : 0;
}

void walk(const Timeline& timeline) {
    std::mt19937_64 random(4711);
    TickMemo memo;
    const std::int64_t epoch = number_of(timeline.epoch), length = timeline.tick_length.count();
    std::int64_t us = epoch + 1000000;
    for (int i = 0; i < 300000; i++) {
        switch (random() % 16) {
            case 0:  // anywhere, also outside the format
                us = epoch - 5000000 + static_cast<std::int64_t>(random() % (std::uint64_t{1} << 60));
                break;
            case 1:  // a little back
                us -= static_cast<std::int64_t>(random() % 10000);
                break;
            case 2:  // the edges of a tick
                us += length - (us - epoch) % length - 1 + static_cast<int>(random() % 2);
                break;
            default:
                us += static_cast<std::int64_t>(random() % 300);
        }
        ASSERT_EQ(tick_at(memo, timespec_at(us, static_cast<long>(random() % 1000)), timeline), expected(timeline, us))
            << us;
    }
}

TEST(TickMemo, Sno) { walk(sno::timeline); }
TEST(TickMemo, Mastic) { walk(mastic::layout.timeline); }
TEST(TickMemo, OtherEpochs) {
    walk(timeline_us(-86400000000 * 365 * 30, 1000, 41));
    walk(timeline_us(1262304000000123, 10000, 39));
    walk(timeline_us(1262304000000000, 7001, 39));
}

}  // namespace
}  // namespace snowflake_ids::ledger
