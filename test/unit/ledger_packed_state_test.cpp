// The packed word: every state that a generator can have survives it.
#include "ledger/packed_state.hpp"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "core/mastic.hpp"
#include "core/sno.hpp"
#include "core/snowflake_si.hpp"

namespace snowflake_ids::ledger {
namespace {

void expect_kept(const State& s, bool has_toggle) {
    const State back = unpack(pack(s, has_toggle), s.safe, has_toggle);
    EXPECT_EQ(back.tick, s.tick);
    EXPECT_EQ(back.next, s.next);
    EXPECT_EQ(back.safe, s.safe);
    EXPECT_EQ(back.toggle(), has_toggle ? s.toggle() : 0);
}

TEST(LedgerPackedState, CornersSurvive) {
    for (const bool has_toggle : {false, true}) {
        for (const std::uint64_t tick : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{2}, sno::timeline.max_tick(),
                                         max_tick(true) - 1, max_tick(true), max_tick(false) - 1, max_tick(false)}) {
            if (tick > max_tick(has_toggle)) continue;
            for (const std::uint32_t next : {0u, 1u, 255u, 256u, 65535u, used_up, next_mask}) {
                for (const std::uint32_t drifts : {0u, 1u}) {
                    for (const std::uint64_t safe : {std::uint64_t{0}, tick, ~std::uint64_t{0}}) {
                        expect_kept({.tick = tick, .safe = safe, .next = next, .drifts = drifts}, has_toggle);
                    }
                }
            }
        }
    }
}

TEST(LedgerPackedState, RandomStatesSurvive) {
    std::mt19937_64 random(1);
    for (int i = 0; i < 200000; i++) {
        const bool has_toggle = random() & 1;
        expect_kept({.tick = random() & max_tick(has_toggle),
                     .safe = random(),
                     .next = static_cast<std::uint32_t>(random() % (used_up + 1)),
                     .drifts = static_cast<std::uint32_t>(random() & 1)},
                    has_toggle);
    }
}

TEST(LedgerPackedState, Limits) {
    EXPECT_EQ(max_tick(false), (std::uint64_t{1} << 47) - 1);
    EXPECT_EQ(max_tick(true), (std::uint64_t{1} << 46) - 1);
    EXPECT_GE(max_tick(true), sno::timeline.max_tick());
    EXPECT_LT(max_tick(false), mastic::layout.timeline.max_tick());
    EXPECT_GE(max_tick(false), snowflake_si::layout.timeline.max_tick());
    EXPECT_LE(used_up, next_mask);
    EXPECT_LT(sno::max_sequence, used_up);
    EXPECT_LT(mastic::layout.max_sequence(), used_up);
    EXPECT_EQ(pack({.tick = max_tick(false), .next = next_mask}, false), ~std::uint64_t{0});
    EXPECT_EQ(pack({.tick = max_tick(true), .next = next_mask, .drifts = 1}, true), ~std::uint64_t{0});
}

TEST(LedgerPackedState, OnlyTheToggleOfTheDriftsIsKept) {
    for (const std::uint32_t drifts : {2u, 3u, 0xfffffffeu, 0xffffffffu}) {
        const State s{.tick = 77, .next = 5, .drifts = drifts};
        EXPECT_EQ(unpack(pack(s, true), 0, true).drifts, drifts & 1);
        EXPECT_EQ(unpack(pack(s, true), 0, true).tick, 77u);
        EXPECT_EQ(pack(s, false), pack({.tick = 77, .next = 5}, false));
    }
}

// Words of one toggle compare as their ids do.
TEST(LedgerPackedState, AddingToTheWordIsAddingToNext) {
    const State s{.tick = 123456, .next = 65530, .drifts = 1};
    State t = s;
    t.next += 6;
    EXPECT_EQ(pack(s, true) + 6, pack(t, true));
    EXPECT_EQ(t.next, used_up);
    EXPECT_LT(pack(t, true), pack({.tick = 123457, .drifts = 1}, true));
}

}  // namespace
}  // namespace snowflake_ids::ledger
