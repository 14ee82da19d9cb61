// A slot in memory: its cache lines and its key.
#include "ledger/slot.hpp"

#include <gtest/gtest.h>

namespace snowflake_ids::ledger {
namespace {

// Counters and neighbours stay out of the line.
TEST(LedgerSlot, HotLineIsAlone) {
    const Slot slot{};
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(&slot.counters) - reinterpret_cast<std::uintptr_t>(&slot), 64u);
    EXPECT_EQ(alignof(Slot), 64u);
    EXPECT_EQ(sizeof(Slot) % 64, 0u);
    EXPECT_EQ(memory_bytes, header_bytes + slot_count * sizeof(Slot) + group_count * sizeof(Group));
}

TEST(LedgerSlot, KeysSurvive) {
    for (const Format format : {Format::none, Format::sno, Format::sno_at, Format::snowflake}) {
        for (const std::uint16_t node : {0, 1, 255, 65535}) {
            for (const std::uint32_t owner : {0u, 1u, 0xffffffffu}) {
                const Key key{format, node, owner};
                const Key back = Key::unpack(key.pack());
                EXPECT_EQ(back.format, format);
                EXPECT_EQ(back.node, node);
                EXPECT_EQ(back.owner, owner);
                EXPECT_TRUE(back.same_generator({format, node, owner + 1}));
                EXPECT_FALSE(back.same_generator({format, static_cast<std::uint16_t>(node + 1), owner}));
            }
        }
        EXPECT_EQ((Key{format, 0, 0}.pack() == 0), format == Format::none);
    }
}

}  // namespace
}  // namespace snowflake_ids::ledger
