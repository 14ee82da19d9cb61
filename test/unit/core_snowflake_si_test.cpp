// Snowflake-SI: golden values, refused options and numbers, bounds and round trips.
#include "core/snowflake_si.hpp"

#include <random>
#include <string>

#include "core/mastic.hpp"
#include "support/snowflake_si_options.hpp"
#include "support/text.hpp"
#include "support/times.hpp"
#include "support/tsv.hpp"

namespace snowflake_ids::snowflake_si {
namespace {

using namespace snowflake_ids::test;

static_assert(layout.lower_bound(UnixTime::max()).error == Error::time_after_end);
static_assert(layout.upper_bound(UnixTime::min()).error == Error::time_before_epoch);
static_assert(layout.upper_bound(UnixTime::max()).value == 9007199254740991);

// The document's base clock is 2003-03-18T07:20:19.225Z or later.
constexpr Floor min_base_clock = unix_ms(1047972019225);

Layout layout_of(Floor base_clock, unsigned clock_bits, unsigned machine_bits) {
    return {{base_clock, 1ms, clock_bits}, machine_bits, 53 - clock_bits - machine_bits};
}

std::string print(std::uint64_t id) { return std::to_string(id); }

TEST(CoreSnowflakeSi, GoldenValues) {
    const Table table("snowflake_si.tsv");
    std::size_t rows = 0;
    for (const Row& row : table) {
        SCOPED_TRACE(row.where());
        const Layout l{
            {unix_ms(row.i64("base_clock_ms")), 1ms, row.u32("clock_bits")}, row.u32("mid_bits"), row.u32("uin_bits")};
        ASSERT_EQ(check_layout(l), Error::none);
        EXPECT_EQ(l.bits(), 53u);

        const std::uint64_t id = row.u64("id");
        EXPECT_EQ(print(id), row["id"]);
        EXPECT_EQ(mastic::parse(row["id"].data(), row["id"].size()).value, id);
        EXPECT_EQ(to_hex(id), row["id_hex"]);
        const Result<Layout::Fields> f = l.split(id);
        ASSERT_TRUE(f);
        EXPECT_EQ(f.value.tick, row.u64("mab"));
        EXPECT_EQ(f.value.node, row.u64("mid"));
        EXPECT_EQ(f.value.sequence, row.u64("uin"));
        EXPECT_EQ(l.compose({row.u64("mab"), row.u32("mid"), row.u32("uin")}), id);

        const UnixTime at = unix_ms(row.i64("unix_ms"));
        EXPECT_EQ(l.time_of(id), at);
        EXPECT_EQ(to_iso(number_of(l.time_of(id)) / 1000), row["iso_utc"]);
        for (const UnixTime inside : {at, at + 999us}) {
            const Result<std::uint64_t> tick = l.timeline.floor_tick(inside);
            EXPECT_EQ(tick.error, Error::none);
            EXPECT_EQ(l.compose({tick.value, row.u32("mid"), row.u32("uin")}), id);
        }
        const unsigned below = l.node_bits + l.sequence_bits;
        EXPECT_EQ(l.lower_bound(at).value, id >> below << below);
        EXPECT_EQ(l.upper_bound(at + 999us).value, id | ((std::uint64_t{1} << below) - 1));
        rows++;
    }
    expect_count("snowflake_si.tsv", rows, 513);
}

enum class Fate {
    refused,
    not_an_integer,   // NaN, Infinity, fractions, a missing base clock: the core's arguments are integers
    not_a_field,      // sequenceResetThreshold: only replayed traces have it
    another_layout,   // not a Snowflake-SI, but a good layout: an early base clock, or other widths
    no_machine_bits,  // v2 refuses what the document and v1 allow, and so do we
    allowed,
    count
};

bool all_integers(const JsonObject& options) {
    for (const auto& [name, value] : options.members)
        if (!is_integer(value.at(0))) return false;
    return true;
}

// Rules of the document and of both releases, which do not bind a layout.
bool is_snowflake_si(const Layout& l) {
    const unsigned clock = l.timeline.bits;
    return l.bits() == 53 && (clock == 40 || clock == 41) && l.sequence_bits > 0 &&
           l.timeline.epoch >= (clock == 40 ? min_base_clock : Floor{});
}

bool fits(std::int64_t field, std::uint32_t max) { return field >= 0 && field <= max; }

Fate try_layout(const Layout& l, std::int64_t machine) {
    if (check_layout(l) != Error::none || !fits(machine, l.max_node())) return Fate::refused;
    if (!is_snowflake_si(l)) return Fate::another_layout;
    return l.node_bits == 0 ? Fate::no_machine_bits : Fate::allowed;
}

Fate try_create_v1(const JsonObject& o) {
    return o.has("baseClock") ? try_layout(si_layout_v1(o), o.i64("machineId", 0)) : Fate::not_an_integer;
}

Fate try_create_v2(const JsonObject& o) {
    if (o.has("sequenceResetThreshold")) return Fate::not_a_field;
    return try_layout(si_layout_v2(o), o.i64("machineId"));
}

Fate try_generate_by(const JsonObject& o) {
    const Layout l = si_layout_v2(o);
    EXPECT_EQ(check_layout(l), Error::none);
    EXPECT_TRUE(is_snowflake_si(l));
    return l.timeline.floor_tick(unix_ms(o.i64("timestamp"))) && fits(o.i64("machineId"), l.max_node()) &&
                   fits(o.i64("sequence"), l.max_sequence())
               ? Fate::allowed
               : Fate::refused;
}

Fate try_id(const std::string& decimal) {
    const std::uint64_t id = decimal[0] == '-' ? static_cast<std::uint64_t>(to_i64(decimal)) : to_u64(decimal);
    EXPECT_EQ(layout.split(id).error, Error::id_range);
    return layout.split(id) ? Fate::allowed : Fate::refused;
}

TEST(CoreSnowflakeSi, RefusedOptionsAndNumbers) {
    const Table table("snowflake_si_invalid.tsv");
    std::size_t fates[static_cast<int>(Fate::count)] = {};
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
        fates[static_cast<int>(fate)]++;
        if (fate == Fate::another_layout) {
            const std::string& why = row["why"];
            EXPECT_TRUE(why == "base_clock" || why.starts_with("epoch_4") || why.ends_with("bit_width") ||
                        why == "clock41_mid" || why == "mid13_uin0")
                << why;
        }
    }
    expect_count("snowflake_si_invalid.tsv", table.rows().size(), 98);
    expect_count("snowflake_si_invalid.tsv refused", fates[0], 56);
    expect_count("snowflake_si_invalid.tsv not an integer", fates[1], 18);
    expect_count("snowflake_si_invalid.tsv not a field", fates[2], 2);
    expect_count("snowflake_si_invalid.tsv another layout", fates[3], 20);
    expect_count("snowflake_si_invalid.tsv no machine bits", fates[4], 2);
    expect_count("snowflake_si_invalid.tsv allowed", fates[5], 0);
}

// Its last millisecond is 2038-01-19T03:14:07Z.
TEST(CoreSnowflakeSi, LastTimes) {
    EXPECT_EQ(to_iso(number_of(layout_of(min_base_clock, 40, 5).time_of(9007199254740991)) / 1000),
              "2038-01-19T03:14:07.000Z");
    EXPECT_EQ(to_iso(number_of(layout.time_of(0)) / 1000), "2026-01-01T00:00:00.000Z");
    EXPECT_EQ(to_iso(number_of(layout.time_of(9007199254740991)) / 1000), "2060-11-03T19:53:47.775Z");
}

TEST(CoreSnowflakeSi, BoundsAgreeWithThePlainDefinition) {
    for (const Layout& l : {layout, layout_of(min_base_clock, 40, 0), layout_of({}, 41, 11),
                            layout_of(unix_ms(253402300799999), 40, 12)}) {
        const PlainTimeline plain(l.timeline);
        const unsigned below = l.node_bits + l.sequence_bits;
        for (const UnixTime at : interesting_times(l.timeline)) {
            SCOPED_TRACE(number_of(at));
            const Result<std::uint64_t> lower = l.lower_bound(at), upper = l.upper_bound(at);
            if (const auto tick = plain.at_or_after(at)) {
                ASSERT_TRUE(lower);
                ASSERT_EQ(lower.value, *tick << below);
                if (lower.value != 0) {
                    ASSERT_LT(l.time_of(lower.value - 1), at);
                }
            } else {
                ASSERT_EQ(lower.error, Error::time_after_end);
            }
            if (const auto tick = plain.at_or_before(at)) {
                ASSERT_TRUE(upper);
                ASSERT_EQ(upper.value >> below, *tick);
                if (upper.value != l.max_id()) {
                    ASSERT_GT(l.time_of(upper.value + 1), at);
                }
            } else {
                ASSERT_EQ(upper.error, Error::time_before_epoch);
            }
            const Result<std::uint64_t> floor = l.timeline.floor_tick(at);
            ASSERT_EQ(floor ? std::optional(floor.value) : std::nullopt, plain.floor(at));
        }
    }
}

TEST(CoreSnowflakeSi, RandomRoundTrips) {
    std::mt19937_64 random(4);
    for (int i = 0; i < 300000; i++) {
        const unsigned clock_bits = i % 2 ? 40 : 41;
        const Layout l =
            layout_of(unix_ms(1700000000000), clock_bits, static_cast<unsigned>(random() % (53 - clock_bits)));
        const std::uint64_t id = random() >> 11 >> random() % 53;
        const Layout::Fields f = l.split(id).value;
        ASSERT_EQ(l.compose(f), id);
        const UnixTime at = l.time_of(id) + microseconds{random() % 1000};
        ASSERT_EQ(l.timeline.floor_tick(at).value, f.tick);
        ASSERT_EQ(l.split(id | std::uint64_t{1} << (53 + random() % 11)).error, Error::id_range);
    }
}

}  // namespace
}  // namespace snowflake_ids::snowflake_si
