// The clock and the time counter with readings that the test chooses. With the real ones: ledger_cycles_test.cpp.
#include <gtest/gtest.h>

#include <cstdarg>
#include <cstring>
#include <ctime>
#include <fstream>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "ledger/clock.hpp"
#include "support/ledger_process.hpp"
#include "support/times.hpp"

namespace {

std::optional<timespec> wall;
std::function<void(timespec&)> on_boottime;
int boottime_readings = 0;
// Names the kernel's clock source; none: the real one.
std::string source_file;
int source_openings = 0, source_flags = 0;

}  // namespace

extern "C" int clock_gettime(clockid_t id, timespec* t) {
    const int r = static_cast<int>(syscall(SYS_clock_gettime, id, t));
    if (id == CLOCK_REALTIME && wall) *t = *wall;
    if (id == CLOCK_BOOTTIME) {
        boottime_readings++;
        if (on_boottime) on_boottime(*t);
    }
    return r;
}
extern "C" int open(const char* name, int flags, ...) {
    va_list rest;
    va_start(rest, flags);
    const int mode = (flags & O_CREAT) != 0 ? va_arg(rest, int) : 0;
    va_end(rest);
    if (std::strstr(name, "clocksource") != nullptr && !source_file.empty()) {
        source_openings++;
        source_flags = flags;
        name = source_file.c_str();
    }
    return static_cast<int>(syscall(SYS_openat, AT_FDCWD, name, flags, mode));
}

