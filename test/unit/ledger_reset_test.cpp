// An operator's reset: what it leaves in the ledger and the ceiling file, also if a sync fails half-way.
#include "ledger/reset.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "core/snowflake_si.hpp"
#include "ledger/begin_life.hpp"
#include "ledger/find_slot.hpp"
#include "ledger/formats.hpp"
#include "support/ledger_data_directory.hpp"
#include "support/times.hpp"

namespace snowflake_ids::ledger {
namespace {

using namespace snowflake_ids::test;

constexpr Ceiling base = unix_ms(1767225600000);
constexpr milliseconds year = 365 * 24h;

struct LedgerReset : testing::Test {
    DataDirectory data;
    std::unique_ptr<ServerLife> life;
    Ledger ledger;
    std::uint64_t lives = 0;

    LedgerReset() { begin(); }
    void begin() {
        life = std::make_unique<ServerLife>(data, ++lives);
        ledger = life->ledger;
    }
    Slot& slot_at(const Key& key, Ceiling at, std::uint64_t packed_layout = 0) {
        Slot& slot = life->slot(key, packed_layout);
        if (has_time(key.format)) lift_slot(slot, clamped_tick(timeline_of(slot), at), has_toggle(key.format));
        EXPECT_EQ(life->lifted(slot, at + 2500ms), CeilingError::none);
        return slot;
    }
    CeilingResult apply(const Reset& reset) const { return ledger::apply_reset(data.place, ledger, reset); }
    CeilingResult forced(SqlFormat format = SqlFormat::none) const {
        return apply({.floor = now, .ceiling = now + 2500ms, .format = format, .force = true});
    }
    CeilingResult check() const { return check_ceilings(data.place, ledger); }
    Ceiling in_file(const Slot& slot) const { return life->in_file(slot); }
    int beyond_the_file() const {
        const Ceilings c = data.content();
        int n = 0;
        for (std::uint32_t i = 0; i < slot_count; i++) n += ledger.slots[i].ceiling.load() > c.entries[i].ceiling;
        return n;
    }
};

constexpr Key si{Format::snowflake, 0, 0};

TEST_F(LedgerReset, ForcedGoesBackInMemoryAndFile) {
    Slot& far = slot_at(mastic, now + year);
    Slot& near = slot_at(sno, now - 60000ms);
    const std::uint64_t revision = ledger.header->revision.load();
    ASSERT_EQ(forced().error, CeilingError::none);
    EXPECT_GT(ledger.header->revision.load(), revision);
    for (Slot* slot : {&far, &near}) {
        EXPECT_EQ(slot->ceiling.load(), now + 2500ms);
        EXPECT_EQ(in_file(*slot), now + 2500ms);
    }
    EXPECT_EQ(highest_issued(ledger, {}), now);
}

TEST_F(LedgerReset, ForcedOfOneLeavesTheOthers) {
    Slot& far = slot_at(mastic, now + year);
    slot_at(sno, now + year);
    ASSERT_EQ(forced(SqlFormat::sno).error, CeilingError::none);
    EXPECT_EQ(far.ceiling.load(), now + year + 2500ms);
    EXPECT_EQ(in_file(far), now + year + 2500ms);
    EXPECT_EQ(beyond_the_file(), 0);
}

TEST_F(LedgerReset, ForcedHoldsInTheNextLife) {
    slot_at(mastic, now + year);
    slot_at(sno, now + 2 * year);
    begin();
    EXPECT_EQ(ServerLife::stands_at(life->slot(sno)), now + 2 * year + 2500ms);
    ASSERT_EQ(forced().error, CeilingError::none);
    EXPECT_EQ(beyond_the_file(), 0);
    begin();
    for (const Key& key : {mastic, sno}) {
        EXPECT_EQ(life->slot(key).ceiling.load(), now + 2500ms);
        EXPECT_EQ(ServerLife::stands_at(life->slot(key)), now + 2500ms);
    }
    EXPECT_LE(ledger.header->floor.load(), now + 2500ms);
}

TEST_F(LedgerReset, FloorHoldsInTheNextLife) {
    Slot& far = slot_at(mastic, now + year);
    slot_at(sno, now);
    ASSERT_EQ(apply({.floor = now + 1000000ms}).error, CeilingError::none);
    EXPECT_EQ(ServerLife::stands_at(far), now + year);
    for (int i = 0; i < 2; i++) {
        EXPECT_EQ(ledger.header->floor.load(), now + 1000000ms);
        EXPECT_EQ(ServerLife::stands_at(life->slot(sno)), now + 1000000ms);
        begin();
    }
    Slot& fresh = life->slot({Format::sno, 4, 0});
    test::apply_floor(ledger, fresh);
    EXPECT_EQ(ServerLife::stands_at(fresh), now + 1000000ms);
}

// At no sync do sessions know more than the file.
TEST_F(LedgerReset, CeilingsOfSessionsGoDownFirst) {
    slot_at(mastic, now + year);
    slot_at(sno, now + year);
    const std::uint64_t revision = ledger.header->revision.load();
    int syncs = 0;
    on_sync = [&] {
        syncs++;
        EXPECT_EQ(beyond_the_file(), 0);
        EXPECT_NE(ledger.header->revision.load(), revision);
        return 0;
    };
    ASSERT_EQ(forced().error, CeilingError::none);
    EXPECT_EQ(syncs, 1);
}

TEST_F(LedgerReset, FailedHalfWay) {
    for (const bool force : {true, false}) {
        on_sync = nullptr;
        slot_at(mastic, now + year);
        slot_at(sno, now + year);
        const std::uint64_t revision = ledger.header->revision.load();
        on_sync = [] { return ENOSPC; };
        const CeilingResult r = apply({.floor = now + (force ? 0 : 2) * year, .ceiling = now + 2500ms, .force = force});
        EXPECT_EQ(r.error, CeilingError::io);
        EXPECT_EQ(r.system_errno, ENOSPC);
        EXPECT_EQ(beyond_the_file(), 0) << force;
        EXPECT_NE(ledger.header->revision.load(), revision) << force;
    }
}

// ---- a damaged file ----

std::string flipped(std::string bytes, std::size_t at) {
    bytes.at(at) = static_cast<char>(bytes[at] ^ 1);
    return bytes;
}

bool same(const Ceilings& a, const Ceilings& b) {
    for (std::uint32_t i = 0; i < slot_count; i++) {
        const CeilingEntry &x = a.entries[i], &y = b.entries[i];
        if (x.key != y.key || x.packed_layout != y.packed_layout || x.ceiling != y.ceiling) return false;
    }
    return a.life == b.life && a.floor == b.floor;
}

// Nothing writes to it. When somebody moves it away, memory has all of it.
TEST_F(LedgerReset, DamagedInALife) {
    Slot& slot = slot_at(mastic, now);
    ASSERT_EQ(apply({.floor = now - 1000ms}).error, CeilingError::none);
    const std::string good = data.bytes();
    const Ceilings whole = data.content();
    const std::size_t entry = ceiling_header_bytes + life->index(slot) * ceiling_entry_bytes;
    // Byte 8: the version; 16: the cluster, with a checksum that does not fit.
    for (const std::string& bad : {std::string(), good.substr(0, 100), good.substr(0, entry + 5), good + "x",
                                   flipped(good, 8), flipped(good, 16), flipped(good, entry + 16)}) {
        data.put(bad);
        const CeilingError error = check().error;
        EXPECT_TRUE(error == CeilingError::damaged || error == CeilingError::other_version);
        EXPECT_EQ(life->lifted(slot, now + 9999ms), error);
        EXPECT_EQ(apply({.floor = now + 1000ms}).error, error);
        EXPECT_EQ(forced().error, error);
        EXPECT_EQ(data.bytes(), bad);
        EXPECT_EQ(slot.ceiling.load(), now + 2500ms);
        std::filesystem::remove(data.path);
        EXPECT_EQ(check().error, CeilingError::none);
        Slot& other = life->slot(sno);
        ASSERT_EQ(life->lifted(other, other.ceiling.load() + 1ms), CeilingError::none);
        Ceilings again = data.content();
        EXPECT_EQ(again.entries[life->index(other)].ceiling, other.ceiling.load());
        again.entries[life->index(other)] = {};
        EXPECT_TRUE(same(again, whole)) << bad.size();
    }
}

// No life begins, and no reset changes anything. Without the file, a floor that the operator names covers what was
// lost.
TEST_F(LedgerReset, DamagedBeforeTheLife) {
    Slot& slot = slot_at(sno, now + 3000ms);
    const LedgerMemory fresh;
    const Ledger not_begun = fresh.make();
    const std::string bad = flipped(data.bytes(), ceiling_header_bytes + life->index(slot) * ceiling_entry_bytes);
    data.put(bad);
    EXPECT_EQ(test::begin_life(data, not_begun, 9), CeilingError::damaged);
    EXPECT_EQ(check_ceilings(data.place, not_begun).slot, static_cast<int>(life->index(slot)));
    EXPECT_EQ(ledger::apply_reset(data.place, not_begun, {.floor = now + 600000ms}).error, CeilingError::damaged);
    EXPECT_EQ(not_begun.header->floor.load(), Ceiling{});
    EXPECT_EQ(data.bytes(), bad);

    std::filesystem::remove(data.path);
    ASSERT_EQ(test::begin_life(data, not_begun, 9, now), CeilingError::none);
    EXPECT_EQ(not_begun.header->floor.load(), now);
    ASSERT_EQ(ledger::apply_reset(data.place, not_begun, {.floor = now + 600000ms}).error, CeilingError::none);
    Slot& again = *find_slot(not_begun, sno);
    test::apply_floor(not_begun, again);
    EXPECT_EQ(ServerLife::stands_at(again), now + 600000ms);
    EXPECT_EQ(data.content().floor, now + 600000ms);
}

// One node is one generator. If it has no slot yet, the floor of all rises.
TEST_F(LedgerReset, SnowflakeSiNode) {
    const Reset reset{
        .floor = now + 3600000ms, .ceiling = now + 3602500ms, .format = SqlFormat::snowflake_si, .node = 0};
    ASSERT_EQ(apply(reset).error, CeilingError::none);
    EXPECT_EQ(ledger.header->floor.load(), reset.floor);
    ledger.header->floor.store({});
    Slot& slot = slot_at(si, now, packed_snowflake_si);
    ASSERT_EQ(apply(reset).error, CeilingError::none);
    EXPECT_EQ(ledger.header->floor.load(), Ceiling{});
    EXPECT_EQ(unpack(slot.word.load(), 0, false).tick, static_cast<std::uint64_t>((reset.floor - base).count()));
}

}  // namespace
}  // namespace snowflake_ids::ledger
