// sno: golden values, refused inputs, bounds and round trips.
#include "core/sno.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <random>
#include <string>

#include "support/id_operators.hpp"
#include "support/json.hpp"
#include "support/text.hpp"
#include "support/times.hpp"
#include "support/tsv.hpp"

namespace snowflake_ids::sno {
namespace {

using namespace snowflake_ids::test;

constexpr char alphabet[] = "23456789abcdefghijklmnopqrstuvwx";

std::string print(const Id& id) {
    char text[text_size];
    sno::print(id, text);
    return std::string(text, sizeof text);
}

Result<Id> parse(const std::string& text) { return sno::parse(text.data(), text.size()); }

std::string hex(const Id& id) { return to_hex(id.bytes, binary_size); }

// Five bits at a time: shares nothing with the word arithmetic.
std::string plain_text(const Id& id) {
    std::string text;
    for (unsigned bit = 0; bit < 80; bit += 5) {
        unsigned v = 0;
        for (unsigned i = bit; i < bit + 5; i++) v = v << 1 | (id.bytes[i / 8] >> (7 - i % 8) & 1);
        text += alphabet[v];
    }
    return text;
}

Id random_id(std::mt19937_64& random) {
    Id id;
    for (unsigned char& byte : id.bytes) byte = static_cast<unsigned char>(random());
    return id;
}

constexpr Id zero{};
constexpr Id all_ones = compose({timeline.max_tick(), 1, 255, 65535, 65535});
static_assert(lower_bound(UnixTime::min()).value == zero && upper_bound(UnixTime::max()).value == all_ones);
static_assert(lower_bound(UnixTime::max()).error == Error::time_after_end);
static_assert(upper_bound(UnixTime::min()).error == Error::time_before_epoch);
static_assert(timeline.end() == unix_us(3461327255551999) && time_of(all_ones) == unix_us(3461327255548000));
static_assert(sno::parse("brpk4q72xwf2m63l", 16).value == compose({168435953744, 0, 255, 39434, 4147}));
static_assert(sno::parse("brpk4q72xwf2m63L", 16).error == Error::bad_character);

TEST(CoreSno, GoldenValues) {
    const Table table("sno.tsv");
    std::size_t rows = 0;
    for (const Row& row : table) {
        SCOPED_TRACE(row.where());
        const std::vector<unsigned char> bytes = from_hex(row["bin_hex"]);
        const Result<Id> id = from_bytes(bytes.data(), bytes.size());
        ASSERT_TRUE(id);
        const std::string& text = row["text"];
        EXPECT_EQ(print(id.value), text);
        EXPECT_EQ(plain_text(id.value), text);
        const Result<Id> parsed = parse(text);
        ASSERT_TRUE(parsed);
        EXPECT_EQ(hex(parsed.value), row["bin_hex"]);

        const Fields f = split(id.value);
        EXPECT_EQ(f.units, row.u64("units"));
        EXPECT_EQ(f.ticktock, row.u64("ticktock"));
        EXPECT_EQ(f.metabyte, row.u64("metabyte"));
        EXPECT_EQ(f.partition, row.u64("partition"));
        EXPECT_EQ(f.sequence, row.u64("sequence"));
        const Fields given{row.u64("units"), row.u32("ticktock"), row.u32("metabyte"), row.u32("partition"),
                           row.u32("sequence")};
        EXPECT_EQ(hex(compose(given)), row["bin_hex"]);

        const UnixTime at = unix_ms(row.i64("unix_ms"));
        EXPECT_EQ(time_of(id.value), at);
        EXPECT_EQ(to_iso(number_of(time_of(id.value)) / 1000), row["iso_utc"]);
        for (const UnixTime inside : {at, at + 1us, at + 3999us}) {
            EXPECT_EQ(timeline.floor_tick(inside).error, Error::none);
            EXPECT_EQ(timeline.floor_tick(inside).value, f.units);
        }
        EXPECT_EQ(hex(lower_bound(at).value), hex(compose({.units = f.units})));
        EXPECT_EQ(hex(upper_bound(at + 3999us).value), hex(compose({f.units, 1, 255, 65535, 65535})));
        EXPECT_LE(compare(lower_bound(at).value, id.value), 0);
        EXPECT_GE(compare(upper_bound(at).value, id.value), 0);

        EXPECT_EQ(row["json"], id.value == zero ? "null" : "\"" + text + "\"");
        EXPECT_EQ(row["text_as_uuid"], to_uuid(reinterpret_cast<const unsigned char*>(text.data())));
        rows++;
    }
    expect_count("sno.tsv", rows, 535);
}

// The reference's JSON and database/sql readers are our two: text and bytes.
TEST(CoreSno, RefusedInputs) {
    const Table table("sno_invalid.tsv");
    std::size_t rows = 0, not_applicable = 0;
    for (const Row& row : table) {
        SCOPED_TRACE(row.where());
        EXPECT_EQ(row["expect"], "reject");
        rows++;
        const std::string& kind = row["kind"];
        std::string input = string_from_hex(row["input_hex"]);
        if (kind == "binary" || kind == "scan_bytes") {
            const Result<Id> id = from_bytes(reinterpret_cast<const unsigned char*>(input.data()), input.size());
            EXPECT_EQ(id.error, Error::bad_length);
            continue;
        }
        if (kind == "json") {
            if (row["why"] == "no_quotes") {
                not_applicable++;
                continue;
            }
            input = json_string_body(input).value_or(input);
        } else {
            EXPECT_TRUE(kind == "text" || kind == "scan_string");
        }
        EXPECT_EQ(parse(input).error, input.size() == text_size ? Error::bad_character : Error::bad_length);
    }
    expect_count("sno_invalid.tsv", rows, 172);
    expect_count("sno_invalid.tsv not applicable", not_applicable, 1);
}

TEST(CoreSno, BoundsAgreeWithThePlainDefinition) {
    const PlainTimeline plain(timeline);
    for (const UnixTime at : interesting_times(timeline)) {
        SCOPED_TRACE(number_of(at));
        const Result<Id> lower = lower_bound(at);
        if (const auto tick = plain.at_or_after(at)) {
            ASSERT_TRUE(lower);
            ASSERT_EQ(hex(lower.value), hex(compose({.units = *tick})));
            ASSERT_GE(time_of(lower.value), at);
        } else {
            ASSERT_EQ(lower.error, Error::time_after_end);
        }
        const Result<Id> upper = upper_bound(at);
        if (const auto tick = plain.at_or_before(at)) {
            ASSERT_TRUE(upper);
            ASSERT_EQ(hex(upper.value), hex(compose({*tick, 1, 255, 65535, 65535})));
            ASSERT_LE(time_of(upper.value), at);
        } else {
            ASSERT_EQ(upper.error, Error::time_before_epoch);
        }
        const Result<std::uint64_t> floor = timeline.floor_tick(at);
        ASSERT_EQ(floor ? std::optional(floor.value) : std::nullopt, plain.floor(at));
        if (!floor) {
            ASSERT_EQ(floor.error, at < timeline.epoch ? Error::time_before_epoch : Error::time_after_end);
        }
    }
}

// Exactly the 32 letters are taken.
TEST(CoreSno, SingleCharacterCorruptions) {
    for (const std::string& good : {std::string("brpk4q72xwf2m63l"), std::string(16, '2'), std::string(16, 'x')}) {
        const Id original = parse(good).value;
        for (std::size_t at = 0; at < text_size; at++) {
            for (int byte = 0; byte < 256; byte++) {
                std::string text = good;
                text[at] = static_cast<char>(byte);
                const Result<Id> id = parse(text);
                const bool legal = byte != 0 && std::strchr(alphabet, byte) != nullptr;
                ASSERT_EQ(id.error, legal ? Error::none : Error::bad_character) << good << " " << at << " " << byte;
                if (!legal) continue;
                ASSERT_EQ(print(id.value), text);
                ASSERT_EQ(id.value == original, text == good);
            }
        }
    }
}

TEST(CoreSno, OnlySixteenCharactersAndTenBytes) {
    const std::string text(64, 'b');
    const unsigned char bytes[64] = {};
    for (std::size_t n = 0; n <= 64; n++) {
        EXPECT_EQ(sno::parse(text.data(), n).error, n == 16 ? Error::none : Error::bad_length);
        EXPECT_EQ(from_bytes(bytes, n).error, n == 10 ? Error::none : Error::bad_length);
    }
}

TEST(CoreSno, RandomRoundTripsAndOrder) {
    std::mt19937_64 random(1);
    Id last = zero;
    std::string last_text = print(last);
    for (int i = 0; i < 1000000; i++) {
        Id id = random_id(random);
        if (i % 2) std::memcpy(id.bytes, last.bytes, static_cast<std::size_t>(random() % 10));
        const std::string text = print(id);
        const Result<Id> parsed = parse(text);
        ASSERT_TRUE(parsed);
        ASSERT_EQ(std::memcmp(parsed.value.bytes, id.bytes, binary_size), 0) << hex(id);
        ASSERT_EQ(std::memcmp(compose(split(id)).bytes, id.bytes, binary_size), 0) << hex(id);
        if (i % 16 == 0) {
            ASSERT_EQ(text, plain_text(id));
        }
        ASSERT_EQ(sign(compare(last, id)), sign(std::memcmp(last.bytes, id.bytes, binary_size))) << hex(id);
        ASSERT_EQ(sign(compare(last, id)), sign(last_text.compare(text))) << hex(id);
        ASSERT_EQ(last < id, compare(last, id) < 0);
        ASSERT_EQ(last == id, compare(last, id) == 0);
        last = id;
        last_text = text;
    }
}

// The document says four; its reference refuses four and five.
TEST(CoreSno, FewestNumbers) {
    for (std::uint32_t numbers = 2; numbers <= 5; numbers++) {
        EXPECT_EQ(sno::check_bounds(100, 100 + numbers - 1).error, Error::bounds_too_close) << numbers;
        EXPECT_EQ(sno::check_bounds(100 + numbers - 1, 100).error, Error::bounds_too_close) << numbers;
    }
    const auto six = sno::check_bounds(105, 100);
    ASSERT_TRUE(six);
    EXPECT_EQ(six.value.min, 100u);
    EXPECT_EQ(six.value.max, 105u);
}

TEST(CoreSno, NumbersOfGivenTimesGoRound) {
    constexpr sno::Bounds bounds{10, 20};
    for (const auto& [next, sequence, after] : {std::array<std::uint32_t, 3>{10, 10, 11},
                                                {15, 15, 16},
                                                {19, 19, 20},
                                                {20, 20, 10},
                                                {21, 10, 11},
                                                {9, 10, 11},
                                                {0, 10, 11},
                                                {65535, 10, 11}}) {
        std::uint32_t n = next;
        EXPECT_EQ(sno::next_at_given_time(n, bounds), sequence) << next;
        EXPECT_EQ(n, after) << next;
    }
    static_assert(sno::Bounds{}.min == 0 && sno::Bounds{}.max == 65535);
}

}  // namespace
}  // namespace snowflake_ids::sno
