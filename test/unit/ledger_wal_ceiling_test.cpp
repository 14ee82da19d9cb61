// When the ceiling in WAL is read and lifted, and when its floor comes first.
#include "ledger/wal_ceiling.hpp"

#include <gtest/gtest.h>

#include <string>

#include "support/times.hpp"

namespace snowflake_ids::ledger {
namespace {

using namespace snowflake_ids::test;

struct LedgerWal : testing::Test {
    struct Wal {
        WalCeiling now;
        std::string& log;
        Ceiling at_least{};

        WalCeiling read() { return now; }
        WalCeiling lift(const WalCeiling& to) {
            log += "raise " + std::to_string(number_of(to.until)) + " of " + std::to_string(to.life_id) + ";";
            now = {to.until > at_least ? to.until : at_least, to.life_id};
            return now;
        }
    };
    std::string log;

    Ceiling enter(Wal& wal) {
        return enter_database(wal, 7, unix_ms(900),
                              [this](Floor floor) { log += "floor " + std::to_string(number_of(floor)) + ";"; });
    }
};

TEST_F(LedgerWal, OfThisLifeIsTakenAsItIs) {
    Wal wal{{unix_ms(500), 7}, log};
    EXPECT_EQ(enter(wal), unix_ms(500));
    EXPECT_EQ(log, "");
}

TEST_F(LedgerWal, OfAnotherLifeIsAFloorFirst) {
    Wal wal{{unix_ms(500), 6}, log};
    EXPECT_EQ(enter(wal), unix_ms(900));
    EXPECT_EQ(log, "floor 500;raise 900 of 7;");
    log = "";
    EXPECT_EQ(enter(wal), unix_ms(900));
    EXPECT_EQ(log, "");
}

TEST_F(LedgerWal, OfNobodyIsNoFloor) {
    Wal wal{{unix_ms(0), 0}, log};
    EXPECT_EQ(enter(wal), unix_ms(900));
    EXPECT_EQ(log, "raise 900 of 7;");
    log = "";
    Wal first{{unix_ms(1), 0}, log};
    EXPECT_EQ(enter(first), unix_ms(900));
    EXPECT_EQ(log, "floor 1;raise 900 of 7;");
}

TEST_F(LedgerWal, AnswersWhatItGot) {
    Wal wal{{unix_ms(500), 6}, log, unix_ms(2000)};
    EXPECT_EQ(enter(wal), unix_ms(2000));
}

TEST_F(LedgerWal, IsRaisedOnlyIfItMustBe) {
    Wal wal{{unix_ms(500), 7}, log};
    EXPECT_EQ(lift_wal_above(wal, 7, unix_ms(499), unix_ms(900)), unix_ms(500)) << "another session has raised it";
    EXPECT_EQ(log, "");
    EXPECT_EQ(lift_wal_above(wal, 7, unix_ms(500), unix_ms(900)), unix_ms(900)) << "no id of that time or later";
    EXPECT_EQ(log, "raise 900 of 7;");
}

// ---- the row

TEST(LedgerWalCheckBits, FindEachChangeOfAWord) {
    const WalCeiling c{unix_ms(1798761600000), 0x123456789abcdef0};
    EXPECT_NE(check_bits(WalCeiling{}), 0u) << "zeros are no row";
    for (int bit = 0; bit < 48; bit++)
        EXPECT_NE(check_bits({unix_ms(1798761600000 ^ std::int64_t{1} << bit), c.life_id}), check_bits(c));
    for (int bit = 0; bit < 64; bit++)
        EXPECT_NE(check_bits({c.until, c.life_id ^ std::uint64_t{1} << bit}), check_bits(c));
}

// Rows of 1.0 stay valid.
TEST(LedgerWalCheckBits, Known) {
    EXPECT_EQ(check_bits(WalCeiling{}), 16270200097125959691u);
    EXPECT_EQ(check_bits({unix_ms(1798761600000), 0x123456789abcdef0}), 12691747227736009166u);
}

static_assert(WalCeiling{}.until == Ceiling{} && WalCeiling{}.life_id == 0, "nobody's, without a floor");

}  // namespace
}  // namespace snowflake_ids::ledger
