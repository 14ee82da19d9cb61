// Finding the slot of a generator: one slot per generator whoever asks, until all are taken.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include "ledger/ceiling.hpp"
#include "ledger/claim.hpp"
#include "ledger/file.hpp"
#include "ledger/formats.hpp"
#include "ledger/freeze.hpp"
#include "ledger/life.hpp"
#include "ledger/waiting.hpp"
#include "ledger/word.hpp"
#include "support/ledger_process.hpp"

namespace snowflake_ids::ledger {
namespace {

using namespace snowflake_ids::test;

struct Memory {
    Header header;
    Slot slots[slot_count];
};

struct LedgerSlots : testing::Test {
    Shared<Memory> memory;
    Ledger ledger;
    LedgerSlots() {
        ledger.header = &memory->header;
        ledger.slots = memory->slots;
    }
};

Key sno_key(unsigned node, std::uint32_t owner = 0) { return {Format::sno, static_cast<std::uint16_t>(node), owner}; }

TEST_F(LedgerSlots, EveryKeyHasItsOwn) {
    std::set<Slot*> slots;
    for (const Format format : {Format::sno, Format::sno_at, Format::mastic, Format::snowflake_si}) {
        for (const std::uint16_t node : {0, 1, 2, 65535}) {
            Slot* slot = find_slot(ledger, {format, node, 0});
            ASSERT_NE(slot, nullptr);
            EXPECT_TRUE(slots.insert(slot).second);
            EXPECT_EQ(find_slot(ledger, {format, node, 0}), slot);
            EXPECT_EQ(find_slot(ledger, {format, node, 0}, false), slot);
        }
    }
}

// Of the backends that a crash restart has ended nobody takes itself off.
TEST_F(LedgerSlots, WhoWaitsIsCountedPerRun) {
    constexpr std::uint32_t run = 0xfffffffe, next = 2;
    Word& waiting = memory->slots[0].counters.waiting;
    begin_waiting(waiting, run);
    begin_waiting(waiting, run);
    EXPECT_EQ(waiting_in(run, waiting), 2U);
    end_waiting(waiting, run);
    EXPECT_EQ(waiting_in(run, waiting), 1U);
    EXPECT_EQ(waiting_in(next, waiting), 0U);
    begin_waiting(waiting, next);
    EXPECT_EQ(waiting_in(next, waiting), 1U);
    end_waiting(waiting, run);
    EXPECT_EQ(waiting_in(next, waiting), 1U);
    end_waiting(waiting, next);
    end_waiting(waiting, next);
    EXPECT_EQ(waiting_in(next, waiting), 0U);
}

struct FixedClock {
    std::uint64_t now;
    Result<std::uint64_t> tick() const { return {now}; }
    std::uint64_t monotonic_us() const { return 1000000; }
    std::int64_t us_until(std::uint64_t t) const { return static_cast<std::int64_t>(t - now) * 1000; }
    std::int64_t tick_us() const { return 1000; }
};

// A library before slots had a layout made Snowflake-SI slots without. The frozen one becomes theirs, once, and they go
// on: in the same life after the last id, in a new one above the ceiling.
TEST(LedgerSlotsOfBefore, SnowflakeSiIsAdopted) {
    const TemporaryDirectory dir;
    const Ledger l = attach(dir.c_str(), file_name, 0600, 1).ledger;
    ASSERT_TRUE(l);
    const std::int64_t base_ms = 1767225600000;
    const std::uint64_t frozen = pack_layout(base_ms, 5), other = pack_layout(base_ms, 2);
    const auto key = [](std::uint16_t node) { return Key{Format::snowflake_si, node, 0}; };
    Slot* const sno = find_slot(l, {Format::sno, 3, 0});
    std::vector<Slot*> old;
    for (const std::uint16_t node : {0, 3}) {
        old.push_back(find_slot(l, key(node)));
        old.back()->word.store(pack(State{.tick = 1000u + node, .next = 7}, false));
        EXPECT_FALSE(tells_time(*old.back()));
    }
    ASSERT_EQ(raise_ceiling(dir.c_str(), 0600, l, *old[0], base_ms + 5000, {~0ull, 0}, false).error,
              CeilingError::none);

    const Rules rules{.max = 255, .max_tick = max_tick(false)};
    FixedClock behind{500};
    for (const bool new_life : {false, true}) {
        if (new_life) {
            for (Slot* slot : old) slot->numbering.store(0);
            ASSERT_EQ(begin_life(dir.c_str(), 0600, l, {1, 2, 3}, 4, 0, false).error, CeilingError::none);
        }
        adopt_snowflake_si(l, frozen);
        adopt_snowflake_si(l, other);
        EXPECT_EQ(sno->numbering.load(), 0u);
        for (Slot* slot : old) {
            const std::uint16_t node = Key::unpack(slot->key.load()).node;
            EXPECT_EQ(slot->numbering.load(), frozen);
            EXPECT_TRUE(tells_time(*slot));
            EXPECT_EQ(timeline_of(*slot).epoch_us, base_ms * 1000);
            EXPECT_EQ(find_slot(l, key(node), true, frozen), slot);
            apply_floor(l, *slot);
            const Claim c = claim<false>(*slot, behind, 1, rules, no_limit);
            if (new_life) {
                EXPECT_EQ(c.outcome, Outcome::overflow);
                EXPECT_EQ(c.tick, 5000u);
            } else {
                EXPECT_EQ(c.outcome, Outcome::issued);
                EXPECT_EQ(c.tick, 1000u + node);
                EXPECT_EQ(c.first, 7u);
            }
            // The other layout has a slot of its own.
            Slot* const others = find_slot(l, key(node), true, other);
            ASSERT_NE(others, nullptr);
            EXPECT_EQ(others->numbering.load(), other);
            EXPECT_EQ(find_slot(l, key(node), false, frozen), slot);
        }
    }
}

TEST_F(LedgerSlots, LookingDoesNotMakeOne) {
    EXPECT_EQ(find_slot(ledger, sno_key(5), false), nullptr);
    for (const Slot& slot : memory->slots) EXPECT_EQ(slot.key.load(), 0u);
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

// Neighbouring nodes, as a configuration would have them, must not crowd the table.
TEST_F(LedgerSlots, NeighboursSpread) {
    std::size_t longest = 0, run = 0;
    for (unsigned node = 0; node < slot_count / 2; node++) find_slot(ledger, sno_key(node));
    for (const Slot& slot : memory->slots) {
        run = slot.key.load() != 0 ? run + 1 : 0;
        longest = std::max(longest, run);
    }
    EXPECT_LT(longest, 100u);
}

TEST_F(LedgerSlots, FirstOwnerStaysAndIsCounted) {
    for (unsigned node = 0; node < 30; node++) find_slot(ledger, sno_key(node, node % 3));
    for (std::uint32_t owner = 0; owner < 3; owner++) EXPECT_EQ(slots_owned(ledger, owner), 10u);
    EXPECT_EQ(slots_owned(ledger, 3), 0u);
    EXPECT_EQ(slots_owned(ledger), 20u);  // owner 0 is nobody
    // Another database that uses the generator shares its slot.
    Slot* slot = find_slot(ledger, sno_key(0));
    EXPECT_EQ(find_slot(ledger, sno_key(0, 77)), slot);
    EXPECT_EQ(Key::unpack(slot->key.load()).owner, 0u);
    EXPECT_EQ(slots_owned(ledger, 77), 0u);
    slot = find_slot(ledger, sno_key(100, 0xffffffff));
    EXPECT_EQ(find_slot(ledger, sno_key(100, 5)), slot);
    EXPECT_EQ(slots_owned(ledger, 0xffffffff), 1u);
}

// 16 processes ask for the same 1024 keys, each in its own order and for its own database.
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
        EXPECT_TRUE(Key::unpack(memory->slots[answers->slot[0][i]].key.load()).same_generator(sno_key(i * 64)));
    }
    EXPECT_EQ(used.size(), slot_count);
    std::uint32_t owned = 0;
    for (std::uint32_t owner = 1; owner <= processes; owner++) owned += slots_owned(ledger, owner);
    EXPECT_EQ(owned, slot_count);
}

}  // namespace
}  // namespace snowflake_ids::ledger
