// What a lift and a new life make of the ceiling file, also when it cannot be written.
#include "ledger/ceiling_file.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <csignal>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <string>

#include <sys/resource.h>
#include <sys/stat.h>

#include "ledger/find_slot.hpp"
#include "support/ledger_data_directory.hpp"

namespace snowflake_ids::ledger {
namespace {

using namespace snowflake_ids::test;
namespace fs = std::filesystem;

// ---- lives ----

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

// ---- lifts ----

TEST(LedgerRaise, IsDurableBeforeItIsPublished) {
    const DataDirectory data;
    const ServerLife life(data, 1);
    Slot& slot = life.slot(sno);
    int syncs = 0;
    on_sync = [&] {
        syncs++;
        EXPECT_EQ(life.in_file(slot), now);
        EXPECT_EQ(slot.ceiling.load(), Ceiling{});
        return 0;
    };
    ASSERT_EQ(life.lifted(slot, now), CeilingError::none);
    EXPECT_EQ(slot.ceiling.load(), now);
    EXPECT_EQ(syncs, 1);
    EXPECT_EQ(life.in_file(slot), now);
    EXPECT_EQ(data.content().entries[life.index(slot)].key, sno.pack());
}

TEST(LedgerRaise, Along) {
    const DataDirectory data;
    const ServerLife life(data, 1);
    Slot &idle = life.slot({Format::sno, 1, 0}), &used = life.slot({Format::sno, 2, 0}), &slot = life.slot(sno),
         &far = life.slot({Format::sno, 4, 0}), &fresh = life.slot({Format::sno, 5, 0});
    ASSERT_EQ(life.lifted(idle, now), CeilingError::none);
    ASSERT_EQ(life.lifted(used, now + 1ms), CeilingError::none);
    ASSERT_EQ(life.lifted(far, now + 90000ms), CeilingError::none);
    ASSERT_EQ(life.lift(slot, now + 50000ms, {now, now + 2500ms}).error, CeilingError::none);
    const auto expect = [&](const Slot& s, Ceiling expected) {
        EXPECT_EQ(s.ceiling.load(), expected);
        EXPECT_EQ(life.in_file(s), expected);
    };
    expect(slot, now + 50000ms);
    expect(idle, now);
    expect(used, now + 2500ms);
    expect(far, now + 90000ms);
    expect(fresh, Ceiling{});
    ASSERT_EQ(life.lift(fresh, now + 2000ms, {now - 1ms, now + 2500ms}).error, CeilingError::none);
    expect(idle, now + 2000ms);
    expect(used, now + 2500ms);
}

TEST(LedgerRaise, FailedSyncPublishesNothing) {
    const DataDirectory data;
    const ServerLife life(data, 1);
    Slot &slot = life.slot(sno), &other = life.slot(mastic);
    ASSERT_EQ(life.lifted(slot, now), CeilingError::none);
    ASSERT_EQ(life.lifted(other, now), CeilingError::none);
    for (const int error : {EIO, ENOSPC, EDQUOT}) {
        on_sync = [error] { return error; };
        const CeilingResult r = life.lift(slot, now + 1000ms, {now - 1ms, now + 500ms});
        EXPECT_EQ(r.error, CeilingError::io);
        EXPECT_EQ(r.system_errno, error);
        EXPECT_EQ(slot.ceiling.load(), now);
        EXPECT_EQ(other.ceiling.load(), now);
    }
    on_sync = nullptr;
    EXPECT_EQ(life.lifted(slot, now + 1ms), CeilingError::none);
    EXPECT_GE(slot.ceiling.load(), now + 1ms);
}

TEST(LedgerRaise, FailedWritePublishesNothing) {
    const DataDirectory data;
    const ServerLife life(data, 1);
    Slot& slot = life.slot(sno);
    ASSERT_EQ(life.lifted(slot, now), CeilingError::none);
    rlimit before;
    ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
    const auto handler = std::signal(SIGXFSZ, SIG_IGN);
    for (const rlim_t limit : {rlim_t{0}, rlim_t{4096}, rlim_t{ceiling_file_bytes - 1}}) {
        const rlimit small{limit, before.rlim_max};
        ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
        const CeilingResult r = life.lift(slot, now + 1000ms + milliseconds{limit}, no_others);
        ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
        EXPECT_EQ(r.error, CeilingError::io);
        EXPECT_EQ(r.system_errno, EFBIG);
        EXPECT_EQ(slot.ceiling.load(), now);
        EXPECT_GE(life.in_file(slot), now);
    }
    std::signal(SIGXFSZ, handler);
    EXPECT_EQ(life.lifted(slot, now + 99999ms), CeilingError::none);
}

TEST(LedgerRaise, DirectoryGone) {
    const DataDirectory data;
    const ServerLife life(data, 1);
    Slot& slot = life.slot(sno);
    ASSERT_EQ(life.lifted(slot, now), CeilingError::none);
    fs::rename(data.dir.path(), data.dir.path().string() + ".gone");
    CeilingResult r = life.lift(slot, now + 1ms);
    EXPECT_EQ(r.error, CeilingError::io);
    EXPECT_EQ(r.system_errno, ENOENT);
    std::ofstream(data.dir.path()) << "a file";
    r = life.lift(slot, now + 1ms);
    EXPECT_EQ(r.error, CeilingError::io);
    EXPECT_EQ(r.system_errno, ENOTDIR);
    EXPECT_EQ(slot.ceiling.load(), now);
    fs::remove(data.dir.path());
    fs::rename(data.dir.path().string() + ".gone", data.dir.path());
    EXPECT_EQ(life.lifted(slot, now + 1ms), CeilingError::none);
}

TEST(LedgerRaise, SymbolicLinkRefused) {
    const DataDirectory data;
    const ServerLife life(data, 1);
    Slot& slot = life.slot(sno);
    fs::rename(data.path, data.dir / "elsewhere");
    fs::create_symlink("elsewhere", data.path);
    for (const bool dangling : {false, true}) {
        if (dangling) fs::remove(data.dir / "elsewhere");
        const CeilingResult r = life.lift(slot, now);
        EXPECT_EQ(r.error, CeilingError::io);
        EXPECT_EQ(r.system_errno, ELOOP);
        EXPECT_EQ(slot.ceiling.load(), Ceiling{});
    }
    EXPECT_FALSE(fs::exists(data.dir / "elsewhere"));
}

TEST(LedgerRaise, NotAFile) {
    const DataDirectory data;
    ASSERT_EQ(mkfifo(data.path.c_str(), 0600), 0);
    const LedgerMemory memory;
    const Ledger ledger = memory.make();
    EXPECT_EQ(test::begin_life(data, ledger, 1), CeilingError::io);
    fs::remove(data.path);
    fs::create_directory(data.path);
    EXPECT_EQ(test::begin_life(data, ledger, 1), CeilingError::io);
}

TEST(LedgerRaise, LockedByAnother) {
    const DataDirectory data;
    const ServerLife life(data, 1);
    Slot& slot = life.slot(sno);
    {
        LockedCeilings other(data.place);
        ASSERT_EQ(other.open().error, CeilingError::none);
        EXPECT_EQ(life.lifted(slot, now), CeilingError::busy);
    }
    EXPECT_EQ(life.lifted(slot, now), CeilingError::none);
}

TEST(LedgerRaise, WithoutSync) {
    const DataDirectory data;
    const ServerLife life(data, 1);
    CeilingPlace place = data.place;
    place.sync = false;
    on_sync = [] { return EIO; };
    Slot& slot = life.slot(sno);
    EXPECT_EQ(test::lift_ceiling(place, life.ledger, slot, now, no_others).error, CeilingError::none);
    EXPECT_EQ(slot.ceiling.load(), now);
}

}  // namespace
}  // namespace snowflake_ids::ledger
