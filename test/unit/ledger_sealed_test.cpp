// The number with check bits that travels with WAL.
#include "ledger/sealed.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <random>

namespace snowflake_ids::ledger {
namespace {

constexpr Seal seals[] = {ceiling_seal, si_layout_seal};

TEST(LedgerSealed, RoundTrip) {
    std::mt19937_64 random(1);
    for (const Seal& seal : seals) {
        for (int i = 0; i < 100000; i++) {
            const std::uint64_t number = i == 0 ? 0 : i == 1 ? seal.most() : random() & seal.most();
            const std::int64_t word = seal.close(number);
            std::uint64_t opened = ~number;
            EXPECT_GT(word, 0);
            EXPECT_TRUE(seal.open(word, opened));
            EXPECT_EQ(opened, number);
        }
    }
}

TEST(LedgerSealed, HoldsWhatIsPutThere) {
    EXPECT_EQ(ceiling_seal.most(), (std::uint64_t{1} << 48) - 1);                // as ledger::max_ceiling_ms
    EXPECT_GE(si_layout_seal.most(), std::uint64_t{253402300799999} << 4 | 12);  // the end of the year 9999
}

// Bits next to each other, as many as there are check bits: that is also each single bit.
TEST(LedgerSealed, TellsWhatIsDamaged) {
    std::mt19937_64 random(2);
    for (const Seal& seal : seals) {
        for (int i = 0; i < 2000; i++) {
            const auto word = static_cast<std::uint64_t>(seal.close(random() & seal.most()));
            for (unsigned width = 1; width <= seal.width; width++) {
                const std::uint64_t ends = 1 | std::uint64_t{1} << (width - 1);
                const std::uint64_t burst = ends | (random() & (ends - 1));
                std::uint64_t number;
                const auto damaged = static_cast<std::int64_t>(word ^ burst << random() % (64 - width + 1));
                EXPECT_FALSE(seal.open(damaged, number));
            }
        }
    }
}

TEST(LedgerSealed, ZeroAndNegativeAreDamage) {
    std::uint64_t number;
    for (const Seal& seal : seals) {
        EXPECT_FALSE(seal.open(0, number));
        EXPECT_FALSE(seal.open(-1, number));
        EXPECT_FALSE(seal.open(-seal.close(1798761600000), number));
    }
}

TEST(LedgerSealed, NoneIsTakenForTheOther) {
    std::mt19937_64 random(3);
    int taken = 0;
    for (int i = 0; i < 100000; i++) {
        std::uint64_t number;
        taken += si_layout_seal.open(ceiling_seal.close(1700000000000 + random() % 1000000000000), number);
        taken += ceiling_seal.open(si_layout_seal.close(1700000000000 + random() % 1000000000000), number);
    }
    // One in 2^11, and one in 2^15.
    EXPECT_LT(taken, 200);
    std::uint64_t number;
    EXPECT_FALSE(si_layout_seal.open(ceiling_seal.close(0), number));
    EXPECT_FALSE(ceiling_seal.open(si_layout_seal.close(0), number));
}

// Words that are in files: they must stay what they are.
TEST(LedgerSealed, Known) {
    EXPECT_EQ(ceiling_seal.close(0), 22320);
    EXPECT_EQ(si_layout_seal.close(0), 64);
    for (const Seal& seal : seals) {
        for (const std::uint64_t number :
             {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{1798761600000}, seal.most()}) {
            std::uint64_t opened = ~number;
            EXPECT_TRUE(seal.open(seal.close(number), opened));
            EXPECT_EQ(opened, number);
            EXPECT_FALSE(seal.open(seal.close(number) ^ 1, opened));
        }
    }
}

// A seal whose check bits are all 0: only the sign tells.
TEST(LedgerSealed, SignIsLookedAtFirst) {
    constexpr Seal none{1, 8, 0};
    std::uint64_t number = 5;
    EXPECT_EQ(none.close(0), 0);
    EXPECT_FALSE(none.open(0, number));
    EXPECT_EQ(number, 5u);
    EXPECT_TRUE(none.open(none.close(1), number));
    EXPECT_EQ(number, 1u);
}

}  // namespace
}  // namespace snowflake_ids::ledger
