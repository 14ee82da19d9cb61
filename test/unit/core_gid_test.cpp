// Graft GID: golden values, refused inputs, bounds and round trips.
#include "core/gid.hpp"

#include <cstring>
#include <optional>
#include <random>
#include <string>

#include "support/id_operators.hpp"
#include "support/json.hpp"
#include "support/text.hpp"
#include "support/times.hpp"
#include "support/tsv.hpp"

namespace snowflake_ids::gid {
namespace {

using namespace snowflake_ids::test;

using Number = unsigned __int128;

std::string print(const Id& id) {
    char text[text_size];
    gid::print(id, text);
    return std::string(text, sizeof text);
}

std::string print_short(const Id& id) { return print(id).substr(time_digits + 1); }

// As graft's EMPTY.
constexpr Id empty(Kind kind) { return compose({.kind = kind}); }

Result<Id> parse(const std::string& text) { return gid::parse(text.data(), text.size()); }

Result<Id> read(const std::string& bytes) {
    return from_bytes(reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
}

std::string hex(const Id& id) { return to_hex(id.bytes, binary_size); }

// One big number, digit by digit.
std::string plain_base58(Number v, int digits) {
    std::string text(static_cast<std::size_t>(digits), '1');
    for (int i = digits; i-- > 0; v /= 58) text[static_cast<std::size_t>(i)] = base58::alphabet[v % 58];
    return text;
}

std::string plain_text(const Id& id) {
    Number time = 0, rest = 0;
    for (int i = 0; i < 7; i++) time = time << 8 | id.bytes[i];
    for (int i = 7; i < 16; i++) rest = rest << 8 | id.bytes[i];
    return plain_base58(time, 10) + "-" + plain_base58(rest, 13);
}

std::optional<Number> plain_number(const std::string& digits) {
    Number v = 0;
    for (const char c : digits) {
        const char* found = c == 0 ? nullptr : std::strchr(base58::alphabet, c);
        if (found == nullptr) return std::nullopt;
        v = v * 58 + static_cast<unsigned>(found - base58::alphabet);
    }
    return v;
}

bool plain_accepts(const std::string& text) {
    if (text.size() != 24 || text[10] != '-') return false;
    const auto time = plain_number(text.substr(0, 10)), rest = plain_number(text.substr(11));
    if (!time || !rest) return false;
    Number least = 1;
    for (int i = 0; i < 12; i++) least *= 58;
    if (*time >> 56 != 0 || *rest >> 72 != 0 || *rest < least) return false;
    const unsigned prefix = static_cast<unsigned>(*time >> 48);
    return prefix == 0x80 || prefix == 0xa0 || prefix == 0xc0;
}

Kind kind_named(const std::string& name) {
    for (int k = 0; k < kind_count; k++)
        if (name == kind_names[k]) return static_cast<Kind>(k);
    throw std::runtime_error("no kind " + name);
}

static_assert(lower_bound(Kind::log, UnixTime::max()).error == Error::time_after_end);
static_assert(upper_bound(Kind::log, UnixTime::min()).error == Error::time_before_epoch);
static_assert(timeline.end() == unix_us(281474976710655999));
static_assert(check(empty(Kind::segment)).error == Error::none);
static_assert(gid::parse("74ftFmBdYT-2dVseX433Zwhy", 24).value == empty(Kind::log));
static_assert(gid::parse("zzzzzzzzzz-zzzzzzzzzzzzz", 24).error == Error::bad_magnitude);

void check_row(const Row& row) {
    SCOPED_TRACE(row.where());
    const Result<Id> id = read(string_from_hex(row["bin_hex"]));
    ASSERT_TRUE(id);
    EXPECT_EQ(check(id.value).error, Error::none);
    const std::string& text = row["text"];
    EXPECT_EQ(print(id.value), text);
    EXPECT_EQ(plain_text(id.value), text);
    EXPECT_EQ(print_short(id.value), row["short"]);
    const Result<Id> parsed = parse(text);
    ASSERT_TRUE(parsed);
    EXPECT_EQ(hex(parsed.value), row["bin_hex"]);

    const Kind k = kind_named(row["type"]);
    const UnixTime at = unix_ms(row.i64("unix_ms"));
    const Fields f = split(id.value);
    EXPECT_EQ(f.kind, k);
    EXPECT_EQ(gid::kind(id.value), k);
    EXPECT_EQ(kind_of_prefix(id.value.bytes[0]).value, k);
    const unsigned char first = prefix(k);
    EXPECT_EQ(to_hex(&first, 1), row["prefix_hex"]);
    EXPECT_EQ(f.ms, row.u64("unix_ms"));
    EXPECT_EQ(time_of(id.value), at);
    EXPECT_EQ(to_iso(number_of(time_of(id.value)) / 1000), row["iso_utc"]);
    EXPECT_EQ(to_hex(&f.byte7, 1), row["byte7_hex"]);
    EXPECT_EQ(f.byte7 == first ? "dup" : f.byte7 & 0x80 ? "msb" : "low", row["byte7_class"]);
    EXPECT_EQ(to_hex(id.value.bytes + 7, 9), row["random9_hex"]);
    EXPECT_EQ(to_hex(f.random), row["random8_hex"]);
    EXPECT_EQ(hex(compose(f)), row["bin_hex"]);
    EXPECT_EQ(make(k, f.ms, f.random) == id.value, row["byte7_class"] == "dup");
    EXPECT_EQ(row["case"] == "empty", id.value == empty(k));

    EXPECT_EQ(to_uuid(id.value.bytes), row["uuid"]);
    EXPECT_EQ("\"" + text + "\"", row["json"]);
    EXPECT_EQ(timeline.floor_tick(at + 999us).value, f.ms);
    EXPECT_LE(compare(lower_bound(k, at).value, id.value), 0);
    EXPECT_GE(compare(upper_bound(k, at).value, id.value), 0);
    EXPECT_EQ(time_of(lower_bound(k, at).value), at);
    EXPECT_EQ(time_of(upper_bound(k, at).value), at);
}

TEST(CoreGid, GoldenValues) {
    const Table table("gid.tsv");
    for (const Row& row : table) {
        check_row(row);
        EXPECT_NE(row["byte7_class"], "low") << row.where();
    }
    expect_count("gid.tsv", table.rows().size(), 555);
}

TEST(CoreGid, LenientValues) {
    const Table table("gid_lenient.tsv");
    for (const Row& row : table) {
        check_row(row);
        EXPECT_EQ(row["byte7_class"], "low") << row.where();
    }
    expect_count("gid_lenient.tsv", table.rows().size(), 48);
}

Error expected_error(const Row& row) {
    const std::string &said = row["ref_volume"], &why = row["why"];
    // The reference takes the bytes and then fails to print them.
    if (why.find("_unprintable") != std::string::npos) return Error::bad_magnitude;
    // Leading ones are small numbers: the prefix byte is 0, or there is a byte too many.
    if (why == "time_leading_1" || why == "time_all_1") return Error::bad_kind;
    const auto says = [&](const char* what) { return said.find(what) != std::string::npos; };
    if (says("InvalidLength")) return Error::bad_length;
    if (says("InvalidGidLayout")) return Error::bad_separator;
    if (says("InvalidCharacter") || says("NonAsciiCharacter") || says("not UTF-8")) return Error::bad_character;
    if (says("BufferTooSmall")) return Error::bad_magnitude;
    if (says("Corrupt")) return Error::bad_kind;
    throw std::runtime_error("unknown reason: " + said);
}

TEST(CoreGid, RefusedInputs) {
    const Table table("gid_invalid.tsv");
    std::size_t rows = 0, one_kind = 0, not_applicable = 0;
    for (const Row& row : table) {
        SCOPED_TRACE(row.where());
        rows++;
        std::string input = string_from_hex(row["input_hex"]);
        const std::string& kind = row["kind"];
        if (kind == "json") {
            if (row["why"] == "no_quotes") {
                not_applicable++;
                continue;
            }
            EXPECT_FALSE(parse(json_string_body(input).value_or(input)));
            continue;
        }
        ASSERT_TRUE(kind == "text" || kind == "binary");
        const Result<Id> id = kind == "text" ? parse(input) : read(input);
        if (row["expect"] != "reject") {
            ASSERT_EQ(row["expect"].rfind("reject_as:", 0), 0u);
            ASSERT_TRUE(id);
            for (const std::string_view known : kind_names) {
                const std::string name(known);
                const bool refused = row["expect"].find(name) != std::string::npos;
                EXPECT_EQ(kind_named(name) == gid::kind(id.value), !refused) << name;
                EXPECT_EQ(row[("ref_" + name).c_str()].rfind("OK ", 0) == 0, !refused) << name;
            }
            one_kind++;
            continue;
        }
        EXPECT_EQ(static_cast<int>(id.error), static_cast<int>(expected_error(row))) << row["ref_volume"];
    }
    expect_count("gid_invalid.tsv", rows, 432);
    expect_count("gid_invalid.tsv one kind only", one_kind, 6);
    expect_count("gid_invalid.tsv not applicable", not_applicable, 1);
}

TEST(CoreGid, BoundsAgreeWithThePlainDefinition) {
    const PlainTimeline plain(timeline);
    for (int k = 0; k < kind_count; k++) {
        const Kind kind = static_cast<Kind>(k);
        for (const UnixTime at : interesting_times(timeline)) {
            SCOPED_TRACE(number_of(at));
            const Result<Id> lower = lower_bound(kind, at);
            if (const auto tick = plain.at_or_after(at)) {
                ASSERT_TRUE(lower);
                ASSERT_EQ(split(lower.value).ms, *tick);
                Fields below = split(lower.value);
                ASSERT_EQ(check(lower.value).error, Error::none);
                ASSERT_EQ(print_short(lower.value), "2111111111111");
                below.random--;
                ASSERT_EQ(check(compose(below)).error, Error::bad_magnitude);
            } else {
                ASSERT_EQ(lower.error, Error::time_after_end);
            }
            const Result<Id> upper = upper_bound(kind, at);
            if (const auto tick = plain.at_or_before(at)) {
                ASSERT_TRUE(upper);
                ASSERT_EQ(hex(upper.value), hex(compose({kind, *tick, 0xff, UINT64_MAX})));
                ASSERT_LE(time_of(upper.value), at);
            } else {
                ASSERT_EQ(upper.error, Error::time_before_epoch);
            }
            const Result<std::uint64_t> floor = timeline.floor_tick(at);
            ASSERT_EQ(floor ? std::optional(floor.value) : std::nullopt, plain.floor(at));
        }
    }
}

TEST(CoreGid, SingleCharacterCorruptions) {
    std::size_t accepted = 0;
    for (const char* good : {"5rMJNeFjYs-2eDkDiPiLuBbS", "74ftFmBdYT-2dVseX433Zwhy", "8KCjybSsc2-4FzkJ37568tQv",
                             "5rLWQQkJdm-2111111111111", "76sN8F1YhL-3386Ju4o4DBPD"}) {
        ASSERT_TRUE(parse(good)) << good;
        for (std::size_t at = 0; at < text_size; at++) {
            for (int byte = 0; byte < 256; byte++) {
                std::string text = good;
                text[at] = static_cast<char>(byte);
                const Result<Id> id = parse(text);
                ASSERT_EQ(static_cast<bool>(id), plain_accepts(text)) << text << " " << at << " " << byte;
                if (!id) continue;
                ASSERT_EQ(print(id.value), text);
                ASSERT_EQ(id.value == parse(good).value, text == good);
                accepted++;
            }
        }
    }
    EXPECT_GT(accepted, 2000u);
}

// A reader that drops bits above 2^56 or 2^72 would take these blocks.
TEST(CoreGid, NumbersTooLargeForTheirBytes) {
    const std::string good = print(make(Kind::log, 1750000000000, 0x0123456789abcdef));
    const std::string time = good.substr(0, 10), rest = good.substr(11);
    const Number time_number = *plain_number(time), rest_number = *plain_number(rest);
    ASSERT_TRUE(parse(plain_base58(time_number, 10) + "-" + plain_base58(rest_number, 13)));
    for (unsigned k = 1; k <= 5; k++) {
        const std::string large = plain_base58(time_number + (Number{k} << 56), 10);
        EXPECT_EQ(parse(large + "-" + rest).error, Error::bad_magnitude) << k;
    }
    for (unsigned k = 1; k <= 16; k++) {
        const std::string large = plain_base58(rest_number + (Number{k} << 72), 13);
        EXPECT_EQ(parse(time + "-" + large).error, Error::bad_magnitude) << k;
    }
    const Number edge = Number{1} << 72;
    EXPECT_TRUE(parse(time + "-" + plain_base58(edge - 1, 13)));
    EXPECT_EQ(parse(time + "-" + plain_base58(edge, 13)).error, Error::bad_magnitude);
}

TEST(CoreGid, OnlyTwentyFourCharactersAndSixteenBytes) {
    const std::string text = "74ftFmBdYT-2dVseX433Zwhy2dVseX433Zwhy2dVseX433Zwhy";
    unsigned char bytes[64] = {};
    std::memcpy(bytes, empty(Kind::log).bytes, binary_size);
    for (std::size_t n = 0; n <= text.size(); n++) {
        EXPECT_EQ(gid::parse(text.data(), n).error, n == 24 ? Error::none : Error::bad_length);
        EXPECT_EQ(from_bytes(bytes, n).error, n == 16 ? Error::none : Error::bad_length);
    }
}

TEST(CoreGid, RandomRoundTripsAndOrder) {
    std::mt19937_64 random(2);
    Id last = empty(Kind::volume);
    std::string last_text = print(last);
    for (int i = 0; i < 300000; i++) {
        const Kind k = static_cast<Kind>(random() % 3);
        const std::uint64_t ms = random() >> 16 >> random() % 48;
        const unsigned char byte7 = i % 3 == 0 ? prefix(k) : static_cast<unsigned char>(random() | 0x80);
        Id id = compose({k, ms, byte7, random() >> random() % 64});
        // Half share a beginning with the last one, or byte 0 would decide the order.
        if (i % 2) std::memcpy(id.bytes, last.bytes, static_cast<std::size_t>(random() % 16));
        const std::string text = print(id);
        const Result<Id> parsed = parse(text), reread = from_bytes(id.bytes, binary_size);
        ASSERT_TRUE(parsed) << hex(id);
        ASSERT_TRUE(reread) << hex(id);
        ASSERT_EQ(std::memcmp(parsed.value.bytes, id.bytes, binary_size), 0) << hex(id);
        ASSERT_EQ(std::memcmp(compose(split(id)).bytes, id.bytes, binary_size), 0) << hex(id);
        if (i % 8 == 0) {
            ASSERT_EQ(text, plain_text(id));
        }
        ASSERT_EQ(sign(compare(last, id)), sign(std::memcmp(last.bytes, id.bytes, binary_size))) << hex(id);
        ASSERT_EQ(sign(compare(last, id)), sign(last_text.compare(text))) << hex(id);
        last = id;
        last_text = text;
    }
}

}  // namespace
}  // namespace snowflake_ids::gid
