// Forked processes and what they share.
#pragma once

#include <gtest/gtest.h>

#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <new>
#include <string>

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ledger/clock.hpp"
#include "ledger/shared_memory.hpp"

#if defined(__SANITIZE_THREAD__)
#define LEDGER_TEST_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define LEDGER_TEST_TSAN 1
#endif
#endif

namespace snowflake_ids::test {

// ThreadSanitizer does not see what other processes do.
#ifdef LEDGER_TEST_TSAN
inline constexpr bool under_tsan = true;
#else
inline constexpr bool under_tsan = false;
#endif

// Its value is the exit status. gtest's checks do not reach the parent.
template <class F>
pid_t spawn(F body) {
    const pid_t pid = fork();
    if (pid == 0) _exit(body());
    if (pid < 0) ADD_FAILURE() << "fork failed";
    return pid;
}

// Exit status, or 128 + signal.
inline int wait_for(pid_t pid) {
    int status = 0;
    while (waitpid(pid, &status, 0) < 0) {
        if (errno != EINTR) return -1;
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

template <class T>
class Shared {
public:
    Shared() {
        void* p = mmap(nullptr, sizeof(T), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (p == MAP_FAILED) throw std::bad_alloc();
        object_ = new (p) T;  // without parentheses, which would write to all pages
    }
    ~Shared() { munmap(object_, sizeof(T)); }
    Shared(const Shared&) = delete;
    Shared& operator=(const Shared&) = delete;

    T& operator*() const { return *object_; }
    T* operator->() const { return object_; }

private:
    T* object_;
};

class LedgerMemory {
public:
    static constexpr std::size_t bytes = ledger::memory_bytes;

    ledger::Ledger make() const { return ledger::make_ledger(&*memory_, ledger::wall_clock()); }
    void* data() const { return &*memory_; }

private:
    struct Bytes {
        alignas(4096) unsigned char bytes[LedgerMemory::bytes];
    };
    Shared<Bytes> memory_;
};

class TemporaryDirectory {
public:
    TemporaryDirectory() {
        std::string name = (std::filesystem::temp_directory_path() / "ledger_test.XXXXXX").string();
        if (mkdtemp(name.data()) == nullptr) throw std::bad_alloc();
        path_ = name;
    }
    ~TemporaryDirectory() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    TemporaryDirectory(const TemporaryDirectory&) = delete;
    TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;

    const char* c_str() const { return path_.c_str(); }
    std::filesystem::path operator/(const std::string& name) const { return path_ / name; }
    const std::filesystem::path& path() const { return path_; }
    std::size_t files() const {
        return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(path_), {}));
    }

private:
    std::filesystem::path path_;
};

inline double seconds_now() {
    timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) / 1e9;
}

}  // namespace snowflake_ids::test
