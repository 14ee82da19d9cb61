// A ceiling file that is not the one written last: missing, older, of a newer life, of another one.
#include "ledger/ceiling_file.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>

#include <sys/wait.h>
#include <unistd.h>

#include "ledger/reset.hpp"
#include "support/ledger_data_directory.hpp"

namespace snowflake_ids::ledger {
namespace {

using namespace snowflake_ids::test;
namespace fs = std::filesystem;

struct LedgerReplacedFile : testing::Test {
    DataDirectory data;
    std::unique_ptr<ServerLife> old = std::make_unique<ServerLife>(data, 1);
    Slot* of_old = &old->slot(sno);

    LedgerReplacedFile() { EXPECT_EQ(old->lifted(*of_old, now), CeilingError::none); }
    static void expect_restored(const ServerLife& life) {
        const Ceilings c = life.data.content();
        EXPECT_EQ(c.life, life.life());
        EXPECT_EQ(c.floor, life.ledger.header->reset_floor.load());
        for (std::uint32_t i = 0; i < slot_count; i++) {
            ASSERT_EQ(c.entries[i].ceiling, life.ledger.slots[i].ceiling.load()) << i;
            if (c.entries[i].ceiling == Ceiling{}) continue;
            ASSERT_EQ(c.entries[i].key, life.ledger.slots[i].key.load()) << i;
            ASSERT_EQ(c.entries[i].packed_layout, life.ledger.slots[i].packed_layout.load()) << i;
        }
    }
    static void use(const ServerLife& life) {
        EXPECT_EQ(life.lifted(life.slot(mastic), now + 5000ms), CeilingError::none);
        EXPECT_EQ(life.lifted(life.slot(of_calls), unix_ms(1)), CeilingError::none);
        EXPECT_EQ(apply_reset(life.data.place, life.ledger, {.floor = now - 9000ms, .ceiling = {}}).error,
                  CeilingError::none);
    }
};

TEST_F(LedgerReplacedFile, Missing) {
    use(*old);
    fs::remove(data.path);
    ASSERT_EQ(old->lifted(*of_old, now + 1ms), CeilingError::none);
    expect_restored(*old);
    EXPECT_EQ(old->in_file(old->slot(mastic)), now + 5000ms);
    EXPECT_EQ(data.content().entries[old->index(old->slot(of_calls))].key, of_calls.pack());
}

// Before it was locked, or while it was synced: nothing is published, and the caller tries again with a new file.
TEST_F(LedgerReplacedFile, RemovedDuringARaise) {
    const auto remove = [&] {
        fs::remove(data.path);
        return 0;
    };
    for (std::function<int()>* when : {&on_lock, &on_sync}) {
        const Ceiling before = of_old->ceiling.load();
        *when = remove;
        EXPECT_EQ(old->lifted(*of_old, before + 1ms), CeilingError::busy);
        EXPECT_EQ(of_old->ceiling.load(), before);
        *when = nullptr;
        ASSERT_EQ(old->lifted(*of_old, before + 1ms), CeilingError::none);
        expect_restored(*old);
    }
}

// Whoever moves the file away finds in it what it had then.
TEST_F(LedgerReplacedFile, MovedAwayBeforeTheLock) {
    const std::string away = data.path.string() + ".away";
    const auto bytes_of = [](const std::string& path) {
        std::ifstream file(path, std::ios::binary);
        return std::string(std::istreambuf_iterator<char>(file), {});
    };
    const std::string before = bytes_of(data.path.string());
    on_lock = [&] {
        fs::rename(data.path, away);
        fs::copy_file(away, data.path);
        return 0;
    };
    EXPECT_EQ(old->lifted(*of_old, now + 1ms), CeilingError::busy);
    on_lock = nullptr;
    EXPECT_EQ(bytes_of(away), before);
    EXPECT_EQ(old->lifted(*of_old, now + 1ms), CeilingError::none);
    EXPECT_EQ(bytes_of(away), before);
}

TEST_F(LedgerReplacedFile, OfAnOlderLife) {
    use(*old);
    Ceilings c = data.content();
    c.life = {old->life().number - 1, 2};
    c.floor = now + 1ms;
    c.entries[1] = {Key{Format::sno, 11, 0}.pack(), 0, now + 99999ms};
    data.put(c);
    ASSERT_EQ(old->lifted(*of_old, now + 1ms), CeilingError::none);
    EXPECT_EQ(data.content().entries[1].key, 0u);
    expect_restored(*old);
}

TEST_F(LedgerReplacedFile, OfThisLife) {
    const std::string bytes = data.bytes();
    use(*old);
    data.put(bytes);
    ASSERT_EQ(old->lifted(*of_old, now + 1ms), CeilingError::none);
    expect_restored(*old);
}

// Its writer was ended before it published it.
TEST_F(LedgerReplacedFile, HigherThanPublished) {
    Slot& other = old->slot(mastic);
    Ceilings c = data.content();
    c.entries[old->index(other)] = {mastic.pack(), packed_mastic, now + 9000ms};
    c.floor = unix_ms(5);
    data.put(c);
    ASSERT_EQ(old->lifted(*of_old, now + 1ms), CeilingError::none);
    EXPECT_EQ(other.ceiling.load(), now + 9000ms);
    EXPECT_EQ(old->in_file(other), now + 9000ms);
    EXPECT_EQ(data.content().floor, unix_ms(5));
}

// Nothing of a life that is over gets into the file or to its sessions.
void expect_superseded(const ServerLife& life, Slot& slot) {
    const std::string bytes = life.data.bytes();
    EXPECT_EQ(life.lifted(slot, now + 1ms), CeilingError::superseded);
    EXPECT_EQ(life.lifted(life.slot({Format::sno, 12, 0}), now), CeilingError::superseded);
    EXPECT_EQ(apply_reset(life.data.place, life.ledger, {.floor = now, .ceiling = now, .force = true}).error,
              CeilingError::superseded);
    EXPECT_EQ(check_ceilings(life.data.place, life.ledger).error, CeilingError::superseded);
    EXPECT_EQ(slot.ceiling.load(), now);
    EXPECT_EQ(test::begin_life(life.data, life.ledger, 99), CeilingError::none);
    EXPECT_EQ(life.data.bytes(), bytes);
}

template <class Writes>
bool ends_before_it_writes(const DataDirectory& data, Writes writes) {
    CeilingPlace orphaned = data.place;
    orphaned.before_write = [] { _exit(77); };
    const pid_t child = fork();
    if (child == 0) {
        writes(orphaned);
        _exit(0);
    }
    int status = 0;
    return waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 77;
}

// Its processes end before they write.
TEST(LedgerReplaced, NothingIsWrittenWithoutAServer) {
    const DataDirectory data;
    const LedgerMemory memory;
    const Ledger not_begun = memory.make();
    const ServerLife life(data, 2);
    Slot& slot = life.slot(sno);
    const auto begins = [&](const CeilingPlace& place) {
        bool began = false;
        (void) test::begin_life(place, not_begun, 3, {}, began);
    };
    const auto lifts = [&](const CeilingPlace& place) {
        (void) test::lift_ceiling(place, life.ledger, slot, now, no_others);
    };
    const auto resets = [&](const CeilingPlace& place) {
        (void) apply_reset(place, life.ledger, {.floor = now, .ceiling = now});
    };
    const auto looks = [&](const CeilingPlace& place) { (void) check_ceilings(place, life.ledger); };
    const auto each = [&] {
        EXPECT_TRUE(ends_before_it_writes(data, begins));
        EXPECT_TRUE(ends_before_it_writes(data, lifts));
        EXPECT_TRUE(ends_before_it_writes(data, resets));
    };
    const std::string bytes = data.bytes();
    each();
    EXPECT_FALSE(ends_before_it_writes(data, looks));
    EXPECT_EQ(data.bytes(), bytes);
    fs::remove(data.path);
    each();
    EXPECT_TRUE(ends_before_it_writes(data, looks));
    EXPECT_TRUE(fs::is_empty(data.path.parent_path()));
    EXPECT_EQ(life.lifted(slot, now), CeilingError::none);
}

TEST_F(LedgerReplacedFile, OfANewerLife) {
    const ServerLife newer(data, 2);
    expect_superseded(*old, *of_old);
    EXPECT_EQ(newer.lifted(newer.slot(sno), now + 1ms), CeilingError::none);
    expect_superseded(*old, *of_old);
}

TEST_F(LedgerReplacedFile, OfTheSameNumber) {
    Ceilings c = data.content();
    c.life.id = 2;
    data.put(c);
    expect_superseded(*old, *of_old);
}

TEST_F(LedgerReplacedFile, RemovedBetweenTwoLives) {
    while (static_cast<std::uint64_t>(std::time(nullptr)) <= old->life().number) usleep(1000);
    fs::remove(data.path);
    const ServerLife newer(data, 2);
    EXPECT_GT(newer.life().number, old->life().number);
    expect_superseded(*old, *of_old);
}

// It got another name while one waited for its lock.
TEST_F(LedgerReplacedFile, WhileItIsLocked) {
    const std::string bytes = data.bytes();
    {
        LockedCeilings locked(data.place);
        ASSERT_EQ(locked.open().error, CeilingError::none);
        fs::remove(data.path);
        data.put(bytes);
        EXPECT_EQ(old->lifted(*of_old, now + 1ms), CeilingError::none);
    }
    EXPECT_EQ(old->in_file(*of_old), now + 1ms);
}

TEST_F(LedgerReplacedFile, NothingStaysOpen) {
    const auto open_files = [] {
        std::size_t n = 0;
        for ([[maybe_unused]] const auto& e : fs::directory_iterator("/proc/self/fd")) n++;
        return n;
    };
    const std::size_t before = open_files();
    ASSERT_EQ(old->lifted(*of_old, now + 1ms), CeilingError::none);
    on_sync = [] { return EIO; };
    ASSERT_EQ(old->lifted(*of_old, now + 2ms), CeilingError::io);
    on_sync = nullptr;
    data.put("damaged");
    ASSERT_EQ(old->lifted(*of_old, now + 2ms), CeilingError::damaged);
    EXPECT_EQ(open_files(), before);
}

}  // namespace
}  // namespace snowflake_ids::ledger
