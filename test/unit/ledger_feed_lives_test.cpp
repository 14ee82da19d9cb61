// Lives of feeds: where a position of an earlier life continues.
#include "ledger/feed_lives.hpp"

#include <gtest/gtest.h>

namespace snowflake_ids::ledger {
namespace {

FeedLives lives_of(std::initializer_list<FeedLife> all) {
    FeedLives lives;
    for (const FeedLife& l : all) lives.note(l);
    return lives;
}

TEST(FeedLives, ThePresentLifeContinuesAtXmax) {
    const Continued c = continue_from(lives_of({{1, 100, 1000}, {2, 200, 2000}}), 2, 250, 5000, false);
    EXPECT_TRUE(c.known);
    EXPECT_FALSE(c.lost) << "WAL is compared with later lives only";
    EXPECT_EQ(c.from, 250);
}

// The crash hands out 250 again.
TEST(FeedLives, AnEarlierLifeContinuesWhereLaterOnesBegan) {
    const FeedLives lives = lives_of({{1, 100, 1000}, {2, 250, 2000}, {3, 240, 2000}});
    EXPECT_EQ(continue_from(lives, 1, 251, 2000, false).from, 240);
    EXPECT_EQ(continue_from(lives, 1, 239, 2000, false).from, 239);
    EXPECT_EQ(continue_from(lives, 2, 251, 2000, false).from, 240);
}

TEST(FeedLives, LostWal) {
    const FeedLives lives = lives_of({{1, 100, 1000}, {2, 200, 2000}, {3, 300, 3000}});
    EXPECT_FALSE(continue_from(lives, 1, 150, 2000, false).lost);
    EXPECT_TRUE(continue_from(lives, 1, 150, 2001, false).lost);
    EXPECT_FALSE(continue_from(lives, 2, 250, 2001, false).lost);
}

// A standby replays WAL of life 2 before anybody notes it.
TEST(FeedLives, AStandbyMayHaveWalOfTheNextLife) {
    const FeedLives lives = lives_of({{1, 100, 1000}, {2, 200, 2000}, {3, 300, 3000}});
    EXPECT_FALSE(continue_from(lives, 1, 150, 2001, true).lost);
    EXPECT_FALSE(continue_from(lives, 1, 150, 3000, true).lost);
    EXPECT_TRUE(continue_from(lives, 1, 150, 3001, true).lost);
}

TEST(FeedLives, UnknownLife) {
    EXPECT_FALSE(continue_from(FeedLives{}, 7, 10, 0, false).known);
    EXPECT_FALSE(continue_from(lives_of({{1, 100, 1000}}), 7, 10, 0, false).known);
}

TEST(FeedLives, TheOldestIsDropped) {
    FeedLives lives;
    for (std::uint64_t id = 1; id <= FeedLives::most + 2; id++) lives.note({id, id * 10, id * 100});
    EXPECT_EQ(lives.count(), FeedLives::most);
    EXPECT_FALSE(lives.has(2));
    EXPECT_TRUE(lives.has(3));
    EXPECT_EQ(lives.last(), FeedLives::most + 2);
}

TEST(FeedLives, ALifeIsNotedOnce) {
    FeedLives lives = lives_of({{1, 100, 1000}, {2, 200, 2000}});
    lives.note({1, 150, 1500});
    EXPECT_EQ(lives.count(), 2);
    EXPECT_EQ(lives.all[0].first_xid, 100);
}

}  // namespace
}  // namespace snowflake_ids::ledger
