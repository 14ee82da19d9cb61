// What a lift makes of the ceiling file, also when it cannot be written.
#include "ledger/ceiling_file.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>

#include <sys/resource.h>
#include <sys/stat.h>

#include "support/ledger_data_directory.hpp"

namespace snowflake_ids::ledger {
namespace {

using namespace snowflake_ids::test;
namespace fs = std::filesystem;

TEST(LedgerLift, IsDurableBeforeItIsPublished) {
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

TEST(LedgerLift, AsksBeforeTheWrite) {
    static int asked;
    DataDirectory data;
    const ServerLife life(data, 1);
    const Slot& slot = life.slot(sno);
    data.place.before_write = [] { asked++; };
    for (int n = 0; n < 2; n++) {
        asked = 0;
        EXPECT_EQ(life.lifted(slot, slot.ceiling.load() + 1ms), CeilingError::none);
        EXPECT_EQ(asked, 1);
    }
}

TEST(LedgerLift, Along) {
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

TEST(LedgerLift, FailedSyncPublishesNothing) {
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

TEST(LedgerLift, FailedWritePublishesNothing) {
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

TEST(LedgerLift, DirectoryGone) {
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

TEST(LedgerLift, SymbolicLinkRefused) {
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

TEST(LedgerLift, NotAFile) {
    const DataDirectory data;
    ASSERT_EQ(mkfifo(data.path.c_str(), 0600), 0);
    const LedgerMemory memory;
    const Ledger ledger = memory.make();
    EXPECT_EQ(test::begin_life(data, ledger, 1), CeilingError::io);
    fs::remove(data.path);
    fs::create_directory(data.path);
    EXPECT_EQ(test::begin_life(data, ledger, 1), CeilingError::io);
}

TEST(LedgerLift, LockedByAnother) {
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

TEST(LedgerLift, WithoutSync) {
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
