// The number with check bits that travels with WAL.
#include "ledger/sealed.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <random>

#include "ledger/ceiling_file.hpp"

namespace snowflake_ids::ledger {
namespace {

TEST(LedgerSealed, RoundTrip) {
    std::mt19937_64 random(1);
    for (int i = 0; i < 100000; i++) {
        const std::uint64_t number = i == 0 ? 0 : i == 1 ? max_sealed : random() & max_sealed;
        const std::int64_t word = seal(number);
        EXPECT_GT(word, 0);
        EXPECT_EQ(unseal(word), number);
        EXPECT_FALSE(unseal(word ^ 1));
    }
}

TEST(LedgerSealed, HoldsWhatIsPutThere) { EXPECT_EQ(max_sealed, (std::uint64_t{1} << 48) - 1); }

// Also each single bit.
TEST(LedgerSealed, TellsWhatIsDamaged) {
    std::mt19937_64 random(2);
    for (int i = 0; i < 2000; i++) {
        const auto word = static_cast<std::uint64_t>(seal(random() & max_sealed));
        for (unsigned width = 1; width <= check_bits; width++) {
            const std::uint64_t ends = 1 | std::uint64_t{1} << (width - 1);
            const std::uint64_t burst = ends | (random() & (ends - 1));
            EXPECT_FALSE(unseal(static_cast<std::int64_t>(word ^ burst << random() % (64 - width + 1))));
        }
    }
}

TEST(LedgerSealed, ZeroAndNegativeAreDamage) {
    EXPECT_FALSE(unseal(0));
    EXPECT_FALSE(unseal(-1));
    EXPECT_FALSE(unseal(-seal(1798761600000)));
}

// These words are in files.
TEST(LedgerSealed, Known) {
    EXPECT_EQ(seal(0), 22320);
    EXPECT_EQ(seal(1798761600000), 58941820108814034);
    EXPECT_EQ(seal(max_sealed), 9223372036854744351);
}

}  // namespace
}  // namespace snowflake_ids::ledger
