// Windows and cuts, exhaustively on a toy layout of 32 ids: the ids that a predicate on time is about.
#include "core/window.hpp"

#include <gtest/gtest.h>

namespace snowflake_ids {
namespace {

constexpr LayoutBounds toy{Layout{{100, 4, 3}, 1, 1}};
constexpr Comparison comparisons[] = {Comparison::less, Comparison::less_equal, Comparison::greater_equal,
                                      Comparison::greater};
constexpr std::int64_t infinite[] = {std::numeric_limits<std::int64_t>::min(),
                                     std::numeric_limits<std::int64_t>::max()};

bool holds(Comparison c, std::int64_t a, std::int64_t b) {
    switch (c) {
        case Comparison::less:
            return a < b;
        case Comparison::less_equal:
            return a <= b;
        case Comparison::greater_equal:
            return a >= b;
        case Comparison::greater:
            return a > b;
    }
    return false;
}

void check(Comparison c, std::int64_t us) {
    const auto w = window(toy, Times::that_are(c, us));
    const auto at = cut(toy, c, us);
    for (std::uint64_t id = toy.first(); id <= toy.last(); id++) {
        const bool expected = holds(c, toy.layout.time_us(id), us);
        EXPECT_EQ(w.first <= id && id <= w.last, expected) << id << ' ' << static_cast<int>(c) << ' ' << us;
        const bool by_cut = at.kind == at.at ? holds(c, static_cast<std::int64_t>(id), static_cast<std::int64_t>(at.id))
                                             : at.kind == at.all;
        EXPECT_EQ(by_cut, expected) << id << ' ' << static_cast<int>(c) << ' ' << us;
    }
    if (w.empty()) {
        EXPECT_EQ(w.first, toy.last());
        EXPECT_EQ(w.last, toy.first());
    }
}

TEST(Window, IsWhatTheComparisonMeans) {
    for (const Comparison c : comparisons) {
        for (std::int64_t us = 90; us < 145; us++) check(c, us);
        for (const std::int64_t us : infinite) check(c, us);
    }
}

TEST(Window, OfBothEnds) {
    for (std::int64_t from = 90; from < 145; from++)
        for (std::int64_t to = 90; to < 145; to++) {
            const auto w = window(toy, Times{from, to});
            for (std::uint64_t id = toy.first(); id <= toy.last(); id++) {
                const std::int64_t us = toy.layout.time_us(id);
                ASSERT_EQ(w.first <= id && id <= w.last, from <= us && us <= to) << id << ' ' << from << ' ' << to;
            }
        }
}

// Mastic uses all 64 bits: bounds before the first id and after the last one.
TEST(Window, OfMastic) {
    constexpr MasticBounds all;
    const std::int64_t epoch = mastic::layout.timeline.epoch_us, end = mastic::layout.timeline.end_us();
    for (const std::int64_t from : {infinite[0], epoch - 1, epoch, epoch + 1, end - 1000, end - 999, end, infinite[1]})
        for (const std::int64_t to : {infinite[0], epoch - 1, epoch, epoch + 1, end - 1000, end, infinite[1]}) {
            const auto w = window(all, Times{from, to});
            for (const std::uint64_t n : {std::uint64_t{0}, std::uint64_t{65535}, std::uint64_t{65536},
                                          std::uint64_t{1} << 63, ~std::uint64_t{65536}, ~std::uint64_t{0}}) {
                const mastic::Id id{n};
                const bool inside = from <= time_us(id) && time_us(id) <= to;
                EXPECT_EQ(!(id < w.first) && !(w.last < id), inside) << n << ' ' << from << ' ' << to;
            }
        }
}

TEST(Comparison, CommutedIsTheOtherWayRound) {
    for (const Comparison c : comparisons)
        for (int a = 0; a < 3; a++)
            for (int b = 0; b < 3; b++) EXPECT_EQ(holds(commuted(c), a, b), holds(c, b, a));
}

TEST(Window, EndsOfTheFormats) {
    EXPECT_EQ(toy.first(), 0u);
    EXPECT_EQ(toy.last(), 31u);
    EXPECT_TRUE(MasticBounds{}.first() == mastic::Id{0} && MasticBounds{}.last() == mastic::Id{~std::uint64_t{0}});
}

// A layout of one id a tick: a window of one id is not empty.
TEST(Window, OfOneId) {
    constexpr LayoutBounds single{Layout{{100, 4, 3}, 0, 0}};
    const auto w = window(single, Times{104, 104});
    EXPECT_EQ(w.first, 1u);
    EXPECT_EQ(w.last, 1u);
    EXPECT_FALSE(w.empty());
    EXPECT_TRUE(window(single, Times{105, 107}).empty());
}

// Where every id is on one side, no id is compared.
TEST(Window, CutAtTheEnds) {
    EXPECT_EQ(cut(toy, Comparison::greater_equal, 100).kind, Cut<std::uint64_t>::all);
    EXPECT_EQ(cut(toy, Comparison::less, 100).kind, Cut<std::uint64_t>::none);
    EXPECT_EQ(cut(toy, Comparison::less_equal, 131).kind, Cut<std::uint64_t>::all);
    EXPECT_EQ(cut(toy, Comparison::greater, 131).kind, Cut<std::uint64_t>::none);
    for (const Comparison c : comparisons) EXPECT_EQ(cut(toy, c, 104).kind, Cut<std::uint64_t>::at);
}

}  // namespace
}  // namespace snowflake_ids
