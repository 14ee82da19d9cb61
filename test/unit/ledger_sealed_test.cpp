// The number with check bits that travels with WAL.
#include "ledger/sealed.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <random>

namespace snowflake_ids::ledger {
namespace {

constexpr const Seal& seal = ceiling_seal;

TEST(LedgerSealed, RoundTrip) {
    std::mt19937_64 random(1);
    for (int i = 0; i < 100000; i++) {
        const std::uint64_t number = i == 0 ? 0 : i == 1 ? seal.most() : random() & seal.most();
        const std::int64_t word = seal.close(number);
        std::uint64_t opened = ~number;
        EXPECT_GT(word, 0);
        EXPECT_TRUE(seal.open(word, opened));
        EXPECT_EQ(opened, number);
    }
}

TEST(LedgerSealed, HoldsWhatIsPutThere) {
    EXPECT_EQ(seal.most(), (std::uint64_t{1} << 48) - 1);  // as ledger::max_ceiling_ms
}

// Bits next to each other, as many as there are check bits: that is also each single bit.
TEST(LedgerSealed, TellsWhatIsDamaged) {
    std::mt19937_64 random(2);
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

TEST(LedgerSealed, ZeroAndNegativeAreDamage) {
    std::uint64_t number;
    EXPECT_FALSE(seal.open(0, number));
    EXPECT_FALSE(seal.open(-1, number));
    EXPECT_FALSE(seal.open(-seal.close(1798761600000), number));
}

// Words that are in files: they must stay what they are.
TEST(LedgerSealed, Known) {
    EXPECT_EQ(seal.close(0), 22320);
    for (const std::uint64_t number : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{1798761600000}, seal.most()}) {
        std::uint64_t opened = ~number;
        EXPECT_TRUE(seal.open(seal.close(number), opened));
        EXPECT_EQ(opened, number);
        EXPECT_FALSE(seal.open(seal.close(number) ^ 1, opened));
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
