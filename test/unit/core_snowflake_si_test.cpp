// Snowflake-SI: the golden values, the refused options and numbers, bounds and round trips.
#include "core/snowflake_si.hpp"

#include <random>
#include <string>

#include "core/mastic.hpp"
#include "support/json.hpp"
#include "support/text.hpp"
#include "support/times.hpp"
#include "support/tsv.hpp"

namespace snowflake_ids::snowflake_si {
namespace {

using namespace snowflake_ids::test;

constexpr std::int64_t unchecked = 1700000000000000;  // a base clock that is always fine

static_assert(layout(INT64_MIN, 5).error == Error::bad_base_clock);
static_assert(layout(INT64_MAX, 5).error == Error::bad_base_clock);
static_assert(layout(unchecked, INT64_MIN).error == Error::bad_width);
static_assert(layout(unchecked, INT64_MAX).error == Error::bad_width);
static_assert(default_layout.lower_bound(INT64_MAX).error == Error::time_after_end);
static_assert(default_layout.upper_bound(INT64_MIN).error == Error::time_before_epoch);
static_assert(default_layout.upper_bound(INT64_MAX).value == 9007199254740991);

// A Snowflake-SI is printed as a plain number, as a Mastic id is.
std::string print(std::uint64_t id) { return std::to_string(id); }

TEST(CoreSnowflakeSi, GoldenValues) {
    const Table table("snowflake_si.tsv");
    std::size_t rows = 0;
    for (const Row& row : table) {
        SCOPED_TRACE(row.where());
        const Result<Layout> l =
            layout(row.i64("base_clock_ms") * 1000, row.i64("mid_bits"), static_cast<unsigned>(row.u64("clock_bits")));
        ASSERT_TRUE(l);
        EXPECT_EQ(l.value.timeline.bits, row.u64("clock_bits"));
        EXPECT_EQ(l.value.node_bits, row.u64("mid_bits"));
        EXPECT_EQ(l.value.sequence_bits, row.u64("uin_bits"));
        EXPECT_EQ(l.value.bits(), 53u);

        const std::uint64_t id = row.u64("id");
        EXPECT_EQ(print(id), row["id"]);
        EXPECT_EQ(mastic::parse(row["id"].data(), row["id"].size()).value, id);
        EXPECT_EQ(to_hex(id), row["id_hex"]);
        const Result<Layout::Fields> f = l.value.split(id);
        ASSERT_TRUE(f);
        EXPECT_EQ(f.value.tick, row.u64("mab"));
        EXPECT_EQ(f.value.node, row.u64("mid"));
        EXPECT_EQ(f.value.sequence, row.u64("uin"));
        EXPECT_EQ(l.value.compose({row.u64("mab"), row.u32("mid"), row.u32("uin")}), id);

        const std::int64_t us = row.i64("unix_ms") * 1000;
        EXPECT_EQ(l.value.time_us(id), us);
        EXPECT_EQ(to_iso(l.value.time_us(id) / 1000), row["iso_utc"]);
        for (const std::int64_t inside : {us, us + 999}) {
            const Result<std::uint64_t> made = l.value.make(inside, row.i64("mid"), row.i64("uin"));
            EXPECT_EQ(made.error, Error::none);
            EXPECT_EQ(made.value, id);
        }
        const unsigned below = l.value.node_bits + l.value.sequence_bits;
        EXPECT_EQ(l.value.lower_bound(us).value, id >> below << below);
        EXPECT_EQ(l.value.upper_bound(us + 999).value, id | ((std::uint64_t{1} << below) - 1));
        rows++;
    }
    expect_count("snowflake_si.tsv", rows, 513);
}

// What became of one row of snowflake_si_invalid.tsv.
enum class Fate {
    refused,
    not_an_integer,  // NaN, Infinity, fractions, a missing base clock: the core's arguments are integers
    not_a_setting,   // sequenceResetThreshold: only replayed traces have it
    allowed,         // no machine bits: v2 refuses what the document and v1 allow, and so do we
};

bool all_integers(const JsonObject& options) {
    for (const auto& [name, value] : options.members)
        if (!is_integer(value.at(0))) return false;
    return true;
}

Fate try_create_v1(const JsonObject& o) {
    if (!o.has("baseClock")) return Fate::not_an_integer;
    const std::int64_t sequence_bits = o.i64("uinBitWidth", 8), machine = o.i64("machineId", 0);
    const Result<Layout> l = layout(o.i64("baseClock") * 1000, 13 - sequence_bits);
    if (l && l.value.make(l.value.timeline.epoch_us, machine, 0)) return Fate::allowed;
    return Fate::refused;
}

Fate try_create_v2(const JsonObject& o) {
    if (o.has("sequenceResetThreshold")) return Fate::not_a_setting;
    const std::int64_t clock_bits = o.i64("clockBitWidth", 40);
    const Result<Layout> l =
        layout(o.i64("epoch") * 1000, o.i64("machineIdBitWidth", 5), static_cast<unsigned>(clock_bits));
    if (!l) return Fate::refused;
    // The width of the sequence is not an argument here: it is the rest, so another one cannot be had.
    if (o.has("sequenceBitWidth") && o.i64("sequenceBitWidth") != l.value.sequence_bits) return Fate::refused;
    return l.value.make(l.value.timeline.epoch_us, o.i64("machineId"), 0) ? Fate::allowed : Fate::refused;
}

Fate try_generate_by(const JsonObject& o) {
    const Result<Layout> l = layout(o.i64("epoch") * 1000, 5, static_cast<unsigned>(o.i64("clockBitWidth", 40)));
    EXPECT_TRUE(l);
    const Result<std::uint64_t> id = l.value.make(o.i64("timestamp") * 1000, o.i64("machineId"), o.i64("sequence"));
    return id ? Fate::allowed : Fate::refused;
}

Fate try_id(const std::string& decimal) {
    const std::uint64_t id = decimal[0] == '-' ? static_cast<std::uint64_t>(to_i64(decimal)) : to_u64(decimal);
    EXPECT_EQ(default_layout.split(id).error, Error::id_range);
    return default_layout.split(id) ? Fate::allowed : Fate::refused;
}

TEST(CoreSnowflakeSi, RefusedOptionsAndNumbers) {
    const Table table("snowflake_si_invalid.tsv");
    std::size_t fates[4] = {};
    for (const Row& row : table) {
        SCOPED_TRACE(row.where() + " " + row["args_json"]);
        EXPECT_EQ(row["expect"], "reject");
        const std::string& kind = row["kind"];
        Fate fate;
        if (kind == "id_range") {
            fate = try_id(json_string_body(row["args_json"]).value());
        } else {
            const JsonObject options = parse_json_object(row["args_json"]);
            fate = !all_integers(options) ? Fate::not_an_integer
                   : kind == "create_v1"  ? try_create_v1(options)
                   : kind == "create_v2"  ? try_create_v2(options)
                                          : try_generate_by(options);
        }
        if (fate == Fate::allowed) {
            EXPECT_EQ(parse_json_object(row["args_json"]).i64("machineIdBitWidth", 5), 0);
        }
        fates[static_cast<int>(fate)]++;
    }
    expect_count("snowflake_si_invalid.tsv", table.rows().size(), 98);
    expect_count("snowflake_si_invalid.tsv refused", fates[0], 76);
    expect_count("snowflake_si_invalid.tsv not an integer", fates[1], 18);
    expect_count("snowflake_si_invalid.tsv not a setting", fates[2], 2);
    expect_count("snowflake_si_invalid.tsv allowed without machine bits", fates[3], 2);
}

TEST(CoreSnowflakeSi, WidthsAndBaseClock) {
    for (const unsigned clock_bits : {40u, 41u}) {
        for (int machine_bits = -2; machine_bits <= 14; machine_bits++) {
            const Result<Layout> l = layout(unchecked, machine_bits, clock_bits);
            const int rest = 53 - static_cast<int>(clock_bits);
            EXPECT_EQ(l.error, machine_bits >= 0 && machine_bits < rest ? Error::none : Error::bad_width);
            if (!l) continue;
            EXPECT_EQ(l.value.max_node() + 1, 1u << machine_bits);
            EXPECT_EQ(l.value.max_sequence() + 1, 1u << (rest - machine_bits));
            EXPECT_EQ(l.value.max_id(), 9007199254740991u);
        }
    }
    for (const unsigned clock_bits : {0u, 1u, 39u, 42u, 53u, 64u, 4294967295u})
        EXPECT_EQ(layout(unchecked, 5, clock_bits).error, Error::bad_width);
    EXPECT_EQ(layout(min_base_clock_us, 5).error, Error::none);
    EXPECT_EQ(layout(min_base_clock_us - 1000, 5).error, Error::bad_base_clock);
    EXPECT_EQ(layout(min_base_clock_us + 1, 5).error, Error::bad_base_clock);  // not a whole millisecond
    EXPECT_EQ(layout(0, 5, 41).error, Error::none);
    EXPECT_EQ(layout(-1000, 5, 41).error, Error::bad_base_clock);
    EXPECT_EQ(layout(253402300799999000, 5, 41).error, Error::none);
    EXPECT_EQ(layout(253402300800000000, 5, 41).error, Error::bad_base_clock);
    // The earliest base clock is the one whose last millisecond is 2038-01-19T03:14:07Z.
    EXPECT_EQ(to_iso(layout(min_base_clock_us, 5).value.time_us(9007199254740991) / 1000), "2038-01-19T03:14:07.000Z");
}

TEST(CoreSnowflakeSi, BoundsAgreeWithThePlainDefinition) {
    for (const Layout& l : {default_layout, layout(min_base_clock_us, 0).value, layout(0, 11, 41).value,
                            layout(253402300799999000, 12).value}) {
        const PlainTimeline plain(l.timeline);
        const unsigned below = l.node_bits + l.sequence_bits;
        for (const std::int64_t us : interesting_times(l.timeline)) {
            SCOPED_TRACE(us);
            const Result<std::uint64_t> lower = l.lower_bound(us), upper = l.upper_bound(us);
            if (const auto tick = plain.at_or_after(us)) {
                ASSERT_TRUE(lower);
                ASSERT_EQ(lower.value, *tick << below);
                if (lower.value != 0) {
                    ASSERT_LT(l.time_us(lower.value - 1), us);
                }
            } else {
                ASSERT_EQ(lower.error, Error::time_after_end);
            }
            if (const auto tick = plain.at_or_before(us)) {
                ASSERT_TRUE(upper);
                ASSERT_EQ(upper.value >> below, *tick);
                if (upper.value != l.max_id()) {
                    ASSERT_GT(l.time_us(upper.value + 1), us);
                }
            } else {
                ASSERT_EQ(upper.error, Error::time_before_epoch);
            }
            const Result<std::uint64_t> floor = l.timeline.floor_tick(us);
            ASSERT_EQ(floor ? std::optional(floor.value) : std::nullopt, plain.floor(us));
            ASSERT_EQ(l.make(us, 0, 0).error, floor.error);
        }
    }
}

TEST(CoreSnowflakeSi, RandomRoundTrips) {
    std::mt19937_64 random(4);
    for (int i = 0; i < 300000; i++) {
        const unsigned clock_bits = i % 2 ? 40 : 41;
        const Layout l = layout(unchecked, static_cast<std::int64_t>(random() % (53 - clock_bits)), clock_bits).value;
        const std::uint64_t id = random() >> 11 >> random() % 53;
        const Layout::Fields f = l.split(id).value;
        ASSERT_EQ(l.compose(f), id);
        const std::int64_t us = l.time_us(id) + static_cast<std::int64_t>(random() % 1000);
        ASSERT_EQ(l.make(us, f.node, f.sequence).value, id);
        ASSERT_EQ(l.make(us, std::int64_t{l.max_node()} + 1, 0).error, Error::node_range);
        ASSERT_EQ(l.make(us, 0, std::int64_t{l.max_sequence()} + 1).error, Error::sequence_range);
        ASSERT_EQ(l.split(id | std::uint64_t{1} << (53 + random() % 11)).error, Error::id_range);
    }
}

}  // namespace
}  // namespace snowflake_ids::snowflake_si
