// Files of the data directory when calls of the kernel are interrupted, do less than asked, or fail.
#include "ledger/data_file.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "ledger/ceiling_file.hpp"
#include "support/ledger_process.hpp"

namespace {

// Replace libc's. Of the first two: how many bytes it may take; 0: none; less: an errno.
std::function<long(std::size_t)> on_read, on_write;
std::function<int()> on_fsync;

template <class Call>
ssize_t answer(const std::function<long(std::size_t)>& on, std::size_t size, Call call) {
    const long n = on ? on(size) : static_cast<long>(size);
    if (n > 0) return call(std::min(static_cast<std::size_t>(n), size));
    if (n < 0) errno = static_cast<int>(-n);
    return n < 0 ? -1 : 0;
}

}  // namespace

extern "C" ssize_t pread(int fd, void* data, std::size_t size, off_t offset) {
    return answer(on_read, size, [=](std::size_t n) { return syscall(SYS_pread64, fd, data, n, offset); });
}
extern "C" ssize_t pwrite(int fd, const void* data, std::size_t size, off_t offset) {
    return answer(on_write, size, [=](std::size_t n) { return syscall(SYS_pwrite64, fd, data, n, offset); });
}
extern "C" int fsync(int) {
    errno = on_fsync ? on_fsync() : 0;
    return errno == 0 ? 0 : -1;
}

namespace snowflake_ids::ledger {
namespace {

using namespace snowflake_ids::test;

struct LedgerDirectory : testing::Test {
    static constexpr const char* name = "a.file";
    TemporaryDirectory dir;
    int dir_fd = open_directory(dir.c_str());

    ~LedgerDirectory() override {
        on_read = on_write = nullptr;
        on_fsync = nullptr;
        close(dir_fd);
    }
    int create(const std::string& content, bool sync = true, const char* as = name) const {
        return create_file(dir_fd, as, 0600, content.data(), content.size(), sync);
    }
    std::string content() const {
        std::ifstream in(dir / name, std::ios::binary);
        return {std::istreambuf_iterator<char>(in), {}};
    }
    int next_fd() const {
        const int fd = dup(dir_fd);
        close(fd);
        return fd;
    }
};

TEST_F(LedgerDirectory, ReadsInPieces) {
    ASSERT_EQ(create("0123456789"), 0);
    const int fd = open_existing(dir_fd, name);
    on_read = [](std::size_t) { return 4; };
    char bytes[20] = {};
    std::size_t done = 0;
    EXPECT_EQ(read_file(fd, bytes, 6, done), 0);
    EXPECT_EQ(done, 6u);
    EXPECT_EQ(std::string(bytes), "012345");
    EXPECT_EQ(read_file(fd, bytes, 20, done), 0);
    EXPECT_EQ(std::string(bytes, done), "0123456789");
    close(fd);
}

TEST_F(LedgerDirectory, ReadsAgainIfInterrupted) {
    ASSERT_EQ(create("0123456789"), 0);
    const int fd = open_existing(dir_fd, name);
    int calls = 0;
    on_read = [&](std::size_t) { return calls++ == 0 ? -EINTR : 10; };
    char bytes[20];
    std::size_t done = 0;
    EXPECT_EQ(read_file(fd, bytes, 10, done), 0);
    EXPECT_EQ(done, 10u);
    on_read = [](std::size_t) { return -EIO; };
    EXPECT_EQ(read_file(fd, bytes, 10, done), EIO);
    // Not an interruption, whatever errno the last call left.
    on_read = [](std::size_t) {
        errno = EINTR;
        return 0;
    };
    EXPECT_EQ(read_file(fd, bytes, 10, done), 0);
    EXPECT_EQ(done, 0u);
    close(fd);
}

TEST_F(LedgerDirectory, WritesInPieces) {
    int calls = 0;
    on_write = [&](std::size_t) { return calls++ == 0 ? -EINTR : 4; };
    EXPECT_EQ(create("0123456789"), 0);
    EXPECT_EQ(content(), "0123456789");
    EXPECT_EQ(calls, 4);
}

TEST_F(LedgerDirectory, CannotWrite) {
    on_write = [](std::size_t) { return -EDQUOT; };
    EXPECT_EQ(create("0123456789"), EDQUOT);
    on_write = [](std::size_t) {
        errno = EINTR;
        return 0;
    };
    EXPECT_EQ(create("0123456789"), ENOSPC) << "nothing was written, and nobody says why";
    EXPECT_EQ(dir.files(), 0u);
}

TEST_F(LedgerDirectory, SyncsFileAndName) {
    int syncs = 0, fails = 0;
    on_fsync = [&] { return ++syncs == fails ? EIO : 0; };
    EXPECT_EQ(create("x", false), 0);
    EXPECT_EQ(syncs, 0) << "as the server's setting says";
    std::filesystem::remove(dir / name);
    for (const int fail : {0, 1, 2}) {
        syncs = 0, fails = fail;
        EXPECT_EQ(create("x"), fail == 0 ? 0 : EIO) << fail;
        EXPECT_EQ(syncs, fail == 1 ? 1 : 2);
        EXPECT_EQ(std::filesystem::exists(dir / name), fail != 1);
        std::filesystem::remove(dir / name);
    }
}

TEST_F(LedgerDirectory, SyncOfData) {
    ASSERT_EQ(create("x"), 0);
    const int fd = open_existing(dir_fd, name);
    errno = EIO;
    EXPECT_EQ(sync_data(fd), 0);
    close(fd);
    EXPECT_EQ(sync_data(fd), EBADF);
}

// Its creator may have ended before it synced the name: the reader of an unwritten ceiling file does it.
TEST_F(LedgerDirectory, NameOfANewCeilingFile) {
    LockedCeilings file({dir.c_str(), 0600, 1, true, [] {}});
    ASSERT_EQ(file.open().error, CeilingError::none);
    on_fsync = [] { return EIO; };
    Ceilings c;
    EXPECT_EQ(file.read(c).error, CeilingError::io);
    c.life = {1, 2};
    EXPECT_EQ(file.write(c).error, CeilingError::none);
    EXPECT_EQ(file.read(c).error, CeilingError::none) << "a life has written it";
}

TEST_F(LedgerDirectory, FileNumberZero) {
    const pid_t pid = spawn([&] {
        close(0);
        errno = EIO;
        if (create("whole") != 0 || content() != "whole") return 1;
        return next_fd() == 0 ? 0 : 2;
    });
    EXPECT_EQ(wait_for(pid), 0);
}

TEST_F(LedgerDirectory, NameThatIsTooLong) {
    const std::size_t rest = std::string("." + std::to_string(getpid()) + ".tmp").size();
    EXPECT_EQ(create("x", true, std::string(127 - rest, 'x').c_str()), 0);
    EXPECT_EQ(create("x", true, std::string(128 - rest, 'y').c_str()), ENAMETOOLONG);
    EXPECT_EQ(dir.files(), 1u);
}

}  // namespace
}  // namespace snowflake_ids::ledger
