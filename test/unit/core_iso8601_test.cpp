// Times in settings: what is read, to the microsecond, and what is refused. Against the C library: test/fuzz/iso8601.cpp.
#include "core/iso8601.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <ctime>
#include <string>
#include <string_view>

namespace snowflake_ids::iso8601 {
namespace {

Result<std::int64_t> read(std::string_view text) { return parse(text.data(), text.size()); }

void expect_us(std::string_view text, std::int64_t us) {
    const Result<std::int64_t> r = read(text);
    EXPECT_TRUE(r) << text;
    EXPECT_EQ(r.value, us) << text;
}

constexpr std::int64_t start_of_2026 = 1767225600;

TEST(CoreIso8601, Spellings) {
    for (const char* const text : {"2026-01-01 00:00:00+00", "2026-01-01T00:00:00Z", "2026-01-01 00:00:00.000000+00:00",
                                   "2026-01-01 00:00:00-0000", "2025-12-31 23:59:00-00:01", "2026-01-01 00:01:00+0001",
                                   "2026-01-01 15:59:00+15:59", "2025-12-31 08:01:00-1559", "2026-01-01 05:00:00+05"})
        expect_us(text, start_of_2026 * 1000000);
}

TEST(CoreIso8601, EachFieldCounts) {
    expect_us("1970-01-01 00:00:00Z", 0);
    expect_us("2026-01-01 00:00:01Z", (start_of_2026 + 1) * 1000000);
    expect_us("2026-01-01 00:00:59Z", (start_of_2026 + 59) * 1000000);
    expect_us("2026-01-01 00:59:00Z", (start_of_2026 + 3540) * 1000000);
    expect_us("2026-01-01 23:00:00Z", (start_of_2026 + 82800) * 1000000);
    expect_us("2026-01-31 00:00:00Z", (start_of_2026 + 30 * 86400) * 1000000);
    expect_us("2026-12-31 00:00:00Z", (start_of_2026 + 364 * 86400) * 1000000);
    expect_us("2026-12-31 23:59:59.999999Z", (start_of_2026 + 365 * 86400) * 1000000 - 1);
    expect_us("0001-01-01 00:00:00Z", -62135596800000000);
    expect_us("9999-12-31 23:59:59.999999Z", 253402300799999999);
}

TEST(CoreIso8601, Decimals) {
    std::int64_t unit = 100000;
    std::string text = "2026-01-01 00:00:00.";
    std::int64_t us = start_of_2026 * 1000000;
    for (const char digit : {'9', '1', '8', '2', '7', '3'}) {
        text += digit;
        us += (digit - '0') * unit;
        unit /= 10;
        expect_us(text + "Z", us);
        expect_us(text + "+00", us);
    }
    EXPECT_FALSE(read(text + "0Z")) << "a seventh one";
    EXPECT_FALSE(read("2026-01-01 00:00:00.Z"));
}

// Every day of three centuries, as the C library counts it.
TEST(CoreIso8601, Days) {
    for (std::int64_t day = -40000; day < 70000; day++) {
        const std::time_t t = day * 86400;
        std::tm tm{};
        gmtime_r(&t, &tm);
        char text[64];
        const int n =
            std::snprintf(text, sizeof text, "%04d-%02d-%02d 00:00:00Z", tm.tm_year + 1900, tm.tm_mon + 1, tm.tm_mday);
        const Result<std::int64_t> r = parse(text, static_cast<std::size_t>(n));
        ASSERT_TRUE(r && r.value == day * 86400000000) << text;
    }
}

TEST(CoreIso8601, Refused) {
    for (const char* const text :
         {"", "2026", "2026-01-01", "2026-01-01 00:00:00", "2026-01-01 00:00:00 Z", "2026-01-01 00:00:00Zx",
          "2026-01-01  00:00:00Z", "2026/01-01 00:00:00Z", "2026-01/01 00:00:00Z", "2026-01-01x00:00:00Z",
          "2026-01-01 00.00:00Z", "2026-01-01 00:00.00Z", "2026-01-01 00:00:00,5Z", "2026-01-01 00:00:00*00",
          "2026-01-01 00:00:00+", "2026-01-01 00:00:00+0", "2026-01-01 00:00:00+00:", "2026-01-01 00:00:00+00:0",
          "2026-01-01 00:00:00+000", "2026-01-01 00:00:00+00000", "x026-01-01 00:00:00Z", "202x-01-01 00:00:00Z",
          "2026-0/-01 00:00:00Z", "2026-0:-01 00:00:00Z", "+026-01-01 00:00:00Z",
          // Out of range.
          "0000-01-01 00:00:00Z", "2026-00-01 00:00:00Z", "2026-13-01 00:00:00Z", "2026-01-00 00:00:00Z",
          "2026-01-32 00:00:00Z", "2026-01-01 24:00:00Z", "2026-01-01 00:60:00Z", "2026-01-01 00:00:60Z",
          "2026-01-01 00:00:00+16", "2026-01-01 00:00:00+00:60",
          // Days that a month does not have.
          "2026-02-29 00:00:00Z", "2024-02-30 00:00:00Z", "2100-02-29 00:00:00Z", "2026-04-31 00:00:00Z",
          "2026-11-31 00:00:00Z"}) {
        EXPECT_FALSE(read(text)) << text;
        EXPECT_EQ(read(text).error, Error::bad_character) << text;
    }
    EXPECT_TRUE(read("2024-02-29 00:00:00Z") && read("2000-02-29 00:00:00Z") && read("2026-12-31 00:00:00Z"));
}

// Only `length` bytes are looked at.
TEST(CoreIso8601, EndsWhereItIsSaidToEnd) {
    const std::string_view text = "2026-01-01 00:00:00.5+00:00";
    for (std::size_t n = 0; n <= text.size(); n++) {
        const bool whole = n == text.size() || n == text.size() - 3;
        EXPECT_EQ(static_cast<bool>(parse(text.data(), n)), whole) << text.substr(0, n);
    }
}

}  // namespace
}  // namespace snowflake_ids::iso8601
