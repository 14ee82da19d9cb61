// Mastic: golden values, refused texts, bounds and round trips.
#include "core/mastic.hpp"

#include <random>
#include <string>

#include "support/text.hpp"
#include "support/times.hpp"
#include "support/tsv.hpp"

namespace snowflake_ids::mastic {
namespace {

using namespace snowflake_ids::test;

std::string print(std::uint64_t id) { return std::to_string(id); }

Result<std::uint64_t> parse(const std::string& text) { return mastic::parse(text.data(), text.size()); }

static_assert(layout.bits() == 64 && layout.max_id() == UINT64_MAX && layout.max_node() == 0);
static_assert(layout.max_sequence() == 65535 && layout.timeline.end() == unix_us(283242202310655999));
static_assert(layout.lower_bound(UnixTime::min()).value == 0 &&
              layout.upper_bound(UnixTime::max()).value == UINT64_MAX);
static_assert(layout.lower_bound(UnixTime::max()).error == Error::time_after_end);
static_assert(layout.upper_bound(UnixTime::min()).error == Error::time_before_epoch);
static_assert(layout.time_of(UINT64_MAX) == unix_us(283242202310655000));

TEST(CoreMastic, GoldenValues) {
    const Table table("mastic.tsv");
    std::size_t rows = 0;
    for (const Row& row : table) {
        SCOPED_TRACE(row.where());
        const Result<std::uint64_t> parsed = parse(row["id"]);
        ASSERT_TRUE(parsed);
        const std::uint64_t id = parsed.value;
        EXPECT_EQ(print(id), row["id"]);
        EXPECT_EQ(to_hex(id), row["id_hex"]);
        EXPECT_EQ(static_cast<std::int64_t>(id), row.i64("id_as_bigint"));

        const Result<Layout::Fields> f = layout.split(id);
        ASSERT_TRUE(f);
        EXPECT_EQ(f.value.tick, row.u64("ts"));
        EXPECT_EQ(f.value.node, 0u);
        EXPECT_EQ(f.value.sequence, row.u64("sequence"));
        EXPECT_EQ(layout.compose({row.u64("ts"), 0, row.u32("sequence")}), id);

        const UnixTime at = unix_ms(row.i64("unix_ms"));
        EXPECT_EQ(layout.time_of(id), at);
        EXPECT_EQ(to_iso(number_of(layout.time_of(id)) / 1000), row["iso_utc"]);
        for (const UnixTime inside : {at, at + 999us}) {
            const Result<std::uint64_t> tick = layout.timeline.floor_tick(inside);
            EXPECT_EQ(tick.error, Error::none);
            EXPECT_EQ(layout.compose({tick.value, 0, row.u32("sequence")}), id);
        }
        EXPECT_EQ(layout.lower_bound(at).value, id >> 16 << 16);
        EXPECT_EQ(layout.upper_bound(at + 999us).value, id | 0xffff);
        rows++;
    }
    expect_count("mastic.tsv", rows, 338);
}

TEST(CoreMastic, RefusedAndLaxTexts) {
    const Table table("mastic_invalid.tsv");
    std::size_t refused = 0, lax = 0;
    for (const Row& row : table) {
        SCOPED_TRACE(row.where());
        const Result<std::uint64_t> id = parse(string_from_hex(row["input_hex"]));
        if (row["expect"] == "decide") {
            // Rust's reader takes these; printed they are canonical.
            EXPECT_EQ(row["ref"], "accepted");
            ASSERT_TRUE(id);
            EXPECT_EQ(print(id.value), row["detail"]);
            lax++;
            continue;
        }
        EXPECT_EQ(row["ref"], "rejected");
        const std::string& detail = row["detail"];
        const Error error = detail.find("empty") != std::string::npos       ? Error::bad_length
                            : detail.find("too large") != std::string::npos ? Error::id_range
                                                                            : Error::bad_character;
        EXPECT_EQ(static_cast<int>(id.error), static_cast<int>(error)) << detail;
        refused++;
    }
    expect_count("mastic_invalid.tsv refused", refused, 58);
    expect_count("mastic_invalid.tsv lax", lax, 5);
    expect_count("mastic_invalid.tsv", refused + lax, 63);
}

TEST(CoreMastic, BoundsAgreeWithThePlainDefinition) {
    const PlainTimeline plain(layout.timeline);
    for (const UnixTime at : interesting_times(layout.timeline)) {
        SCOPED_TRACE(number_of(at));
        const Result<std::uint64_t> lower = layout.lower_bound(at), upper = layout.upper_bound(at);
        if (const auto tick = plain.at_or_after(at)) {
            ASSERT_TRUE(lower);
            ASSERT_EQ(lower.value, *tick << 16);
            ASSERT_GE(layout.time_of(lower.value), at);
            if (lower.value != 0) {
                ASSERT_LT(layout.time_of(lower.value - 1), at);
            }
        } else {
            ASSERT_EQ(lower.error, Error::time_after_end);
            ASSERT_LT(layout.time_of(layout.max_id()), at);
        }
        if (const auto tick = plain.at_or_before(at)) {
            ASSERT_TRUE(upper);
            ASSERT_EQ(upper.value, *tick << 16 | 0xffff);
            ASSERT_LE(layout.time_of(upper.value), at);
            if (upper.value != layout.max_id()) {
                ASSERT_GT(layout.time_of(upper.value + 1), at);
            }
        } else {
            ASSERT_EQ(upper.error, Error::time_before_epoch);
            ASSERT_GT(layout.time_of(0), at);
        }
        const Result<std::uint64_t> floor = layout.timeline.floor_tick(at);
        ASSERT_EQ(floor ? std::optional(floor.value) : std::nullopt, plain.floor(at));
    }
}

TEST(CoreMastic, EveryByteInAShortText) {
    for (int byte = 0; byte < 256; byte++) {
        const char c = static_cast<char>(byte);
        const bool digit = c >= '0' && c <= '9';
        EXPECT_EQ(static_cast<bool>(parse(std::string{c})), digit) << byte;
        EXPECT_EQ(static_cast<bool>(parse(std::string{'1', c})), digit) << byte;
        EXPECT_EQ(static_cast<bool>(parse(std::string{c, '1'})), digit || c == '+') << byte;
    }
}

TEST(CoreMastic, RandomRoundTrips) {
    std::mt19937_64 random(3);
    for (int i = 0; i < 300000; i++) {
        const std::uint64_t id = random() >> random() % 64;
        const std::string text = print(id);
        ASSERT_EQ(text, std::to_string(id));
        ASSERT_EQ(parse(text).error, Error::none);
        ASSERT_EQ(parse(text).value, id);
        ASSERT_EQ(parse("+00" + text).value, id);
        ASSERT_EQ(layout.compose(layout.split(id).value), id);
        const bool fits = static_cast<unsigned __int128>(id) * 10 + 7 <= UINT64_MAX;
        ASSERT_EQ(parse(text + "7").error, fits ? Error::none : Error::id_range) << text;
    }
}

TEST(CoreMastic, TextOfManyLengths) {
    EXPECT_EQ(mastic::parse("+", 0).error, Error::bad_length) << "of no length";
    for (std::size_t n = 1; n <= 25; n++) {
        const std::string zeros = std::string(n, '0') + "7", plus = "+" + zeros;
        EXPECT_EQ(mastic::parse(zeros.data(), zeros.size()).value, 7u) << n;
        EXPECT_EQ(mastic::parse(plus.data(), plus.size()).value, 7u) << n;
        for (const char bad : {'/', ':', ';', 'x'}) {
            const std::string text = zeros + bad;
            EXPECT_EQ(mastic::parse(text.data(), text.size()).error, Error::bad_character) << text;
        }
    }
}

}  // namespace
}  // namespace snowflake_ids::mastic
