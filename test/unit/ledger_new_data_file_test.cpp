// Files of the data directory: made whole or not at all. ledger_data_file_test.cpp has calls of the kernel that fail.
#include "ledger/data_file.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/ledger_process.hpp"

namespace snowflake_ids::ledger {
namespace {

using namespace snowflake_ids::test;
namespace fs = std::filesystem;

struct DirectoryFile : testing::Test {
    static constexpr const char* name = "a.file";
    TemporaryDirectory dir;
    int dir_fd = open_directory(dir.c_str());
    fs::path path = dir / name;

    ~DirectoryFile() override { close(dir_fd); }
    int create(const std::string& content, unsigned mode = 0600) const {
        return create_file(dir_fd, name, mode, content.data(), content.size(), true);
    }
    std::string content() const {
        std::ifstream in(path, std::ios::binary);
        return {std::istreambuf_iterator<char>(in), {}};
    }
};

TEST_F(DirectoryFile, KeepsAnExistingFile) {
    EXPECT_EQ(create("first"), 0);
    EXPECT_EQ(create("second"), 0);
    EXPECT_EQ(content(), "first");
    EXPECT_EQ(dir.files(), 1u);
}

TEST_F(DirectoryFile, ModeIsHonoured) {
    const mode_t before = umask(0077);
    for (const auto& [mode, mask] : {std::pair<mode_t, mode_t>{0600, 0077}, {0640, 0027}}) {
        umask(mask);
        EXPECT_EQ(create("x", mode), 0);
        EXPECT_EQ(static_cast<mode_t>(fs::status(path).permissions()), mode);
        fs::remove(path);
    }
    umask(before);
}

TEST_F(DirectoryFile, ManyCreatorsAtOnce) {
    for (int round = 0; round < 20; round++) {
        struct Meeting {
            Word ready, go;
        };
        Shared<Meeting> meeting;
        std::vector<pid_t> pids;
        for (char i = 0; i < 32; i++) {
            pids.push_back(spawn([&, i] {
                meeting->ready.fetch_add(1);
                while (meeting->go.load() == 0) sched_yield();
                if (create(std::string(9000, static_cast<char>('A' + i))) != 0) return 1;
                const std::string seen = content();
                return seen == std::string(9000, seen[0]) ? seen[0] : 2;
            }));
        }
        while (meeting->ready.load() < 32) usleep(100);
        meeting->go.store(1);
        std::set<int> seen;
        for (const pid_t pid : pids) seen.insert(wait_for(pid));
        EXPECT_EQ(seen.size(), 1u);
        EXPECT_GE(*seen.begin(), 'A');
        EXPECT_EQ(dir.files(), 1u);
        fs::remove(path);
    }
}

// Whatever they left, the next one gets a file, never half of one.
TEST_F(DirectoryFile, KilledCreatorsLeaveNothingInTheWay) {
    const std::string all(100000, 'x');
    unsigned killed = 0;
    for (int round = 0; round < 150; round++) {
        const pid_t pid = spawn([&] { return create(all); });
        usleep(static_cast<useconds_t>(round * 7));
        kill(pid, SIGKILL);
        killed += wait_for(pid) != 0;
        if (fs::exists(path)) {
            ASSERT_EQ(content(), all);
        }
        ASSERT_EQ(create(all), 0) << "round " << round;
        ASSERT_EQ(content(), all);
        fs::remove(path);
    }
    std::printf("%u of 150 creators were killed before they were done\n", killed);
}

// Killed before the file got its name.
TEST_F(DirectoryFile, LeftOverOfACreatorWithTheSamePid) {
    std::ofstream(dir / (std::string(name) + "." + std::to_string(getpid()) + ".tmp")) << "half";
    EXPECT_EQ(create("whole"), 0);
    EXPECT_EQ(content(), "whole");
    EXPECT_EQ(dir.files(), 1u);
}

TEST_F(DirectoryFile, CannotCreate) {
    const auto create_as = [&](const std::string& n) { return create_file(dir_fd, n.c_str(), 0600, "x", 1, true); };
    EXPECT_EQ(create_as("none/file"), ENOENT);
    EXPECT_EQ(create_as(std::string(250, 'x')), ENAMETOOLONG);
    EXPECT_EQ(dir.files(), 0u);
}

TEST_F(DirectoryFile, FileSizeLimit) {
    const pid_t pid = spawn([&] {
        signal(SIGXFSZ, SIG_IGN);
        const rlimit small{65536, 65536};
        if (setrlimit(RLIMIT_FSIZE, &small) != 0) return 2;
        return create(std::string(70000, 'x')) == EFBIG && dir.files() == 0 ? 0 : 1;
    });
    EXPECT_EQ(wait_for(pid), 0);
}

TEST_F(DirectoryFile, IsTheFileOfThatName) {
    ASSERT_EQ(create("first"), 0);
    const int fd = open_existing(dir_fd, name);
    ASSERT_GE(fd, 0);
    EXPECT_NE(fcntl(fd, F_GETFD) & FD_CLOEXEC, 0);
    EXPECT_NE(fcntl(dir_fd, F_GETFD) & FD_CLOEXEC, 0);
    EXPECT_TRUE(is_same_file(dir_fd, name, fd));
    fs::remove(path);
    EXPECT_FALSE(is_same_file(dir_fd, name, fd));
    ASSERT_EQ(create("second"), 0);
    EXPECT_FALSE(is_same_file(dir_fd, name, fd));
    fs::remove(path);
    fs::create_symlink("elsewhere", path);
    EXPECT_EQ(open_existing(dir_fd, name), -1);
    EXPECT_EQ(errno, ELOOP);
    close(fd);
}

TEST_F(DirectoryFile, ReadsAndWrites) {
    ASSERT_EQ(create("0123456789"), 0);
    const int fd = open_existing(dir_fd, name);
    EXPECT_EQ(write_file(fd, "ab", 2), 0);
    char bytes[20];
    std::size_t done = 0;
    EXPECT_EQ(read_file(fd, bytes, 4, done), 0);
    EXPECT_EQ(std::string(bytes, done), "ab23");
    EXPECT_EQ(read_file(fd, bytes, sizeof bytes, done), 0);
    EXPECT_EQ(std::string(bytes, done), "ab23456789");
    close(fd);
    EXPECT_EQ(read_file(fd, bytes, 1, done), EBADF);
    EXPECT_EQ(write_file(fd, bytes, 1), EBADF);
}

}  // namespace
}  // namespace snowflake_ids::ledger
