// One slot per generator, whichever process asks, until all are taken. A slot of a layout shows it even if the process
// that created the slot was killed.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <random>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "ledger/find_slot.hpp"
#include "ledger/formats.hpp"
#include "ledger/shared_memory.hpp"
#include "support/ledger_process.hpp"
#include "support/times.hpp"

namespace snowflake_ids::ledger {
namespace {

using namespace snowflake_ids::test;

struct LedgerSlots : testing::Test {
    LedgerMemory memory;
    Ledger ledger = memory.make();
    std::span<Slot, slot_count> all{ledger.slots, slot_count};
};

Key sno_key(unsigned node, std::uint32_t owner = 0) { return {Format::sno, static_cast<std::uint16_t>(node), owner}; }

TEST_F(LedgerSlots, EveryKeyHasItsOwn) {
    std::set<Slot*> slots;
    for (const Format format : {Format::sno, Format::sno_at, Format::snowflake}) {
        for (const std::uint16_t node : {0, 1, 2, 65535}) {
            Slot* slot = find_slot(ledger, {format, node, 0});
            ASSERT_NE(slot, nullptr);
            EXPECT_TRUE(slots.insert(slot).second);
            EXPECT_EQ(find_slot(ledger, {format, node, 0}), slot);
            EXPECT_EQ(find_slot(ledger, {format, node, 0}, false), slot);
        }
    }
}

TEST_F(LedgerSlots, LookingDoesNotMakeOne) {
    EXPECT_EQ(find_slot(ledger, sno_key(5), false), nullptr);
    for (const Slot& slot : all) EXPECT_EQ(slot.key.load(), 0u);
}

// A new life has only the slots of the ceiling file.
TEST_F(LedgerSlots, BehindAFreeOne) {
    const Slot* const home = find_slot(ledger, sno_key(0));
    unsigned node = 1;
    LedgerMemory other_memory;
    for (const Ledger alone = other_memory.make();; node++) {
        Slot* slot = find_slot(alone, sno_key(node));
        if (slot - alone.slots == home - ledger.slots) break;
        slot->key.store(0);
    }
    Slot* const behind = find_slot(ledger, sno_key(node));
    ASSERT_NE(behind, home);
    all[static_cast<std::size_t>(home - ledger.slots)].key.store(0);
    EXPECT_EQ(find_slot(ledger, sno_key(node), false), behind);
    EXPECT_EQ(find_slot(ledger, sno_key(node)), behind);
    EXPECT_EQ(find_slot(ledger, sno_key(0)), home);
}

TEST_F(LedgerSlots, EveryPlaceIsLookedAt) {
    const Slot* const home = find_slot(ledger, sno_key(0));
    const std::size_t first = static_cast<std::size_t>(home - ledger.slots);
    const std::uint64_t key = all[first].key.exchange(0);
    for (std::size_t i = 0; i < slot_count; i++) {
        all[i].key.store(key);
        ASSERT_EQ(find_slot(ledger, sno_key(0), false), &all[i]) << "behind free ones";
        all[i].key.store(0);
    }
    const std::uint64_t packed_layout = 99;
    for (std::size_t i = 0; i < slot_count; i++) {
        all[i].key.store(Key{Format::snowflake, 5, 0}.pack());
        all[i].packed_layout.store(packed_layout);
        ASSERT_TRUE(layout_used(ledger, packed_layout)) << i;
        all[i].key.store(0);
        all[i].packed_layout.store(0);
    }
    Slot& behind = *(ledger.slots + slot_count);
    behind.key.store(key);
    EXPECT_EQ(find_slot(ledger, sno_key(0), false), nullptr);
    behind.key.store(Key{Format::snowflake, 5, 0}.pack());
    behind.packed_layout.store(packed_layout);
    EXPECT_FALSE(layout_used(ledger, packed_layout));
    for (std::size_t i = 0; i < slot_count; i++) all[i].key.store(sno_key(1000 + static_cast<unsigned>(i)).pack());
    for (std::size_t i = 0; i < slot_count; i++) {
        const std::uint64_t other = all[i].key.exchange(0);
        ASSERT_EQ(find_slot(ledger, sno_key(0, 7)), &all[i]);
        ASSERT_EQ(slots_owned(ledger, 0), 1u);
        ASSERT_EQ(slots_owned(ledger, 7), 1u);
        all[i].key.store(other);
    }
}

TEST_F(LedgerSlots, AllFitAndNoMore) {
    std::vector<unsigned> nodes(65536);
    for (unsigned i = 0; i < nodes.size(); i++) nodes[i] = i;
    std::shuffle(nodes.begin(), nodes.end(), std::mt19937_64(1));
    std::set<Slot*> slots;
    for (std::size_t i = 0; i < slot_count; i++) slots.insert(find_slot(ledger, sno_key(nodes[i])));
    EXPECT_EQ(slots.size(), slot_count);
    EXPECT_EQ(slots.count(nullptr), 0u);

    const auto full = [&] { return find_slot(ledger, sno_key(nodes[slot_count])); };
    EXPECT_EQ(full(), nullptr);
    EXPECT_EQ(find_slot(ledger, sno_key(nodes[slot_count]), false), nullptr);
    for (std::size_t i = 0; i < slot_count; i++) EXPECT_EQ(slots.count(find_slot(ledger, sno_key(nodes[i]))), 1u);
    EXPECT_EQ(full(), nullptr);
}

TEST_F(LedgerSlots, NeighboursSpread) {
    std::size_t longest = 0, run = 0;
    for (unsigned node = 0; node < slot_count / 2; node++) find_slot(ledger, sno_key(node));
    for (const Slot& slot : all) {
        run = slot.key.load() != 0 ? run + 1 : 0;
        longest = std::max(longest, run);
    }
    EXPECT_LT(longest, 100u);
}

TEST_F(LedgerSlots, FirstOwnerStaysAndIsCounted) {
    for (unsigned node = 0; node < 30; node++) find_slot(ledger, sno_key(node, node % 3));
    for (std::uint32_t owner = 1; owner < 3; owner++) EXPECT_EQ(slots_owned(ledger, owner), 10u);
    EXPECT_EQ(slots_owned(ledger, 3), 0u);
    EXPECT_EQ(slots_owned(ledger, 0), 20u);  // but not those of nobody
    Slot* slot = find_slot(ledger, sno_key(0));
    EXPECT_EQ(find_slot(ledger, sno_key(0, 77)), slot);
    EXPECT_EQ(Key::unpack(slot->key.load()).owner, 0u);
    EXPECT_EQ(slots_owned(ledger, 77), 0u);
    slot = find_slot(ledger, sno_key(100, 0xffffffff));
    EXPECT_EQ(find_slot(ledger, sno_key(100, 5)), slot);
    EXPECT_EQ(slots_owned(ledger, 0xffffffff), 1u);
}

// 1024 keys, each in its own order and for its own database.
TEST_F(LedgerSlots, ConcurrentProcessesAgree) {
    constexpr unsigned processes = 16;
    struct Answers {
        Word go;
        std::uint16_t slot[processes][slot_count];
    };
    Shared<Answers> answers;
    std::vector<pid_t> pids;
    for (unsigned p = 0; p < processes; p++) {
        pids.push_back(spawn([&, p] {
            std::vector<unsigned> order(slot_count);
            for (unsigned i = 0; i < slot_count; i++) order[i] = i;
            std::shuffle(order.begin(), order.end(), std::mt19937_64(p));
            while (answers->go.load() == 0) sched_yield();
            for (const unsigned i : order) {
                Slot* slot = find_slot(ledger, sno_key(i * 64, p + 1));
                if (slot == nullptr) return 1;
                answers->slot[p][i] = static_cast<std::uint16_t>(slot - ledger.slots);
            }
            return find_slot(ledger, sno_key(3)) == nullptr ? 0 : 2;
        }));
    }
    answers->go.store(1);
    for (const pid_t pid : pids) EXPECT_EQ(wait_for(pid), 0);

    std::set<unsigned> used;
    for (unsigned i = 0; i < slot_count; i++) {
        for (unsigned p = 1; p < processes; p++) EXPECT_EQ(answers->slot[p][i], answers->slot[0][i]);
        used.insert(answers->slot[0][i]);
        EXPECT_TRUE(Key::unpack(ledger.slots[answers->slot[0][i]].key.load()).same_generator(sno_key(i * 64)));
    }
    EXPECT_EQ(used.size(), slot_count);
    std::uint32_t owned = 0;
    for (std::uint32_t owner = 1; owner <= processes; owner++) owned += slots_owned(ledger, owner);
    EXPECT_EQ(owned, slot_count);
}

// ---- slots of layouts

struct LedgerLayoutSlots : testing::Test {
    LedgerMemory memory;
    Ledger ledger = memory.make();
    static Key key(unsigned node) { return {Format::snowflake, static_cast<std::uint16_t>(node), 0}; }
    static std::uint64_t packed_layout(unsigned i) { return pack_layout({{unix_ms(i), 1ms, 41}, 10, 12}).value; }
};

TEST_F(LedgerLayoutSlots, OnePerLayoutAndNode) {
    std::set<Slot*> slots;
    for (unsigned i = 0; i < 300; i++) {
        EXPECT_FALSE(layout_used(ledger, packed_layout(i)));
        for (unsigned node = 0; node < 3; node++) {
            EXPECT_EQ(find_slot(ledger, key(node), false, packed_layout(i)), nullptr);
            Slot* slot = find_slot(ledger, key(node), true, packed_layout(i));
            ASSERT_NE(slot, nullptr);
            EXPECT_TRUE(slots.insert(slot).second);
            EXPECT_EQ(slot->packed_layout.load(), packed_layout(i));
            EXPECT_EQ(timeline_of(*slot).epoch, unix_ms(i));
        }
        EXPECT_TRUE(layout_used(ledger, packed_layout(i)));
    }
    for (unsigned i = 0; i < 300; i++)
        for (unsigned node = 0; node < 3; node++)
            EXPECT_EQ(slots.count(find_slot(ledger, key(node), false, packed_layout(i))), 1u);
}

// Left between packed layout and key, a slot is closed to other layouts only.
TEST_F(LedgerLayoutSlots, KilledMakers) {
    std::mt19937_64 random(5);
    for (std::size_t i = 0; i < slot_count; i++)
        if (random() % 2 != 0) ledger.slots[i].packed_layout.store(packed_layout(1000 + random() % 4));
    const auto left_over = [&] {
        return std::count_if(ledger.slots, ledger.slots + slot_count,
                             [](const Slot& slot) { return slot.packed_layout.load() >= packed_layout(1000); });
    };
    const auto at_first = left_over();
    std::set<Slot*> slots;
    for (unsigned i = 0; i < 300; i++) {
        Slot* slot = find_slot(ledger, key(7), true, packed_layout(i));
        ASSERT_NE(slot, nullptr);
        EXPECT_EQ(slot->packed_layout.load(), packed_layout(i));
        EXPECT_TRUE(slots.insert(slot).second);
    }
    EXPECT_EQ(left_over(), at_first)
        << "a packed layout that was set stays: its maker may still be about to set the key";
    for (unsigned i = 1000; i < 1004; i++)
        EXPECT_TRUE(slots.insert(find_slot(ledger, key(7), true, packed_layout(i))).second);
    for (unsigned node = 0; node < 600; node++) {
        Slot* slot = find_slot(ledger, {Format::sno, static_cast<std::uint16_t>(node), 0});
        ASSERT_NE(slot, nullptr);
        EXPECT_TRUE(slots.insert(slot).second);
    }
    for (unsigned i = 0; i < 300; i++) EXPECT_EQ(slots.count(find_slot(ledger, key(7), false, packed_layout(i))), 1u);
    for (unsigned node = 0; node < 600; node++)
        EXPECT_EQ(slots.count(find_slot(ledger, {Format::sno, static_cast<std::uint16_t>(node), 0}, false)), 1u);
}

}  // namespace
}  // namespace snowflake_ids::ledger