namespace snowflake_ids::ledger {
namespace {

using namespace snowflake_ids::test;

static_assert(TickMemo{}.counts == 0 && TickMemo{}.length.count() == 0, "nothing is known at first");

TEST(LedgerClock, Microseconds) {
    wall = timespec{5, 999'999'999};
    EXPECT_EQ(wall_clock(), unix_us(5'999'999));
    wall.reset();
}

// ---- what is remembered

constexpr Timeline timeline_at_half = timeline_us(10'500'000, 4000, 39);

void expect_memo(const TickMemo& memo, std::uint64_t tick, std::int64_t second, std::int64_t from_ns,
                 std::uint64_t length_ns) {
    EXPECT_EQ(memo.tick, tick);
    EXPECT_EQ(memo.second.count(), second);
    EXPECT_EQ(memo.from.count(), from_ns);
    EXPECT_EQ(memo.length.count(), length_ns);
}

TEST(LedgerTickMemo, TickWithinASecond) {
    constexpr Timeline timeline = timeline_at_half;
    TickMemo memo;
    EXPECT_EQ(find_tick(memo, {10, 505'000'999}, timeline), 1u);
    expect_memo(memo, 1, 10, 504'000'000, 4'000'000);
    EXPECT_EQ(find_tick(memo, {12, 0}, timeline), 375u);
    expect_memo(memo, 375, 12, 0, 4'000'000);
    EXPECT_EQ(find_tick(memo, {11, 999'999'999}, timeline), 374u);
    expect_memo(memo, 374, 11, 996'000'000, 4'000'000);
}

TEST(LedgerTickMemo, TimeOutsideTheFormat) {
    constexpr Timeline timeline = timeline_at_half;
    TickMemo memo;
    find_tick(memo, {10, 505'000'000}, timeline);
    EXPECT_EQ(find_tick(memo, {10, 200'000'000}, timeline), 0u);
    EXPECT_EQ(memo.length.count(), 0u);
}

TEST(LedgerTickMemo, TickAcrossTheEndOfASecond) {
    constexpr Timeline timeline = timeline_us(10'000'000, 300'000, 39);
    for (const long ns : {950'000'000L, 100'000'000L}) {
        TickMemo memo;
        find_tick(memo, {10, 700'000'000}, timeline);
        expect_memo(memo, 2, 10, 600'000'000, 300'000'000);
        const timespec t{ns > 500'000'000 ? 10 : 11, ns};
        EXPECT_EQ(find_tick(memo, t, timeline), 3u);
        EXPECT_EQ(memo.length.count(), 0u) << "it is looked up each time";
    }
    TickMemo memo;
    find_tick(memo, {10, 950'000'000}, timeline_us(10'000'001, 300'000, 39));
    EXPECT_EQ(memo.length.count(), 0u);
    find_tick(memo, {10, 950'000'000}, timeline_us(10'000'001, 250'000, 39));
    EXPECT_EQ(memo.length.count(), 0u) << "a microsecond too late";
    find_tick(memo, {10, 950'000'000}, timeline_us(10'000'000, 250'000, 39));
    expect_memo(memo, 3, 10, 750'000'000, 250'000'000);
    find_tick(memo, {10, 950'000'000}, timeline_us(9'999'999, 250'000, 39));
    EXPECT_EQ(memo.length.count(), 250'000'000u);
    find_tick(memo, {10, 200'000'000}, timeline_us(9'999'999, 250'000, 39));
    EXPECT_EQ(memo.length.count(), 0u) << "it began in the second before";
}

TEST(LedgerTickMemo, IsBelievedFromItsStartToItsEnd) {
    constexpr Timeline timeline = timeline_us(10'000'000, 4000, 39);
    TickMemo memo{.tick = 77, .second = 10s, .from = 4ms, .length = TickMemo::Length{4ms}};
    EXPECT_EQ(tick_at(memo, {10, 4'000'000}, timeline), 77u);
    EXPECT_EQ(tick_at(memo, {10, 7'999'999}, timeline), 77u);
    for (const timespec& t : {timespec{10, 8'000'000}, {10, 3'999'999}, {11, 5'000'000}}) {
        TickMemo other = memo;
        EXPECT_EQ(tick_at(other, t, timeline),
                  timeline.floor_tick(unix_us(t.tv_sec * 1'000'000 + t.tv_nsec / 1000)).value);
    }
}

// ---- how long the tick surely lasts; in processes of their own, because the rate is the process's

// Two counts in a nanosecond, first read in the last millisecond of a second.
void have_a_rate(const std::string& file) {
    source_file = file;
    on_boottime = [](timespec& t) {
        static const std::uint64_t first = cycles::now() / 2;
        const std::uint64_t ns = std::uint64_t{7'999'000'000} + cycles::now() / 2 - first;
        t = {static_cast<time_t>(ns / 1'000'000'000), static_cast<long>(ns % 1'000'000'000)};
    };
}
constexpr std::uint64_t counts_in_a_ms = 1'000'000 / 8 * 7 * 2;

int ask_in_a_tick(const std::string& file) {
    constexpr Timeline timeline = timeline_us(10'000'000, 3000, 39);
    have_a_rate(file);
    const auto ask = [&](TickMemo& memo, long ns) {
        wall = timespec{10, ns};
        return read_tick(memo, timeline);
    };
    TickMemo memo{.counts = 5};
    if (ask(memo, 3'000'000) != 1 || memo.counts != 0) return 1;  // no rate yet
    while (cycles::surely_within(1'000'000, cycles::now()) == 0) {}
    for (;;) {
        const std::uint64_t whole = cycles::surely_within(3'000'000, cycles::now());
        const std::uint64_t third = cycles::surely_within(1'000'000, cycles::now());
        const std::uint64_t before = cycles::now();
        if (ask(memo, 3'000'000) != 1) return 2;
        const std::uint64_t after = cycles::now(), at_start = memo.counts;
        if (memo.from_count < before || memo.from_count > after) return 3;
        if (ask(memo, 5'000'000) != 1) return 4;
        const std::uint64_t in_it = memo.counts;
        // Across the end of a second, nothing is remembered.
        if (ask(memo, 999'500'000) != 333) return 5;
        const std::uint64_t at_end = memo.counts;
        if (cycles::surely_within(3'000'000, cycles::now()) != whole || whole == 0) continue;
        return at_start == whole && in_it == third && at_end == 0 ? 0 : 6;
    }
}

// 77: from the memo; 2: from the clock.
int ask_the_counter() {
    constexpr Timeline timeline = timeline_us(10'000'000, 4000, 39);
    constexpr std::uint64_t long_time = std::uint64_t{1} << 62;
    wall = timespec{10, 9'000'000};
    TickMemo memo{.tick = 77, .from_count = cycles::now(), .counts = long_time};
    if (tick_now(memo, timeline) != 77) return 1;
    memo.from_count -= long_time;
    if (tick_now(memo, timeline) != 2) return 2;
    const std::uint64_t now = cycles::now();
    memo = {.tick = 77, .from_count = now, .counts = now / 2};
    if (tick_now(memo, timeline) != 77) return 3;
    for (const std::uint64_t counts : {0, 1}) {
        memo = {.tick = 77, .from_count = cycles::now(), .counts = counts};
        if (tick_now(memo, timeline) != 2) return 4;
    }
    return 0;
}

int look_at_the_source(const std::string& file, bool is_steady) {
    have_a_rate(file);
    const int free_fd = dup(2);
    close(free_fd);
    if (cycles::surely_within(1'000'000, cycles::now()) != 0) return 1;
    if (source_openings != 0) return 2;  // a first pair needs no trust
    std::uint64_t found = 0;
    while (boottime_readings < 2) found = cycles::surely_within(1'000'000, cycles::now());
    if (source_openings != 1 || source_flags != (O_RDONLY | O_CLOEXEC)) return 3;
    const int fd = dup(2);
    if (fd != free_fd) return 4;
    close(fd);
    for (int i = 0; i < 1000; i++) (void) cycles::surely_within(1'000'000, cycles::now());
    if (boottime_readings > 500) return 5;  // it is not read each time
    if (!is_steady) return found == 0 ? 0 : 6;
    return found <= counts_in_a_ms && found >= counts_in_a_ms / 10 * 9 ? 0 : 7;
}

struct LedgerCounter : testing::Test {
    TemporaryDirectory dir;

    void SetUp() override {
#ifndef __x86_64__
        GTEST_SKIP() << "no clock source that a test can name";
#endif
    }
    std::string source(const std::string& content) const {
        const std::string name = dir / "source";
        std::ofstream(name) << content;
        return name;
    }
};

TEST_F(LedgerCounter, IsBelievedForAsLongAsTheTickSurelyLasts) { EXPECT_EQ(wait_for(spawn(ask_the_counter)), 0); }

TEST_F(LedgerCounter, LastsAsLongAsTheClockSays) {
    EXPECT_EQ(wait_for(spawn([file = source("tsc\n")] { return ask_in_a_tick(file); })), 0);
}

TEST_F(LedgerCounter, IsTrustedIfItIsTheKernelsOwn) {
    const auto looks = [&](const std::string& file, bool is_steady) {
        return wait_for(spawn([&] { return look_at_the_source(file, is_steady); }));
    };
    EXPECT_EQ(looks(source("tsc\n"), true), 0);
    for (const char* const other : {"kvm-clock\n", "hpet\n", "abc\n", "tsc", "tscx", ""})
        EXPECT_EQ(looks(source(other), false), 0) << other;
    EXPECT_EQ(looks("/nowhere", false), 0);
    EXPECT_EQ(wait_for(spawn([file = source("tsc\n")] {
                  close(0);
                  return look_at_the_source(file, true);
              })),
              0);
}

// ---- the rate, exactly

struct LedgerRate : testing::Test {
    cycles::Rate rate;
    std::uint64_t count = 1000, ns = 5'000'000'000;

    bool known_after(std::uint64_t counts) {
        count += counts, ns += 65536;
        rate.note(count, ns, count, true);
        return rate.surely_within(1'000'000) != 0;
    }
};

TEST_F(LedgerRate, FromTheSlowestToTheFastest) {
    for (const auto& [counts, known] :
         {std::pair<std::uint64_t, bool>{64, false}, {65, true}, {1048576, true}, {1048577, false}}) {
        rate = {};
        EXPECT_FALSE(known_after(0));
        EXPECT_EQ(known_after(counts), known) << counts;
    }
}

TEST_F(LedgerRate, MayChangeByAnEighth) {
    for (const auto& [counts, known] : {std::pair<std::uint64_t, bool>{131072 + 16384, true},
                                        {131072 + 16385, false},
                                        {131072 - 16384, true},
                                        {131072 - 16385, false}}) {
        rate = {};
        EXPECT_FALSE(known_after(0));
        EXPECT_TRUE(known_after(131072));
        EXPECT_EQ(known_after(counts), known) << counts;
    }
}

TEST_F(LedgerRate, NoTimeAtAll) {
    EXPECT_FALSE(known_after(0));
    rate.note(count + (std::uint64_t{1} << 50), ns + 1, count + (std::uint64_t{1} << 50), true);
    EXPECT_EQ(rate.surely_within(1'000'000), 0u);
}

}  // namespace
}  // namespace snowflake_ids::ledger
