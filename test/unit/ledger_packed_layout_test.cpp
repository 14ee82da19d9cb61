// Packed layouts: which layouts share a slot, and which cannot be packed.
#include "ledger/packed_layout.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>

#include "core/known_layouts.hpp"
#include "support/times.hpp"

namespace snowflake_ids::ledger {
namespace {

using namespace snowflake_ids::test;

constexpr Layout twitter{timeline_us(1288834974657000, 1000, 41), 10, 12};

Layout changed(void (*change)(Layout&)) {
    Layout l = twitter;
    change(l);
    return l;
}

TEST(LedgerPackedLayout, WhatMakesIdsTheSame) {
    const std::uint64_t n = pack_layout(twitter).value;
    EXPECT_EQ(pack_layout(changed([](Layout& l) { l.timeline.bits = 30; })).value, n);
    EXPECT_NE(pack_layout(changed([](Layout& l) { l.timeline.epoch += 1ms; })).value, n);
    EXPECT_NE(pack_layout(changed([](Layout& l) { l.timeline.tick_length = 10ms; })).value, n);
    EXPECT_NE(pack_layout(changed([](Layout& l) { l.node_bits = 9; })).value, n);
    EXPECT_NE(pack_layout(changed([](Layout& l) { l.sequence_bits = 13; })).value, n);
    EXPECT_NE(pack_layout(changed([](Layout& l) { l.node_last = true; })).value, n);
    EXPECT_EQ(pack_layout({timeline_us(0, 1000, 41), 0, 12, true}).value,
              pack_layout({timeline_us(0, 1000, 41), 0, 12}).value);
    EXPECT_EQ(pack_layout({timeline_us(0, 1000, 41), 12, 0, true}).value,
              pack_layout({timeline_us(0, 1000, 41), 12, 0}).value);
}

TEST(LedgerPackedLayout, Survives) {
    std::mt19937_64 random(3);
    std::set<std::uint64_t> seen;
    int packed = 0;
    for (int i = 0; i < 200000; i++) {
        std::int64_t tick = static_cast<std::int64_t>(random() % 127 + 1);
        for (unsigned power = random() % 7; power > 0; power--) tick *= 10;
        const Layout l{timeline_us(static_cast<std::int64_t>(random() % (std::uint64_t{1} << 43)) * 1000, tick, 41),
                       static_cast<unsigned>(random() % 32), static_cast<unsigned>(random() % 32), random() % 2 != 0};
        const Result<std::uint64_t> n = pack_layout(l);
        EXPECT_EQ(static_cast<bool>(n), microseconds{tick} <= max_packed_tick);
        if (!n) continue;
        packed++;
        const Layout back = unpack_layout(n.value);
        ASSERT_NE(n.value, 0u);
        ASSERT_EQ(pack_layout(back).value, n.value);
        ASSERT_EQ(back.timeline.epoch, l.timeline.epoch);
        ASSERT_EQ(back.timeline.tick_length, microseconds{tick});
        ASSERT_EQ(back.node_bits, l.node_bits);
        ASSERT_EQ(back.sequence_bits, l.sequence_bits);
        ASSERT_EQ(back.node_last, l.node_last && l.node_bits > 0 && l.sequence_bits > 0);
        ASSERT_LT(static_cast<__int128>(back.timeline.max_tick()) * tick + number_of(back.timeline.epoch),
                  static_cast<__int128>(INT64_MAX));
    }
    EXPECT_GT(packed, 100000);
}

// A packed layout has no width: the layout gets the widest that leaves room for the end of its last tick.
TEST(LedgerPackedLayout, WidthOfTheTimestamp) {
    const auto bits = [](std::int64_t tick) {
        return unpack_layout(pack_layout({timeline_us(0, tick, 41), 10, 12}).value).timeline.bits;
    };
    EXPECT_EQ(bits(1), 47u);
    EXPECT_EQ(bits(16000), 47u);  // 2^14 us at most
    EXPECT_EQ(bits(17000), 46u);
    EXPECT_EQ(bits(1000000), 41u);
}

TEST(LedgerPackedLayout, ImpossibleOnes) {
    EXPECT_EQ(unpack_layout(0).timeline.tick_length, 1us);
    EXPECT_EQ(pack_layout({timeline_us(0, 0, 41), 10, 12}).error, Error::bad_tick);
}

TEST(LedgerPackedLayout, Refused) {
    const auto error = [](std::int64_t epoch, std::int64_t tick) {
        return pack_layout({timeline_us(epoch, tick, 41), 10, 12}).error;
    };
    EXPECT_EQ(error(0, 1000000), Error::none);
    EXPECT_EQ(error(0, 1000001), Error::bad_tick);
    EXPECT_EQ(error(0, 2000000), Error::bad_tick);
    EXPECT_EQ(error(0, 1024), Error::bad_tick);
    EXPECT_EQ(error(0, 127), Error::none);
    EXPECT_EQ(error(0, 128), Error::bad_tick);
    EXPECT_EQ(error(-1000, 1000), Error::bad_epoch);
    EXPECT_EQ(error(1, 1000), Error::bad_epoch);
    EXPECT_EQ(error((std::int64_t{1} << 43) * 1000, 1000), Error::bad_epoch);
    EXPECT_EQ(error(((std::int64_t{1} << 43) - 1) * 1000, 1000), Error::none);
}

// Layouts that only decode have no slot, so they may share a packed layout.
TEST(LedgerPackedLayout, KnownLayoutsDiffer) {
    std::map<std::uint64_t, const char*> names;
    for (const KnownLayout& k : known_layouts) {
        if (!k.generates) continue;
        EXPECT_TRUE(pack_layout(k.layout)) << k.name;
        const auto [place, is_new] = names.emplace(pack_layout(k.layout).value, k.name);
        EXPECT_TRUE(is_new) << k.name << " packs like " << place->second;
    }
}

// An id's time is at or after the base clock.
TEST(LedgerPackedLayout, SnowflakeSiOfOtherBaseClocksAndWidths) {
    for (unsigned machine_bits = 0; machine_bits <= 12; machine_bits++) {
        for (const Floor base_clock : {unix_ms(1047972019225), unix_ms(8796093022207)}) {
            const Layout l{{base_clock, 1ms, 40}, machine_bits, 13 - machine_bits};
            const Result<std::uint64_t> n = pack_layout(l);
            ASSERT_TRUE(n) << machine_bits;
            Layout back = unpack_layout(n.value);
            back.timeline.bits = 40;
            EXPECT_EQ(back, l);
        }
    }
    EXPECT_FALSE(pack_layout({timeline_us(8796093022208000, 1000, 40), 5, 8}));
}

}  // namespace
}  // namespace snowflake_ids::ledger
