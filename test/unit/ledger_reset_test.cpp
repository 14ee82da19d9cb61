// An operator's reset: what it leaves in the ledger and the ceiling file, also where a sync fails half-way.
#include "ledger/reset.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>

#include "core/snowflake_si.hpp"
#include "ledger/formats.hpp"
#include "ledger/life.hpp"
#include "support/ledger_process.hpp"

namespace {

// Called with each sync, in its place if it answers an errno.
std::function<int(const char* call)> on_sync;

int answer(const char* call) {
    const int error = on_sync ? on_sync(call) : 0;
    errno = error;
    return error == 0 ? 0 : -1;
}

}  // namespace

// In place of libc's: the ledger's own calls come here.
extern "C" int fdatasync(int) { return answer("fdatasync"); }
extern "C" int msync(void*, size_t, int) { return answer("msync"); }

namespace snowflake_ids::ledger {
namespace {

using namespace snowflake_ids::test;

constexpr std::uint64_t now_ms = 1798761600000, year_ms = 31536000000, base_ms = 1767225600000;
constexpr Along alone{~std::uint64_t{0}, 0};

struct LedgerReset : testing::Test {
    TemporaryDirectory dir;
    Ledger ledger;
    std::uint64_t lives = 0;

    LedgerReset() {
        make();
        on_sync = nullptr;
    }
    ~LedgerReset() override {
        on_sync = nullptr;
        detach(ledger);
    }
    void make() {
        ledger = attach(dir.c_str(), file_name, 0600, 1).ledger;
        ASSERT_TRUE(ledger);
        begin();
    }
    void begin() {
        lives++;
        ASSERT_EQ(begin_life(dir.c_str(), 0600, ledger, {lives, 2, 3}, lives, 0, true).error, CeilingError::none);
    }
    // A generator that has come to a time.
    Slot& slot_at(const Key& key, std::uint64_t ms, std::uint64_t numbering) {
        Slot& slot = *find_slot(ledger, key, true, numbering);
        if (has_time(key.format))
            raise_slot(slot, clamped_tick(timeline_of(slot), static_cast<std::int64_t>(ms) * 1000),
                       has_toggle(key.format));
        EXPECT_EQ(raise_ceiling(dir.c_str(), 0600, ledger, slot, ms + 2500, alone, true).error, CeilingError::none);
        return slot;
    }
    Slot& slot_at(const Key& key, std::uint64_t ms) {
        return slot_at(key, ms, key.format == Format::snowflake ? mastic_numbering : 0);
    }
    CeilingResult forced(Kind kind = Kind::none) const {
        return apply(dir.c_str(), 0600, ledger,
                     {.floor_ms = now_ms, .ceiling_ms = now_ms + 2500, .kind = kind, .force = true});
    }
    std::uint64_t in_file(const Slot& slot) const {
        std::ifstream in(dir / ceiling_file_name, std::ios::binary);
        const std::string bytes{std::istreambuf_iterator<char>(in), {}};
        const auto i = static_cast<std::uint32_t>(&slot - ledger.slots);
        std::uint64_t word, ms = 0;
        std::memcpy(&word, &bytes.at(i * sizeof word), sizeof word);
        EXPECT_TRUE(unpack_ceiling(word, i, ms));
        return ms;
    }
    // How many slots have published a ceiling beyond the one in the file.
    int beyond_the_file() const {
        int n = 0;
        for (std::uint32_t i = 0; i < slot_count; i++) n += ledger.slots[i].ceiling.load() > in_file(ledger.slots[i]);
        return n;
    }
};

constexpr Key mastic{Format::snowflake, 0, 0}, sno{Format::sno, 3, 0}, si{Format::snowflake, 0, 0};

std::uint64_t si_numbering(std::uint64_t base_clock_ms, unsigned machine_bits) {
    return pack_numbering(snowflake_si::layout(static_cast<std::int64_t>(base_clock_ms) * 1000, machine_bits).value)
        .value;
}

TEST_F(LedgerReset, ForcedGoesBackInMemoryAndFile) {
    Slot& far = slot_at(mastic, now_ms + year_ms);
    Slot& near = slot_at(sno, now_ms - 60000);
    const std::uint64_t epoch = ledger.header->epoch.load();
    ASSERT_EQ(forced().error, CeilingError::none);
    EXPECT_GT(ledger.header->epoch.load(), epoch);
    for (Slot* slot : {&far, &near}) {
        EXPECT_EQ(slot->ceiling.load(), now_ms + 2500);
        EXPECT_EQ(in_file(*slot), now_ms + 2500);
    }
    EXPECT_EQ(highest_issued_ms(ledger, {}), now_ms);
}

TEST_F(LedgerReset, ForcedOfOneLeavesTheOthers) {
    Slot& far = slot_at(mastic, now_ms + year_ms);
    slot_at(sno, now_ms + year_ms);
    ASSERT_EQ(forced(Kind::sno).error, CeilingError::none);
    EXPECT_EQ(far.ceiling.load(), now_ms + year_ms + 2500);
    EXPECT_EQ(in_file(far), now_ms + year_ms + 2500);
    EXPECT_EQ(beyond_the_file(), 0);
}

// The ledger was lost, and a ceiling speaks of a slot that is not there: whoever takes the slot must not rely on more
// than the file has, nor the next life begin there.
TEST_F(LedgerReset, ForcedTakesSlotsAlongThatAreGone) {
    slot_at(mastic, now_ms + year_ms);
    detach(ledger);
    std::filesystem::remove(dir / file_name);
    make();
    EXPECT_GT(ledger.header->floor_ms.load(), now_ms + year_ms);
    ASSERT_EQ(forced().error, CeilingError::none);
    EXPECT_EQ(beyond_the_file(), 0);
    EXPECT_EQ(find_slot(ledger, mastic, true, mastic_numbering)->ceiling.load(), now_ms + 2500);
    begin();
    EXPECT_LE(ledger.header->floor_ms.load(), now_ms + 2500);
}

// At no sync does a session, by what is published or by what it saw before the epoch changed, know more than the file.
TEST_F(LedgerReset, CeilingsOfSessionsGoDownFirst) {
    slot_at(mastic, now_ms + year_ms);
    slot_at(sno, now_ms + year_ms);
    const std::uint64_t epoch = ledger.header->epoch.load();
    int syncs = 0;
    on_sync = [&](const char*) {
        syncs++;
        EXPECT_EQ(beyond_the_file(), 0);
        EXPECT_NE(ledger.header->epoch.load(), epoch);
        return 0;
    };
    ASSERT_EQ(forced().error, CeilingError::none);
    EXPECT_GE(syncs, 2);
}

TEST_F(LedgerReset, FailedHalfWay) {
    for (const bool force : {true, false}) {
        for (const std::string failing : {"fdatasync", "msync"}) {
            on_sync = nullptr;
            slot_at(mastic, now_ms + year_ms);
            slot_at(sno, now_ms + year_ms);
            const std::uint64_t epoch = ledger.header->epoch.load();
            on_sync = [&](const char* call) { return call == failing ? ENOSPC : 0; };
            const CeilingResult r =
                apply(dir.c_str(), 0600, ledger,
                      {.floor_ms = now_ms + (force ? 0 : 2 * year_ms), .ceiling_ms = now_ms + 2500, .force = force});
            // Without force no ceiling is written.
            if (force || failing == "msync") {
                EXPECT_EQ(r.error, CeilingError::io);
                EXPECT_EQ(r.system_errno, ENOSPC);
            }
            EXPECT_EQ(beyond_the_file(), 0) << failing << force;
            EXPECT_NE(ledger.header->epoch.load(), epoch) << failing << force;
        }
    }
}

// A floor, even one above all ids, is below what the generators may still issue without asking.
TEST_F(LedgerReset, RepairedFileHasWhatIsPublished) {
    Slot& slot = slot_at(mastic, now_ms);
    std::filesystem::resize_file(dir / ceiling_file_name, 0);
    EXPECT_EQ(check_ceilings(dir.c_str(), 0600, ledger, true).error, CeilingError::damaged);
    ASSERT_EQ(repair_ceilings(dir.c_str(), 0600, ledger, now_ms + 1000, true).error, CeilingError::none);
    EXPECT_EQ(in_file(slot), now_ms + 2500);
    EXPECT_EQ(beyond_the_file(), 0);

    const std::uint64_t word = pack_ceiling(now_ms + 2500, static_cast<std::uint32_t>(&slot - ledger.slots)) ^ 1;
    std::fstream out(dir / ceiling_file_name, std::ios::binary | std::ios::in | std::ios::out);
    out.seekp((&slot - ledger.slots) * 8);
    out.write(reinterpret_cast<const char*>(&word), sizeof word);
    out.close();
    EXPECT_EQ(check_ceilings(dir.c_str(), 0600, ledger, true).error, CeilingError::damaged);
    ASSERT_EQ(repair_ceilings(dir.c_str(), 0600, ledger, now_ms + 1000, true).error, CeilingError::none);
    EXPECT_EQ(in_file(slot), now_ms + 2500);
}

// A Snowflake-SI node has a slot in each layout. The floor of one that is not there yet is the floor of all.
TEST_F(LedgerReset, SnowflakeSiNodeOfTheLayoutInForce) {
    const std::uint64_t old = si_numbering(base_ms, 5), other = si_numbering(base_ms, 6);
    const std::uint64_t floor_ms = now_ms + 3600000;
    const Reset reset{.floor_ms = floor_ms, .ceiling_ms = floor_ms + 2500, .kind = Kind::snowflake_si, .node = si.node};
    ledger.header->si_layout.store(old);
    Slot& of_old = slot_at(si, now_ms, old);
    ASSERT_EQ(apply(dir.c_str(), 0600, ledger, reset).error, CeilingError::none);
    EXPECT_EQ(ledger.header->floor_ms.load(), 0u);
    EXPECT_EQ(unpack(of_old.word.load(), 0, false).tick, floor_ms - base_ms);

    for (const std::uint64_t in_force : {std::uint64_t{0}, other}) {
        ledger.header->si_layout.store(in_force);
        ledger.header->floor_ms.store(0);
        ASSERT_EQ(apply(dir.c_str(), 0600, ledger, reset).error, CeilingError::none);
        EXPECT_EQ(ledger.header->floor_ms.load(), floor_ms) << in_force;
    }
    Slot& of_other = *find_slot(ledger, si, true, other);
    apply_floor(ledger, of_other);
    EXPECT_EQ(unpack(of_other.word.load(), 0, false).tick, floor_ms - base_ms);
}

// After the layout is forgotten, its slot keeps its numbering and the floor; the slot of the next one begins there too.
TEST_F(LedgerReset, SnowflakeSiForgotten) {
    const std::uint64_t old = si_numbering(base_ms, 5), other = si_numbering(now_ms, 5);
    for (const bool force : {false, true}) {
        Slot& slot = slot_at(si, now_ms, old);
        ledger.header->si_layout.store(old);
        const Reset reset{.floor_ms = now_ms + 1000,
                          .ceiling_ms = now_ms + 3500,
                          .kind = Kind::snowflake_si,
                          .force = force,
                          .unfreeze = true};
        ASSERT_EQ(apply(dir.c_str(), 0600, ledger, reset).error, CeilingError::none);
        EXPECT_EQ(ledger.header->si_layout.load(), 0u);
        EXPECT_EQ(slot.numbering.load(), old);
        EXPECT_EQ(unpack(slot.word.load(), 0, false).tick, now_ms + 1000 - base_ms);
        Slot& next = *find_slot(ledger, si, true, other);
        EXPECT_NE(&next, &slot);
        apply_floor(ledger, next);
        EXPECT_EQ(unpack(next.word.load(), 0, false).tick, 1000u);
    }
}

// A repair keeps the frozen layout only if it can be Snowflake-SI's: any other would stop the generators for good.
TEST_F(LedgerReset, RepairForgetsNoise) {
    std::uint64_t noise = 0;
    std::memcpy(&noise, "noisenoi", sizeof noise);
    const std::uint64_t good = si_numbering(base_ms, 5), other_shape = pack_numbering({{0, 1000, 41}, 10, 12}).value;
    for (const std::uint64_t word : {noise, std::uint64_t{0}, ~std::uint64_t{0}, other_shape, mastic_numbering, good}) {
        ledger.header->si_layout.store(word);
        detach(ledger);
        const Attached a = repair(dir.c_str(), file_name, 0600, 1, now_ms, true);
        ASSERT_EQ(a.error, FileError::none);
        ledger = a.ledger;
        EXPECT_EQ(ledger.header->si_layout.load(), word == good ? good : 0) << word;
    }
}

}  // namespace
}  // namespace snowflake_ids::ledger
