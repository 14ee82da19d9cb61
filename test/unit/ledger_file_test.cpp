// The ledger file: made once whoever comes first, mapped by all, refused when it is not what
// it should be; and the search for a generator's slot in it.
#include "ledger/file.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "support/ledger_process.hpp"

namespace snowflake_ids::ledger {
namespace {

using namespace snowflake_ids::test;
namespace fs = std::filesystem;

constexpr std::uint64_t cluster = 7123456789012345678;

struct LedgerFile : testing::Test {
    TemporaryDirectory dir;
    fs::path path = dir / file_name;

    Attached attach_as(std::uint64_t system) const { return attach(dir.c_str(), file_name, 0600, system); }

    Ledger open() const {
        const Attached a = attach_as(cluster);
        EXPECT_EQ(a.error, FileError::none) << std::strerror(a.system_errno);
        return a.ledger;
    }
    void make() const {
        Ledger l = open();
        detach(l);
    }
    void expect_refused(FileError why, int system_errno = 0) const {
        const Attached a = attach_as(cluster);
        EXPECT_EQ(a.error, why);
        EXPECT_EQ(a.system_errno, system_errno) << std::strerror(a.system_errno);
        EXPECT_FALSE(a.ledger);
        EXPECT_EQ(a.ledger.slots, nullptr);
    }
    void overwrite(std::size_t offset, const std::string& bytes) const {
        std::fstream f(path, std::ios::in | std::ios::out | std::ios::binary);
        f.seekp(static_cast<std::streamoff>(offset));
        f << bytes;
        ASSERT_TRUE(f.good());
    }
    struct stat status() const {
        struct stat st {};
        EXPECT_EQ(lstat(path.c_str(), &st), 0);
        return st;
    }
};

std::set<int> open_files() {
    std::set<int> fds;
    for (const auto& e : fs::directory_iterator("/proc/self/fd")) fds.insert(std::stoi(e.path().filename()));
    return fds;
}

// ---- making it ----

TEST_F(LedgerFile, IsMadeAtFirstUse) {
    Ledger l = open();
    ASSERT_TRUE(l);
    EXPECT_EQ(l.header->magic, magic);
    EXPECT_EQ(l.header->version, format_version);
    EXPECT_EQ(l.header->system_identifier, cluster);
    EXPECT_GT(l.header->created_us, 1'700'000'000'000'000);
    EXPECT_EQ(reinterpret_cast<char*>(l.slots) - reinterpret_cast<char*>(l.header), 4096);
    for (std::size_t i = 0; i < slot_count; i++) {
        for (std::size_t j = 0; j < sizeof(Slot) / sizeof(Word); j++) {
            ASSERT_EQ(reinterpret_cast<Word*>(&l.slots[i])[j].load(), 0u);
        }
    }
    EXPECT_EQ(status().st_size, static_cast<off_t>(file_bytes));
    EXPECT_EQ(status().st_nlink, 1u);
    EXPECT_EQ(dir.files(), 1u);
    detach(l);
    EXPECT_FALSE(l);
}

TEST_F(LedgerFile, SecondAttachMapsTheSameMemory) {
    Ledger a = open();
    Ledger b = open();
    ASSERT_NE(a.header, b.header);
    a.slots[5].word.store(42);
    EXPECT_EQ(b.slots[5].word.load(), 42u);
    b.header->si_layout.store(7);
    EXPECT_EQ(a.header->si_layout.load(), 7u);
    detach(a);
    EXPECT_EQ(b.slots[5].word.load(), 42u);
    detach(b);
    // And it is still there when nobody had it mapped for a while.
    Ledger c = open();
    EXPECT_EQ(c.slots[5].word.load(), 42u);
    detach(c);
}

TEST_F(LedgerFile, AllSpaceIsAllocated) {
    make();
    // A hole could not be filled on a full disk, and a write to it would be a SIGBUS.
    EXPECT_GE(status().st_blocks * 512, static_cast<blkcnt_t>(file_bytes));
}

TEST_F(LedgerFile, ModeIsHonoured) {
    const mode_t before = umask(0077);  // as the server sets it for either kind of cluster
    for (const auto& [mode, mask] : {std::pair<mode_t, mode_t>{0600, 0077}, {0640, 0027}}) {
        umask(mask);
        Attached a = attach(dir.c_str(), file_name, mode, cluster);
        ASSERT_TRUE(a.ledger);
        EXPECT_EQ(status().st_mode & 07777, mode);
        detach(a.ledger);
        fs::remove(path);
    }
    umask(before);
}

// 32 processes at the same moment: one file, no left-over, all map the same memory.
TEST_F(LedgerFile, ManyCreatorsAtOnce) {
    for (int round = 0; round < 20; round++) {
        struct Meeting {
            Word ready, go, wrong;
        };
        Shared<Meeting> meeting;
        std::vector<pid_t> pids;
        for (std::uint64_t i = 0; i < 32; i++) {
            pids.push_back(spawn([&, i] {
                meeting->ready.fetch_add(1);
                while (meeting->go.load() == 0) sched_yield();
                const Attached a = attach_as(cluster);
                if (!a.ledger) return 1;
                a.ledger.slots[0].word.fetch_add(1);
                a.ledger.slots[1 + i].word.store(i + 1);
                return 0;
            }));
        }
        while (meeting->ready.load() < 32) usleep(100);
        meeting->go.store(1);
        for (const pid_t pid : pids) EXPECT_EQ(wait_for(pid), 0);
        EXPECT_EQ(dir.files(), 1u);
        EXPECT_EQ(status().st_nlink, 1u);
        Ledger l = open();
        EXPECT_EQ(l.slots[0].word.load(), 32u);
        for (std::uint64_t i = 0; i < 32; i++) EXPECT_EQ(l.slots[1 + i].word.load(), i + 1);
        detach(l);
        fs::remove(path);
    }
}

// Creators killed at random moments. Whatever they left, the next one gets a ledger.
TEST_F(LedgerFile, KilledCreatorsLeaveNothingInTheWay) {
    unsigned killed = 0;
    for (int round = 0; round < 150; round++) {
        const pid_t pid = spawn([&] { return attach_as(cluster).ledger ? 0 : 1; });
        usleep(static_cast<useconds_t>(round * 7));
        kill(pid, SIGKILL);
        const int status = wait_for(pid);
        killed += status != 0;
        Ledger l = open();
        ASSERT_TRUE(l) << "round " << round;
        detach(l);
        fs::remove(path);
    }
    std::printf("%u of 150 creators were killed before they were done\n", killed);
}

// Killed between making the file and giving it its name: the file of that pid is in the way.
TEST_F(LedgerFile, LeftOverOfACreatorWithTheSamePid) {
    const std::string name = std::string(file_name) + "." + std::to_string(getpid()) + ".tmp";
    std::ofstream(dir / name) << "half a ledger";
    make();
    EXPECT_FALSE(fs::exists(dir / name));
    EXPECT_EQ(dir.files(), 1u);
}

// Killed between link() and unlink(): the ledger is good, only its temporary name is left.
TEST_F(LedgerFile, LeftOverNameOfAKilledCreator) {
    make();
    fs::create_hard_link(path, dir / (std::string(file_name) + ".999999.tmp"));
    Ledger l = open();
    EXPECT_TRUE(l);
    detach(l);
    EXPECT_EQ(dir.files(), 1u);
    EXPECT_EQ(status().st_nlink, 1u);
}

TEST_F(LedgerFile, NothingStaysOpen) {
    const std::set<int> before = open_files();
    Ledger l = open();
    EXPECT_EQ(open_files(), before);
    detach(l);
    overwrite(0, "x");
    expect_refused(FileError::bad_magic);
    fs::resize_file(path, 100);
    expect_refused(FileError::bad_size);
    EXPECT_EQ(attach("/nonexistent", file_name, 0600, cluster).error, FileError::cannot_open);
    EXPECT_EQ(open_files(), before);
}

// A program started by another thread in just the wrong moment must not inherit it: all is
// opened close-on-exec. Looks at every open() of an attach through a child that stops there.
TEST_F(LedgerFile, CloseOnExec) {
    for (const bool fresh : {true, false}) {
        if (fresh) fs::remove(path);
        Shared<Word> closed;
        const pid_t pid = spawn([&] {
            // What whoever started the tests left open is not ours.
            for (int fd = 3; fd < 8; fd++) close(fd);
            closed->store(1);
            for (int i = 0; i < 400; i++) {
                Attached a = attach_as(cluster);
                if (!a.ledger) return 1;
                detach(a.ledger);
                if (fresh) unlink(path.c_str());
            }
            return 0;
        });
        // Flags of descriptors 3 and up, seen from outside while it works.
        const std::string info = "/proc/" + std::to_string(pid) + "/fdinfo/";
        unsigned seen = 0, inherited = 0;
        while (closed->load() == 0) sched_yield();
        while (waitpid(pid, nullptr, WNOHANG) == 0) {
            for (int fd = 3; fd < 8; fd++) {
                std::ifstream f(info + std::to_string(fd));
                std::string word;
                unsigned flags = 0;
                while (f >> word) {
                    if (word == "flags:" && f >> std::oct >> flags) {
                        seen++;
                        inherited += (flags & O_CLOEXEC) == 0;
                    }
                }
            }
        }
        EXPECT_EQ(inherited, 0u);
        std::printf("%u descriptors seen\n", seen);
    }
}

// ---- refusing it ----

TEST_F(LedgerFile, Damage) {
    struct Case {
        std::size_t offset;
        FileError error;
    };
    const Case cases[] = {
        {offsetof(Header, magic), FileError::bad_magic},
        {offsetof(Header, magic) + 7, FileError::bad_magic},
        {offsetof(Header, version), FileError::bad_version},
        {offsetof(Header, slot_bytes), FileError::bad_checksum},
        {offsetof(Header, slot_count), FileError::bad_checksum},
        {offsetof(Header, reserved0), FileError::bad_checksum},
        {offsetof(Header, system_identifier), FileError::bad_checksum},
        {offsetof(Header, created_us), FileError::bad_checksum},
        {offsetof(Header, checksum) + 3, FileError::bad_checksum},
    };
    for (const Case& c : cases) {
        make();
        char byte = 0;
        std::ifstream(path, std::ios::binary).seekg(static_cast<std::streamoff>(c.offset)).get(byte);
        overwrite(c.offset, std::string(1, static_cast<char>(byte ^ 0x10)));
        expect_refused(c.error);
        // Never repaired by guess, never replaced.
        expect_refused(c.error);
        fs::remove(path);
    }
}

TEST_F(LedgerFile, WrongSize) {
    for (const std::uintmax_t size :
         {std::uintmax_t{0}, std::uintmax_t{1}, std::uintmax_t{4096}, file_bytes - 1, file_bytes + 1, 2 * file_bytes}) {
        make();
        fs::resize_file(path, size);
        expect_refused(FileError::bad_size);
        EXPECT_EQ(fs::file_size(path), size);
        fs::remove(path);
    }
}

TEST_F(LedgerFile, OfAnotherCluster) {
    make();
    EXPECT_EQ(attach_as(cluster + 1).error, FileError::foreign);
    make();  // still good for its own
}

TEST_F(LedgerFile, HardLink) {
    make();
    fs::create_hard_link(path, dir / "copy");
    expect_refused(FileError::relinked);
    fs::remove(dir / "copy");
    make();
}

TEST_F(LedgerFile, SymbolicLink) {
    make();
    fs::rename(path, dir / "elsewhere");
    fs::create_symlink(dir / "elsewhere", path);
    expect_refused(FileError::cannot_open, ELOOP);
    // Nor is one followed to make a file at its end.
    fs::remove(dir / "elsewhere");
    expect_refused(FileError::cannot_open, ELOOP);
    EXPECT_FALSE(fs::exists(dir / "elsewhere"));
}

TEST_F(LedgerFile, NotAFile) {
    fs::create_directory(path);
    expect_refused(FileError::cannot_open, EISDIR);
    fs::remove(path);
    ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
    const Attached a = attach_as(cluster);
    EXPECT_EQ(a.error, FileError::bad_size);
}

TEST_F(LedgerFile, NoDirectory) {
    Attached a = attach((dir / "none").c_str(), file_name, 0600, cluster);
    EXPECT_EQ(a.error, FileError::cannot_open);
    EXPECT_EQ(a.system_errno, ENOENT);
    std::ofstream(dir / "file") << "x";
    a = attach((dir / "file").c_str(), file_name, 0600, cluster);
    EXPECT_EQ(a.error, FileError::cannot_open);
    EXPECT_EQ(a.system_errno, ENOTDIR);
}

// A name in a directory that does not exist: to open finds nothing, to create fails.
TEST_F(LedgerFile, CannotCreate) {
    const Attached a = attach(dir.c_str(), "none/ledger", 0600, cluster);
    EXPECT_EQ(a.error, FileError::cannot_create);
    EXPECT_EQ(a.system_errno, ENOENT);
    EXPECT_EQ(attach(dir.c_str(), std::string(250, 'x').c_str(), 0600, cluster).system_errno, ENAMETOOLONG);
    EXPECT_EQ(dir.files(), 0u);
}

TEST_F(LedgerFile, ReadOnlyDirectory) {
    if (geteuid() == 0) GTEST_SKIP() << "permissions do not stop root";
    ASSERT_EQ(chmod(dir.c_str(), 0500), 0);
    expect_refused(FileError::cannot_create, EACCES);
    ASSERT_EQ(chmod(dir.c_str(), 0700), 0);
    make();
    ASSERT_EQ(chmod(path.c_str(), 0400), 0);
    expect_refused(FileError::cannot_open, EACCES);
}

// No space: the creator says so and leaves nothing behind.
TEST_F(LedgerFile, FileSizeLimit) {
    const pid_t pid = spawn([&] {
        signal(SIGXFSZ, SIG_IGN);
        const rlimit small{65536, 65536};
        if (setrlimit(RLIMIT_FSIZE, &small) != 0) return 2;
        const Attached a = attach_as(cluster);
        return a.error == FileError::cannot_create && a.system_errno == EFBIG && dir.files() == 0 ? 0 : 1;
    });
    EXPECT_EQ(wait_for(pid), 0);
}

}  // namespace
}  // namespace snowflake_ids::ledger
