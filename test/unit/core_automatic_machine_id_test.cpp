// The machine id of a server that was given none: never one that people configure, and well spread.
#include "core/automatic_machine_id.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdio>
#include <random>
#include <set>
#include <vector>

namespace snowflake_ids::automatic_machine_id {
namespace {

static_assert(mix(0) == 0 && mix(1) == 0x5692161d100b05e5);
static_assert(effective(0, 1, 16) == 0 && effective(65535, 1, 16) == 65535 && effective(7, 1, 5) == 7);
static_assert(effective(-1, 1, 16) == of(1) && effective(-1, 1, 15) == 0 && effective(-1, 1, 0) == 0);
static_assert(of(1) == 0xab49 && of(7650000000000000000) == 0xb013);

// As initdb makes it.
std::uint64_t identifier(std::uint64_t seconds, std::uint64_t microseconds, std::uint64_t pid) {
    return seconds << 32 | microseconds << 12 | (pid & 0xfff);
}

// Chi-square of the 32,768 values, as standard deviations from chance.
template <class Make>
double deviation(Make make) {
    constexpr int n = 32768 * 64;
    std::vector<int> count(32768);
    for (int i = 0; i < n; i++) {
        const std::uint32_t id = of(make(i));
        EXPECT_TRUE(id >= 0x8000 && id <= max);
        count[id & 0x7fff]++;
    }
    double chi = 0;
    for (const int c : count) chi += (c - 64.0) * (c - 64.0) / 64.0;
    return (chi - 32767) / std::sqrt(2.0 * 32767);
}

TEST(CoreMachineId, SpreadWhateverDiffers) {
    constexpr std::uint64_t start = 1764000000;
    const double by_second = deviation([&](int i) { return identifier(start + i, 0, 100); });
    const double by_microsecond = deviation([&](int i) { return identifier(start + i / 1000000, i % 1000000, 100); });
    const double by_pid = deviation([&](int i) { return identifier(start + i / 4096, 500000, i); });
    std::printf("standard deviations from chance: seconds %.2f, microseconds %.2f, process ids %.2f\n", by_second,
                by_microsecond, by_pid);
    for (const double d : {by_second, by_microsecond, by_pid}) EXPECT_LT(std::abs(d), 5);
}

TEST(CoreMachineId, EachBitCounts) {
    std::mt19937_64 random(1);
    for (int bit = 0; bit < 64; bit++) {
        int changed = 0;
        for (int i = 0; i < 10000; i++) {
            const std::uint64_t v = random();
            changed += std::popcount(of(v) ^ of(v ^ std::uint64_t{1} << bit));
        }
        EXPECT_NEAR(changed / 150000.0, 0.5, 0.01) << "bit " << bit;
    }
}

TEST(CoreMachineId, ServersMeetRarely) {
    std::mt19937_64 random(2);
    int pairs = 0, tens = 0;
    constexpr int trials = 200000;
    for (int i = 0; i < trials; i++) {
        const std::uint64_t s = 1764000000 + random() % 100000000;
        pairs += of(identifier(s, random() % 1000000, random())) ==
                 of(identifier(s + random() % 3600, random() % 1000000, random()));
        std::set<std::uint32_t> ids;
        for (int k = 0; k < 10; k++) ids.insert(of(identifier(s + k, random() % 1000000, random())));
        tens += ids.size() < 10;
    }
    std::printf("of %d: two servers meet %d times (chance: %.1f), ten %d (chance: %.0f)\n", trials, pairs,
                trials / 32768.0, tens, trials * 45 / 32768.0);
    EXPECT_LT(pairs, 25);
    EXPECT_NEAR(tens, trials * 45 / 32768.0, 90);
}

}  // namespace
}  // namespace snowflake_ids::automatic_machine_id
