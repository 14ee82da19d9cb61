// The ceiling in WAL: when it is read and raised, and when its floor comes first.
#include "ledger/wal_ceiling.hpp"

#include <gtest/gtest.h>

#include <string>

namespace snowflake_ids::ledger {
namespace {

struct LedgerWal : testing::Test {
    // As another session may have raised it meanwhile: at least to `at_least_us`.
    struct Wal {
        WalCeiling now;
        std::string& log;
        std::int64_t at_least_us = 0;

        WalCeiling read() { return now; }
        WalCeiling raise(const WalCeiling& to) {
            log += "raise " + std::to_string(to.until_us) + " of " + std::to_string(to.life_id) + ";";
            now = {to.until_us > at_least_us ? to.until_us : at_least_us, to.life_id};
            return now;
        }
    };
    std::string log;

    std::int64_t enter(Wal& wal) {
        return enter_database(wal, 7, 900, [this](std::int64_t us) { log += "floor " + std::to_string(us) + ";"; });
    }
};

TEST_F(LedgerWal, OfThisLifeIsTakenAsItIs) {
    Wal wal{{500, 7}, log};
    EXPECT_EQ(enter(wal), 500);
    EXPECT_EQ(log, "");
}

TEST_F(LedgerWal, OfAnotherLifeIsAFloorFirst) {
    Wal wal{{500, 6}, log};
    EXPECT_EQ(enter(wal), 900);
    EXPECT_EQ(log, "floor 500;raise 900 of 7;");
    log = "";
    EXPECT_EQ(enter(wal), 900);
    EXPECT_EQ(log, "");
}

TEST_F(LedgerWal, OfNobodyIsNoFloor) {
    Wal wal{{0, 0}, log};
    EXPECT_EQ(enter(wal), 900);
    EXPECT_EQ(log, "raise 900 of 7;");
    log = "";
    Wal first{{1, 0}, log};
    EXPECT_EQ(enter(first), 900);
    EXPECT_EQ(log, "floor 1;raise 900 of 7;");
}

TEST_F(LedgerWal, AnswersWhatItGot) {
    Wal wal{{500, 6}, log, 2000};
    EXPECT_EQ(enter(wal), 2000);
}

TEST_F(LedgerWal, IsRaisedOnlyIfItMustBe) {
    Wal wal{{500, 7}, log};
    EXPECT_EQ(raise_wal_above(wal, 7, 499, 900), 500) << "another session has raised it";
    EXPECT_EQ(log, "");
    EXPECT_EQ(raise_wal_above(wal, 7, 500, 900), 900) << "no id of that time or later";
    EXPECT_EQ(log, "raise 900 of 7;");
}

// The WAL that a commit must wait for.
TEST(LedgerSeenCeilings, IdsBelowTheCeilingBeforeNeedNoMore) {
    SeenCeilings seen;
    EXPECT_EQ(seen.position_for(1), 0u) << "not known";
    seen.saw(500, 10);
    EXPECT_EQ(seen.position_for(499), 10u);
    seen.saw(900, 20);
    EXPECT_EQ(seen.until_us(), 900);
    EXPECT_EQ(seen.position_for(499), 10u);
    EXPECT_EQ(seen.position_for(500), 20u) << "no id of the time of a ceiling is below it";
    EXPECT_EQ(seen.position_for(899), 20u);
}

TEST(LedgerSeenCeilings, SeenAgainIsWhereItWas) {
    SeenCeilings seen;
    seen.saw(500, 10);
    seen.saw(500, 15);
    EXPECT_EQ(seen.position_for(499), 10u);
    seen.saw(900, 20);
    seen.saw(900, 25);
    EXPECT_EQ(seen.position_for(499), 10u) << "the one before is still known";
}

static_assert(WalCeiling{}.until_us == 0 && WalCeiling{}.life_id == 0, "nobody's, without a floor");

}  // namespace
}  // namespace snowflake_ids::ledger
