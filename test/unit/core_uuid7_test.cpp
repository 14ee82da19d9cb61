// UUID version 7: the examples of RFC 9562, bounds, the moments of a generator.
#include "core/uuid7.hpp"

#include <algorithm>
#include <cctype>
#include <random>
#include <string>

#include <gtest/gtest.h>

#include "support/id_operators.hpp"
#include "support/text.hpp"
#include "support/times.hpp"

namespace snowflake_ids::uuid7 {
namespace {

using namespace snowflake_ids::test;

Id read(std::string text) {
    std::erase(text, '-');
    for (char& c : text) c = static_cast<char>(std::tolower(c));
    const auto bytes = from_hex(text);
    Id id{};
    std::copy_n(bytes.begin(), std::min(bytes.size(), binary_size), id.bytes);
    return id;
}

std::string print(const Id& id) { return to_uuid(id.bytes); }

Moment moment_at(std::int64_t s, std::uint64_t ns) { return moment(seconds{s}, nanoseconds{ns}); }

static_assert(lower_bound(UnixTime::max()).error == Error::time_after_end);
static_assert(upper_bound(UnixTime::min()).error == Error::time_before_epoch);
static_assert(timeline.end() == unix_us(281474976710655999));
static_assert(is_valid(make(0, 0)) && is_valid(make(max_moment, max_random)));

// Appendix A.6.
TEST(Uuid7, ExampleOfTheRfc) {
    const Id id = read("017F22E2-79B0-7CC3-98C4-DC0C0C07398F");
    ASSERT_TRUE(is_valid(id));
    EXPECT_EQ(to_iso(number_of(time_of(id)) / 1000), "2022-02-22T19:22:22.000Z");
    EXPECT_EQ(print(make(Moment{0x017F22E279B0} << 12 | 0xCC3, 0x18C4DC0C0C07398F)),
              "017f22e2-79b0-7cc3-98c4-dc0c0c07398f");
}

// Appendices A.1 to A.5 and B.1, B.2; nil and max.
TEST(Uuid7, NoOtherVersion) {
    for (const char* other : {"C232AB00-9414-11EC-B3C8-9F6BDECED846", "5df41881-3aed-3515-88a7-2f4a814cf09e",
                              "919108f7-52d1-4320-9bac-f847db4148a8", "2ed6657d-e927-568b-95e1-2665a8aea6a2",
                              "1EC9414C-232A-6B00-B3C8-9F6BDECED846", "2489E9AD-2EE2-8E00-8EC9-32D5F69181C0",
                              "5c146b14-3c52-8afd-938a-375d0df1fbf6", "00000000-0000-0000-0000-000000000000",
                              "ffffffff-ffff-ffff-ffff-ffffffffffff"})
        EXPECT_FALSE(is_valid(read(other))) << other;
}

TEST(Uuid7, VersionAndVariantDecide) {
    int valid = 0;
    for (int six = 0; six < 256; six++)
        for (int eight = 0; eight < 256; eight++) {
            Id id = read("017F22E2-79B0-7CC3-98C4-DC0C0C07398F");
            id.bytes[6] = static_cast<unsigned char>(six);
            id.bytes[8] = static_cast<unsigned char>(eight);
            const bool expected = (six & 0xf0) == 0x70 && (eight & 0xc0) == 0x80;
            EXPECT_EQ(is_valid(id), expected) << six << ' ' << eight;
            valid += expected;
        }
    EXPECT_EQ(valid, 16 * 64);
}

TEST(Uuid7, EachFieldHasItsPlace) {
    std::mt19937_64 random(7);
    for (int i = 0; i < 10000; i++) {
        const std::uint64_t ms = random() & timeline.max_tick(), fraction = random() & max_fraction;
        const std::uint64_t rest = random() & max_random;
        const Id id = make(ms << 12 | fraction, rest);
        ASSERT_TRUE(is_valid(id));
        char expected[64];
        std::snprintf(expected, sizeof expected, "%08lx-%04lx-7%03lx-%04lx-%012lx", ms >> 16, ms & 0xffff, fraction,
                      0x8000 | rest >> 48, rest & 0xffffffffffff);
        ASSERT_EQ(print(id), expected);
        ASSERT_EQ(time_of(id), unix_ms(static_cast<std::int64_t>(ms)));
    }
}

TEST(Uuid7, BoundsAreTheEndsOfAMillisecond) {
    EXPECT_EQ(print(lower_bound(unix_us(1645557742000000)).value), "017f22e2-79b0-7000-8000-000000000000");
    EXPECT_EQ(print(lower_bound(unix_us(1645557741999001)).value), "017f22e2-79b0-7000-8000-000000000000");
    EXPECT_EQ(print(upper_bound(unix_us(1645557742000000)).value), "017f22e2-79b0-7fff-bfff-ffffffffffff");
    EXPECT_EQ(print(upper_bound(unix_us(1645557742000999)).value), "017f22e2-79b0-7fff-bfff-ffffffffffff");
    EXPECT_EQ(print(lower_bound(UnixTime::min()).value), "00000000-0000-7000-8000-000000000000");
    EXPECT_EQ(print(upper_bound(UnixTime::max()).value), "ffffffff-ffff-7fff-bfff-ffffffffffff");
}

TEST(Uuid7, BoundsAgreeWithThePlainDefinition) {
    const PlainTimeline plain(timeline);
    std::mt19937_64 random(8);
    for (int i = 0; i < 100000; i++) {
        const UnixTime at = unix_us(static_cast<std::int64_t>(random()) >> (random() % 40));
        const auto lower = lower_bound(at), upper = upper_bound(at);
        ASSERT_EQ(static_cast<bool>(lower), plain.at_or_after(at).has_value()) << number_of(at);
        ASSERT_EQ(static_cast<bool>(upper), plain.at_or_before(at).has_value()) << number_of(at);
        if (lower) {
            ASSERT_EQ(time_of(lower.value), timeline.start(*plain.at_or_after(at))) << number_of(at);
        }
        if (upper) {
            ASSERT_EQ(time_of(upper.value), timeline.start(*plain.at_or_before(at))) << number_of(at);
        }
    }
}

// ---- generating

// As PostgreSQL 18: rounded down.
TEST(Uuid7, FractionOfTheMillisecond) {
    EXPECT_EQ(moment_at(0, 0), 0u);
    EXPECT_EQ(moment_at(0, 244) & max_fraction, 0u);
    EXPECT_EQ(moment_at(0, 245) & max_fraction, 1u);
    EXPECT_EQ(moment_at(0, 500000) & max_fraction, 2048u);
    EXPECT_EQ(moment_at(0, 999999), max_fraction);
    EXPECT_EQ(moment_at(0, 1000000), max_fraction + 1);
    EXPECT_EQ(moment_at(1645557742, 999999999), (std::uint64_t{1645557742999} << 12) + 4095);
    Moment last = 0, steps = 0;
    for (std::uint64_t ns = 0; ns < 2000000; ns++) {
        const Moment m = moment_at(3, ns);
        ASSERT_EQ(m >> 12, 3000 + ns / 1000000);
        if (ns > 0) {
            ASSERT_LE(m - last, 1u) << ns;
            steps += m - last;
        }
        last = m;
    }
    EXPECT_EQ(steps, 2u * 4096 - 1);
}

TEST(Uuid7, GrowWhateverTheClockDoes) {
    std::mt19937_64 random(9);
    Moment clock = moment_at(1700000000, 0), last = 0;
    Id before{};
    int at_clock = 0;
    for (int i = 0; i < 100000; i++) {
        switch (random() % 4) {
            case 0:
                clock += random() % 40;
                break;
            case 1:
                clock -= random() % 3;
                break;
            case 2:
                if (random() % 1000 == 0) clock -= 5000;
                break;
        }
        last = next(last, clock);
        at_clock += last == clock;
        const Id id = make(last, random());
        ASSERT_TRUE(is_valid(id));
        ASSERT_LT(before, id);
        ASSERT_GE(last, clock);
        before = id;
    }
    EXPECT_GT(at_clock, 10);
}

TEST(Uuid7, MomentsAreExact) {
    const auto expected = [](std::uint64_t s, std::uint64_t ns) {
        return (s * 1000 + ns / 1000000) * 4096 + ns % 1000000 * 4096 / 1000000;
    };
    for (const std::uint64_t ns : {0, 999'999, 1'000'000, 997'999'999, 998'000'000, 998'000'500, 999'999'999})
        EXPECT_EQ(moment_at(5, ns), expected(5, ns)) << ns;
    EXPECT_EQ(uuid7::next(5, 3), 6u);
    EXPECT_EQ(uuid7::next(5, 5), 6u);
    EXPECT_EQ(uuid7::next(5, 6), 6u);
    EXPECT_EQ(uuid7::next(5, 9), 9u);
    EXPECT_EQ(print(uuid7::make(std::uint64_t{77} << 12 | 5, ~std::uint64_t{0})),
              "00000000-004d-7005-bfff-ffffffffffff");
}

}  // namespace
}  // namespace snowflake_ids::uuid7
