// Each step of begin_life.hpp by itself: what floors meet, and what a new life leaves in the header, in which order, and
// in the ceiling file.
#include "ledger/begin_life.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cerrno>
#include <ctime>
#include <filesystem>
#include <set>

#include "ledger/find_slot.hpp"
#include "support/ledger_data_directory.hpp"
#include "support/ledger_hooked.hpp"
#include "support/ledger_tape.hpp"
#include "support/times.hpp"

namespace snowflake_ids::ledger {
namespace {

using namespace snowflake_ids::test;
namespace fs = std::filesystem;

Rules rules_of(bool has_toggle) { return {.max = 9, .max_tick = max_tick(has_toggle), .has_toggle = has_toggle}; }

// ---- lift_slot()

struct Raised : Tape {
    explicit Raised(const State& state, bool has_toggle = false) : Tape(rules_of(has_toggle), state, 0) {}
    std::uint64_t lift(std::uint64_t tick) { return lift_slot(slot(), tick, rules.has_toggle); }
};

TEST(LedgerLiftSlot, NotBeyondTheLastTick) {
    for (const bool has_toggle : {false, true}) {
        Raised t({.tick = 100}, has_toggle);
        EXPECT_EQ(t.lift(max_tick(has_toggle) + 5), max_tick(has_toggle));
        EXPECT_EQ(t.state().tick, max_tick(has_toggle));
        EXPECT_EQ(t.state().safe, max_tick(has_toggle));
    }
}

TEST(LedgerLiftSlot, WordOfASlotThatIsPastTheTick) {
    Raised t({.tick = 100, .next = 3});
    EXPECT_EQ(t.lift(99), 100u);
    EXPECT_EQ(t.state().next, 3u) << "nothing to do";
    Raised with_toggle({.tick = 100, .safe = 80, .next = 3}, true);
    EXPECT_EQ(with_toggle.lift(99), 100u);
    EXPECT_EQ(with_toggle.state().next, used_up) << "a claim that has read the old `safe` must fail";
    EXPECT_EQ(with_toggle.state().safe, 100u);
}

// Every floor changes the word, until `next` has no room.
TEST(LedgerLiftSlot, AgainAtTheSameTick) {
    for (const bool has_toggle : {false, true}) {
        Raised t({.tick = 100, .next = 3}, has_toggle);
        for (const std::uint32_t next : {used_up, used_up + 1, used_up + 2}) {
            EXPECT_EQ(t.lift(100), 100u);
            EXPECT_EQ(t.state().next, next);
        }
        t.set({.tick = 100, .safe = 100, .next = next_mask - 1});
        EXPECT_EQ(t.lift(100), 100u);
        EXPECT_EQ(t.state().next, next_mask);
        EXPECT_EQ(t.lift(100), 101u);
        EXPECT_EQ(t.state().tick, 101u);
        EXPECT_EQ(t.state().safe, 101u);
        EXPECT_EQ(t.state().next, used_up);
    }
}

// ---- lift_floor() of a ledger

TEST(LedgerLiftFloor, OfAllSlots) {
    const DataDirectory data;
    const ServerLife life(data, 1);
    const Floor floor = unix_ms(1798761600000);
    const Slot &first = life.slot({Format::sno, 3, 0}), &second = life.slot({Format::snowflake, 0, 0});
    test::lift_floor(life.ledger, floor);
    for (const Slot* slot : {&first, &second}) EXPECT_GE(ServerLife::stands_at(*slot), floor - 4ms);
    EXPECT_EQ(life.ledger.header->floor.load(), floor);
}

// A slot that is created while the others are lifted is not among them. It must find the floor in the header.
TEST(LedgerRaise, FloorIsWrittenBeforeSlotsAreLifted) {
    struct {
        std::atomic<Floor> floor{};
    } header;
    const Floor floor = unix_ms(600);
    Floor of_listed{}, of_created{};
    lift_floor(
        header, 1, [&](std::uint32_t) -> Floor& { return of_listed; }, floor,
        [&](Floor& slot, Floor f) {
            slot = f;
            apply_floor(header, of_created, [](Floor& created, Floor found) { created = found; });
        });
    EXPECT_EQ(of_listed, floor);
    EXPECT_EQ(of_created, floor);
}

// ---- where a slot begins

static_assert(allowed_lead(unix_ms(1'002'500), unix_us(1'000'000'000)) == 5s,
              "twice what the floor is ahead of the clock");
static_assert(allowed_lead(unix_ms(1'000'000), unix_us(1'000'000'000)) == 0s &&
              allowed_lead(unix_ms(5), unix_us(1'000'000'000)) == 0s);
static_assert(lead_ticks(5s, 4ms) == 1253 && lead_ticks(0s, 1ms) == 3 && lead_ticks(999us, 1ms) == 3);

// Ids far ahead of the clock: by as much as the life is old, and half a second at most.
TEST(LedgerLifeSteps, LiftStep) {
    struct Host {
        Header& h;
        microseconds w;
        Header& header() const { return h; }
        microseconds window() const { return w; }
    };
    const LedgerMemory memory;
    Header& header = *memory.make().header;
    const UnixTime began = unix_us(1'000'000'000);
    header.life_began.store(began);
    Host long_window{header, 60s}, short_window{header, 1s};
    EXPECT_EQ(lift_step(long_window, began + 5ms), 10ms);
    EXPECT_EQ(lift_step(long_window, began + 100ms), 100ms);
    EXPECT_EQ(lift_step(long_window, began + 1h), 500ms);
    EXPECT_EQ(lift_step(short_window, began + 1h), 250ms);
    EXPECT_EQ(lift_step(long_window, began - 1s), 500ms) << "the clock has gone back";
}

TEST(LedgerLifeSteps, FirstHeldTickBeginsAtOnce) {
    for (const bool has_toggle : {false, true}) {
        Tape t(rules_of(has_toggle), {.tick = 100, .next = 1}, 50);
        begin_slot(t.slot(), 110, has_toggle);
        EXPECT_EQ(t.state().tick, 110u);
        EXPECT_EQ(t.cells[begun_cell], detail::pack_begun(0, 110));
        Tape same(rules_of(has_toggle), {.tick = 100, .next = 1}, 50);
        same.cells[begun_cell] = 77;
        begin_slot(same.slot(), 100, has_toggle);
        EXPECT_EQ(same.cells[begun_cell], 77u);
    }
}

// ---- a life, with a file of two entries

struct File {
    struct Content {
        Life life;
        Floor floor{};
        CeilingEntry entries[4];
    };
    Content content;
    CeilingError read_error = CeilingError::none, write_error = CeilingError::none;
    mutable Content written{};

    CeilingResult read(Content& c) const {
        c = content;
        return {read_error, 0, -1};
    }
    CeilingResult write(const Content& c) const {
        written = c;
        return {write_error, 0, -1};
    }
};

struct LedgerLifeBegins : testing::Test {
    struct {
        HookedWord<> life_id, life_number;
        HookedWord<Floor> reset_floor, floor;
    } header;
    struct Entry {
        HookedWord<> packed_layout, key;
        HookedWord<Ceiling> ceiling;
    } slots[4];
    File file;
    std::multiset<Floor> resumed;

    CeilingError begin(Floor at_least = unix_ms(500), std::uint64_t now_s = 100) {
        const auto at = [this](std::uint32_t i) -> Entry& { return slots[i]; };
        const auto resume = [this](Entry&, Floor floor) { resumed.insert(floor); };
        return begin_locked_life(header, 4, at, resume, file, 9, at_least, now_s).error;
    }
};

TEST_F(LedgerLifeBegins, AllIsThereBeforeTheId) {
    file.content.life = {5, 6};
    file.content.floor = unix_ms(600);
    file.content.entries[1] = {11, 12, unix_ms(700)};
    file.content.entries[3] = {21, 22, unix_ms(300)};
    bool begun = false;
    header.life_id.before_store = [&] {
        begun = true;
        EXPECT_EQ(header.life_number.value, 100u);
        EXPECT_EQ(header.reset_floor.value, unix_ms(600));
        EXPECT_EQ(header.floor.value, unix_ms(600));
        EXPECT_EQ(slots[1].key.value, 11u);
        EXPECT_EQ(slots[1].packed_layout.value, 12u);
        EXPECT_EQ(slots[1].ceiling.value, unix_ms(700));
        EXPECT_EQ(slots[3].ceiling.value, unix_ms(300));
        EXPECT_EQ(resumed, (std::multiset<Floor>{unix_ms(500), unix_ms(700)})) << "free entries have no slot to raise";
    };
    EXPECT_EQ(begin(), CeilingError::none);
    EXPECT_TRUE(begun);
    EXPECT_EQ(header.life_id.value, 9u);
}

TEST_F(LedgerLifeBegins, Number) {
    for (const auto& [before, number] :
         {std::pair<std::uint64_t, std::uint64_t>{5, 100}, {98, 100}, {99, 100}, {100, 101}, {500, 501}}) {
        header.life_id.value = 0;
        file.content.life.number = before;
        EXPECT_EQ(begin(), CeilingError::none);
        EXPECT_EQ(header.life_number.value, number);
        EXPECT_EQ(file.written.life, (Life{number, 9}));
    }
}

TEST_F(LedgerLifeBegins, FileThatCannotBeReadOrWritten) {
    file.read_error = CeilingError::damaged;
    EXPECT_EQ(begin(), CeilingError::damaged);
    EXPECT_EQ(file.written.life, Life{}) << "nothing was written";
    file.read_error = CeilingError::none;
    file.write_error = CeilingError::io;
    EXPECT_EQ(begin(), CeilingError::io);
    EXPECT_EQ(header.life_id.value, 0u);
}

// ---- with the real file and memory

TEST(LedgerLifeFile, NothingIsSaidIfItCannotBegin) {
    const DataDirectory data;
    LedgerMemory memory;
    const Ledger ledger = memory.make();
    bool began = true;
    data.put("damaged");
    const CeilingResult r = test::begin_life(data.place, ledger, 1, Floor{}, began);
    EXPECT_EQ(r.error, CeilingError::damaged);
    EXPECT_EQ(r.system_errno, 0);
    EXPECT_EQ(r.slot, -1);
    EXPECT_FALSE(began);
}

struct LedgerFloor : testing::Test {
    LedgerMemory memory;
    Ledger ledger = memory.make();
    static constexpr Floor floor = unix_ms(1798761600000);

    Slot& slot(Format format) const { return *find_slot(ledger, {format, 3, 0}); }
    std::uint64_t floor_tick() const { return clamped_tick(sno::timeline, floor); }
};

TEST_F(LedgerFloor, NoneChangesNothing) {
    test::apply_floor(ledger, slot(Format::sno));
    EXPECT_EQ(slot(Format::sno).word.load(), 0u);
}

TEST_F(LedgerFloor, MeansNothingToCountedIds) {
    ledger.header->floor.store(floor);
    test::apply_floor(ledger, slot(Format::sno_at));
    EXPECT_EQ(slot(Format::sno_at).word.load(), 0u);
}

TEST_F(LedgerFloor, RaisesWhatIsNotAboveIt) {
    ledger.header->floor.store(floor);
    Slot& s = slot(Format::sno);
    for (const std::uint64_t tick : {floor_tick() - 1, floor_tick()}) {
        s.word.store(pack({.tick = tick, .next = 3}, true));
        test::apply_floor(ledger, s);
        EXPECT_EQ(unpack(s.word.load(), 0, true).tick, floor_tick());
        EXPECT_GE(unpack(s.word.load(), 0, true).next, used_up);
    }
    const std::uint64_t above = pack({.tick = floor_tick() + 1, .next = 3}, true);
    s.word.store(above);
    test::apply_floor(ledger, s);
    EXPECT_EQ(s.word.load(), above);
}

// ---- what a new life makes of the ceiling file

TEST(LedgerBegunLife, FirstOne) {
    const DataDirectory data;
    const auto before = static_cast<std::uint64_t>(std::time(nullptr));
    const LedgerMemory memory;
    const Ledger ledger = memory.make();
    bool began = false;
    ASSERT_EQ(test::begin_life(data.place, ledger, 42, now, began).error, CeilingError::none);
    EXPECT_TRUE(began);
    const Life life = life_of(*ledger.header);
    EXPECT_EQ(life.id, 42u);
    EXPECT_GE(life.number, before);
    EXPECT_LE(life.number, static_cast<std::uint64_t>(std::time(nullptr)));
    EXPECT_GE(ledger.header->life_began.load(), UnixTime{seconds{before}});
    EXPECT_EQ(ledger.header->floor.load(), now);
    EXPECT_EQ(data.content().life, life);
    EXPECT_EQ(data.content().floor, Ceiling{});
    EXPECT_EQ(fs::status(data.path).permissions(), fs::perms(0600));
    ASSERT_EQ(test::begin_life(data.place, ledger, 43, now + 5ms, began).error, CeilingError::none);
    EXPECT_FALSE(began);
    EXPECT_EQ(life_of(*ledger.header), life);
    EXPECT_EQ(data.content().life, life);
    EXPECT_EQ(ledger.header->floor.load(), now);
}

TEST(LedgerBegunLife, NextOneBeginsAtTheCeilings) {
    const DataDirectory data;
    const ServerLife life(data, 1);
    ASSERT_EQ(life.lifted(life.slot(sno), now), CeilingError::none);
    ASSERT_EQ(life.lifted(life.slot(mastic), now + 7000ms), CeilingError::none);
    ASSERT_EQ(life.lifted(life.slot(of_calls), unix_ms(1)), CeilingError::none);
    const ServerLife next(data, 2, now + 1000ms);
    EXPECT_GT(next.life().number, life.life().number);
    EXPECT_EQ(next.life().id, 2u);
    for (const Key& key : {sno, mastic, of_calls}) {
        EXPECT_EQ(next.index(next.slot(key)), life.index(life.slot(key)));
        EXPECT_EQ(next.slot(key).ceiling.load(), life.slot(key).ceiling.load());
        EXPECT_EQ(next.slot(key).key.load(), key.pack());
    }
    EXPECT_EQ(next.slot(mastic).packed_layout.load(), packed_mastic);
    EXPECT_EQ(ServerLife::stands_at(next.slot(sno)), now + 1000ms);
    EXPECT_EQ(ServerLife::stands_at(next.slot(mastic)), now + 7000ms);
    EXPECT_EQ(next.slot(of_calls).word.load(), 0u);
    EXPECT_EQ(next.ledger.header->floor.load(), now + 1000ms);
}

// Its writer could not sync it: nothing is published, and no life begins.
TEST(LedgerBegunLife, NotBegunWithoutASync) {
    const DataDirectory data;
    {
        const ServerLife life(data, 1);
        ASSERT_EQ(life.lifted(life.slot(sno), now), CeilingError::none);
    }
    const LedgerMemory memory;
    const Ledger ledger = memory.make();
    on_sync = [] { return EIO; };
    bool began = true;
    const CeilingResult r = test::begin_life(data.place, ledger, 2, Floor{}, began);
    EXPECT_EQ(r.error, CeilingError::io);
    EXPECT_EQ(r.system_errno, EIO);
    EXPECT_FALSE(began);
    EXPECT_FALSE(has_begun(*ledger.header));
    EXPECT_EQ(find_slot(ledger, sno, false), nullptr);
    on_sync = nullptr;
    EXPECT_EQ(test::begin_life(data, ledger, 3), CeilingError::none);
}

}  // namespace
}  // namespace snowflake_ids::ledger
