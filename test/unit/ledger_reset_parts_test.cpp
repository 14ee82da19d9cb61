// Each step of a reset by itself: which generators it means, and what it does to floors, revision and file.
#include "ledger/reset.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <functional>

#include "support/ledger_data_directory.hpp"
#include "support/times.hpp"

namespace snowflake_ids::ledger {
namespace {

using namespace snowflake_ids::test;

constexpr Key sno_0{Format::sno, 0, 0};

static_assert(Reset{}.floor == Floor{} && Reset{}.ceiling == Ceiling{} && Reset{}.node < 0);

struct LedgerResetSteps : testing::Test {
    DataDirectory data;
    ServerLife life{data, 1};
    Header& header = *life.ledger.header;

    Slot& slot_at(const Key& key, Ceiling at) const {
        Slot& slot = life.slot(key);
        lift_slot(slot, clamped_tick(timeline_of(slot), at), has_toggle(key.format));
        EXPECT_EQ(life.lifted(slot, at + 2500ms), CeilingError::none);
        return slot;
    }
    CeilingError apply(const Reset& reset) const { return ledger::apply_reset(data.place, life.ledger, reset).error; }
    CeilingError forced(SqlFormat format, int node) const {
        return apply({.floor = now, .ceiling = now + 2500ms, .format = format, .node = node, .force = true});
    }
    static UnixTime stands_at(const Slot& slot) { return ServerLife::stands_at(slot); }
    // The memory behind the last slot looks like a used slot of this generator.
    Word* behind_the_slots() const {
        auto* words = reinterpret_cast<Word*>(life.ledger.slots + slot_count);
        words[0].store(sno.pack());
        words[1].store(pack({.tick = max_tick(true)}, true));
        words[3].store(static_cast<std::uint64_t>(number_of(now + 99h)));
        return words;
    }
    Key of_the_first_slot() const {
        Key key = sno;
        while (&life.slot(key) != life.ledger.slots) {
            life.slot(key).key.store(0);
            key.node++;
        }
        return key;
    }
};

// ---- which generators

TEST_F(LedgerResetSteps, NodeZeroIsANode) {
    Slot &zero = slot_at(sno_0, now), &three = slot_at(sno, now);
    ASSERT_EQ(apply({.floor = now + 1h, .format = SqlFormat::sno, .node = 0}), CeilingError::none);
    EXPECT_EQ(stands_at(zero), now + 1h);
    EXPECT_EQ(stands_at(three), now);
    EXPECT_EQ(header.floor.load(), Ceiling{}) << "it names one generator";
}

TEST_F(LedgerResetSteps, OnlyOneGeneratorNeedsNoFloor) {
    slot_at(sno, now);
    slot_at(mastic, now);
    const auto floor_after = [&](SqlFormat format, int node) {
        header.floor.store({});
        EXPECT_EQ(apply({.floor = now, .format = format, .node = node}), CeilingError::none);
        return header.floor.load();
    };
    EXPECT_EQ(floor_after(SqlFormat::sno, 3), Floor{});
    EXPECT_EQ(floor_after(SqlFormat::sno, 4), now) << "not there yet";
    EXPECT_EQ(floor_after(SqlFormat::sno, -1), now);
    EXPECT_EQ(floor_after(SqlFormat::mastic, -1), Floor{});
    EXPECT_EQ(floor_after(SqlFormat::none, 3), now);
    EXPECT_EQ(floor_after(SqlFormat::none, 0), now);
    EXPECT_EQ(floor_after(SqlFormat::layout, 0), now);
    behind_the_slots();
    life.slot(sno).key.store(0);
    EXPECT_EQ(floor_after(SqlFormat::sno, 3), now) << "what is behind the slots is none";
}

TEST_F(LedgerResetSteps, TheFirstSlotIsOne) {
    const Key key = of_the_first_slot();
    Slot& first = slot_at(key, now);
    ASSERT_EQ(&first, life.ledger.slots);
    ASSERT_EQ(apply({.floor = now + 1h, .format = SqlFormat::sno, .node = key.node}), CeilingError::none);
    EXPECT_EQ(header.floor.load(), Ceiling{});
    EXPECT_EQ(stands_at(first), now + 1h);
    EXPECT_EQ(first.ceiling.load(), now + 1h) << "published: the next claim need not write the file";
    EXPECT_EQ(highest_ceiling(life.ledger), now + 1h);
    EXPECT_EQ(highest_issued(life.ledger, {}), now + 1h);
}

TEST_F(LedgerResetSteps, NothingBehindTheSlots) {
    slot_at(mastic, now);
    Word* const words = behind_the_slots();
    EXPECT_EQ(highest_ceiling(life.ledger), now + 2500ms);
    EXPECT_EQ(highest_issued(life.ledger, {}), now);
    const std::uint64_t word = words[1].load();
    ASSERT_EQ(forced(SqlFormat::none, -1), CeilingError::none);
    EXPECT_EQ(words[1].load(), word);
}

// ---- what was issued

TEST_F(LedgerResetSteps, HighestIssued) {
    EXPECT_EQ(highest_ceiling(life.ledger), Floor{});
    Slot& slot = life.slot(sno);
    EXPECT_EQ(highest_issued(life.ledger, {}), Floor{}) << "a slot that has issued nothing";
    slot.word.store(pack({.tick = 1}, true));
    EXPECT_EQ(highest_issued(life.ledger, {}), std::chrono::floor<milliseconds>(sno::timeline.start(1)));
    slot_at(sno, now);
    slot_at(mastic, now + 1h);
    EXPECT_EQ(highest_issued(life.ledger, {.format = SqlFormat::sno}), now);
    EXPECT_EQ(highest_issued(life.ledger, {}), now + 1h);
    slot.safe.store(clamped_tick(sno::timeline, now + 2h));
    EXPECT_EQ(highest_issued(life.ledger, {.format = SqlFormat::sno}), now + 2h);
}

TEST_F(LedgerResetSteps, PutSlot) {
    Slot& slot = life.slot(sno);
    slot.word.store(pack({.tick = 100, .next = 3, .drifts = 1}, true));
    slot.safe.store(99);
    put_slot(slot, 50, true);
    EXPECT_EQ(slot.safe.load(), 50u);
    EXPECT_EQ(slot.word.load(), pack({.tick = 50, .next = used_up, .drifts = 1}, true)) << "the toggle stays";
    put_slot(slot, max_tick(true) + 9, true);
    EXPECT_EQ(slot.safe.load(), max_tick(true));
    EXPECT_EQ(slot.word.load(), pack({.tick = max_tick(true), .next = used_up, .drifts = 1}, true));
}

// ---- floors, revision

TEST_F(LedgerResetSteps, ForcedOfAllLowersTheFloors) {
    slot_at(sno, now);
    ASSERT_EQ(apply({.floor = now + 1h}), CeilingError::none);
    for (const auto& [format, node] :
         {std::pair{SqlFormat::sno, 3}, {SqlFormat::sno, -1}, {SqlFormat::none, 3}, {SqlFormat::none, 0}}) {
        ASSERT_EQ(forced(format, node), CeilingError::none);
        EXPECT_EQ(header.floor.load(), now + 1h) << node;
        EXPECT_EQ(header.reset_floor.load(), now + 1h) << node;
    }
    ASSERT_EQ(forced(SqlFormat::none, -1), CeilingError::none);
    EXPECT_EQ(header.floor.load(), now);
    EXPECT_EQ(header.reset_floor.load(), now);
    EXPECT_EQ(data.content().floor, now);
}

TEST_F(LedgerResetSteps, EpochChangesOnceMoreAtTheEnd) {
    std::uint64_t at_sync = 0;
    on_sync = [&] {
        at_sync = header.revision.load();
        return 0;
    };
    ASSERT_EQ(forced(SqlFormat::none, -1), CeilingError::none);
    EXPECT_NE(at_sync, 0u);
    EXPECT_NE(header.revision.load(), at_sync);
}

TEST_F(LedgerResetSteps, HigherCeilingIsPublishedOnceItIsDurable) {
    Slot& slot = slot_at(sno, now);
    on_sync = [] { return EIO; };
    EXPECT_EQ(apply({.floor = now + 1h}), CeilingError::io);
    EXPECT_EQ(slot.ceiling.load(), now + 2500ms);
}

// ---- the file

TEST_F(LedgerResetSteps, WithoutADirectory) {
    const CeilingPlace nowhere{"/nowhere", 0600, DataDirectory::cluster, true, [] {}};
    const std::uint64_t revision = header.revision.load();
    const CeilingResult results[] = {ledger::apply_reset(nowhere, life.ledger, {}),
                                     check_ceilings(nowhere, life.ledger)};
    for (const CeilingResult& r : results) {
        EXPECT_EQ(r.error, CeilingError::io);
        EXPECT_EQ(r.system_errno, ENOENT);
    }
    EXPECT_EQ(header.revision.load(), revision);
}

TEST_F(LedgerResetSteps, LookWithTheLock) {
    LedgerMemory memory;
    EXPECT_EQ(check_ceilings(data.place, memory.make()).error, CeilingError::none) << "a life has not begun";
    on_lock = [] { return EWOULDBLOCK; };
    EXPECT_EQ(check_ceilings(data.place, life.ledger).error, CeilingError::busy);
}

}  // namespace
}  // namespace snowflake_ids::ledger
