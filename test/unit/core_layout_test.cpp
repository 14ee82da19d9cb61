// Layouts: fields in either order, what is no layout, and published ids.
#include "core/layout.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <random>

#include "core/known_layouts.hpp"
#include "support/times.hpp"

namespace snowflake_ids {
namespace {

using namespace snowflake_ids::test;

const Layout& known(const char* name) { return known_layout(name, std::strlen(name))->layout; }

struct Published {
    const char* layout;
    std::uint64_t id;
    std::int64_t unix_ms;
    std::uint32_t node, sequence;
};

// Sources: sql/layouts.sql.
constexpr Published published[] = {
    {"twitter", 1541815603606036480, 1656432460105, 378, 0},
    {"twitter", 1900547158165840235, 1741960727622, 422, 363},
    {"discord", 175928847299117063, 1462015105796, 1 << 5, 7},
    {"discord", 90339695967350784, 1441609061949, 3, 0},
    {"pgedge", 170505378935607296, 1713182850175, 1, 0},
    {"pgedge", 413334082185859072, 1771077724569, 1, 0},
    {"pgedge_old", 136169504773242881, 1704996539845, 1, 0},
};

TEST(CoreLayout, PublishedIds) {
    for (const Published& p : published) {
        SCOPED_TRACE(p.id);
        const Layout& l = known(p.layout);
        const Result<Layout::Fields> f = l.split(p.id);
        ASSERT_TRUE(f);
        EXPECT_EQ(l.time_of(p.id), unix_ms(p.unix_ms));
        EXPECT_EQ(f.value.node, p.node);
        EXPECT_EQ(f.value.sequence, p.sequence);
        EXPECT_EQ(l.compose({l.timeline.floor_tick(unix_ms(p.unix_ms) + 999us).value, p.node, p.sequence}), p.id);
    }
}

TEST(CoreLayout, NamesAreExact) {
    for (const KnownLayout& k : known_layouts) {
        EXPECT_EQ(known_layout(k.name, std::strlen(k.name)), &k);
        EXPECT_EQ(known_layout(k.name, std::strlen(k.name) - 1), nullptr);
        EXPECT_TRUE(k.layout.bits() == 64 || check_layout(k.layout) == Error::none) << k.name;
    }
    EXPECT_EQ(known_layout("", 0), nullptr);
}

TEST(CoreLayout, FieldsSurviveInEitherOrder) {
    std::mt19937_64 random(7);
    int tried = 0;
    for (int i = 0; i < 200000; i++) {
        const Layout l{
            timeline_us(static_cast<std::int64_t>(random() % 2000000000000000),
                        static_cast<std::int64_t>(random() % 2000000 + 1), static_cast<unsigned>(random() % 62 + 1)),
            static_cast<unsigned>(random() % 32), static_cast<unsigned>(random() % 32), random() % 2 != 0};
        if (check_layout(l) != Error::none) continue;
        tried++;
        const Layout::Fields f{random() & l.timeline.max_tick(), static_cast<std::uint32_t>(random()) & l.max_node(),
                               static_cast<std::uint32_t>(random()) & l.max_sequence()};
        const std::uint64_t id = l.compose(f);
        ASSERT_LE(id, l.max_id());
        const Layout::Fields back = l.split(id).value;
        ASSERT_EQ(back.tick, f.tick);
        ASSERT_EQ(back.node, f.node);
        ASSERT_EQ(back.sequence, f.sequence);
        const UnixTime at = l.time_of(id);
        ASSERT_EQ(at, l.timeline.start(f.tick));
        ASSERT_LE(l.lower_bound(at).value, id);
        ASSERT_GE(l.upper_bound(at).value, id);
        ASSERT_EQ(l.upper_bound(at).value - l.lower_bound(at).value,
                  (std::uint64_t{1} << (l.node_bits + l.sequence_bits)) - 1);
        if (f.sequence < l.max_sequence()) {
            ASSERT_GT(l.compose({f.tick, f.node, f.sequence + 1}), id);
        }
        if (l.node_last && l.node_bits > 0 && f.node < l.max_node()) {
            ASSERT_EQ(l.compose({f.tick, f.node + 1, f.sequence}), id + 1);
        }
    }
    EXPECT_GT(tried, 10000);
}

TEST(CoreLayout, WhatIsNoLayout) {
    const auto check = [](std::int64_t epoch, std::int64_t tick, unsigned time, unsigned node, unsigned sequence) {
        return check_layout({timeline_us(epoch, tick, time), node, sequence});
    };
    EXPECT_EQ(check(0, 1000, 41, 10, 12), Error::none);
    EXPECT_EQ(check(0, 1000, 0, 10, 12), Error::bad_width);
    EXPECT_EQ(check(0, 1, 62, 0, 1), Error::none);
    EXPECT_EQ(check(0, 1, 63, 0, 0), Error::bad_width);
    EXPECT_EQ(check(0, 1000, 1, 32, 0), Error::bad_width);
    EXPECT_EQ(check(0, 1000, 1, 0, 32), Error::bad_width);
    EXPECT_EQ(check(0, 1000, 1, 31, 31), Error::none);
    EXPECT_EQ(check(0, 1000, 2, 31, 31), Error::bad_total_width);
    EXPECT_EQ(check(0, 0, 41, 10, 12), Error::bad_tick);
    EXPECT_EQ(check(0, -1, 41, 10, 12), Error::bad_tick);
    EXPECT_EQ(check(INT64_MAX, 1, 1, 0, 0), Error::bad_epoch);
    EXPECT_EQ(check(INT64_MIN, 1, 1, 0, 0), Error::none);
    EXPECT_EQ(check(0, 2, 62, 0, 0), Error::bad_epoch);
}

TEST(CoreLayout, EndOfTime) {
    constexpr std::int64_t last = std::numeric_limits<std::int64_t>::max(), span = std::int64_t{1000} << 41;
    EXPECT_EQ(check_layout({timeline_us(last - span, 1000, 41), 10, 12}), Error::none);
    EXPECT_EQ(check_layout({timeline_us(last - span + 1, 1000, 41), 10, 12}), Error::bad_epoch);
}

}  // namespace
}  // namespace snowflake_ids
