// How fast the processor's time counter runs, if it can be trusted.
#include "ledger/cycles.hpp"

#include <cstring>
#include <ctime>

#include <fcntl.h>
#include <unistd.h>

namespace snowflake_ids::ledger::cycles {

namespace {

// Counts between pairs. At 2 GHz the second pair comes after 2 ms, with an error of 20 ns; later ones once a second.
constexpr std::uint64_t first_wait = std::uint64_t{1} << 22;
constexpr std::uint64_t later_wait = std::uint64_t{1} << 31;

// Counts per 65536 ns: 1 MHz to 16 GHz.
constexpr std::uint64_t slowest = 65;
constexpr std::uint64_t fastest = std::uint64_t{16} * 65536;

[[maybe_unused]] bool is_steady() {
#if defined(__aarch64__)
    return true;  // the architecture says so
#else
    const int fd = open("/sys/devices/system/clocksource/clocksource0/current_clocksource", O_RDONLY | O_CLOEXEC);
    if (fd < 0) return false;
    char name[8];
    const ssize_t n = read(fd, name, sizeof name);
    close(fd);
    return n == 4 && std::memcmp(name, "tsc\n", 4) == 0;
#endif
}

}  // namespace

void Rate::note(std::uint64_t before, std::uint64_t elapsed_ns, std::uint64_t after, bool steady) {
    std::uint64_t found = 0;
    // Huge, which fits no rate, if the counter or the clock went back.
    std::uint64_t counts = before - seen_, ns = elapsed_ns - seen_ns_;
    if (steady && seen_ns_ != 0) {
        // Halved until the multiplication by 2^16 cannot overflow.
        while (counts >> 47 != 0) counts >>= 1, ns >>= 1;
        if (ns != 0) found = (counts << 16) / ns;
        if (found < slowest || found > fastest) found = 0;
    }
    // More than slewing explains: the counter or the clock has jumped, and the measurement starts again.
    if (per_65536_ns_ != 0 && (found > per_65536_ns_ + per_65536_ns_ / 8 || found < per_65536_ns_ - per_65536_ns_ / 8))
        found = 0;
    per_65536_ns_ = found;
    seen_ = after;
    seen_ns_ = elapsed_ns;
    wait_ = found != 0 || !steady ? later_wait : first_wait;
}

#ifdef __linux__

std::uint64_t surely_within(std::uint64_t ns, std::uint64_t count) {
    static Rate rate;
    if (rate.due(count)) {
        timespec t;
        const bool steady = !rate.begun() || is_steady();
        const std::uint64_t before = now();
        // The counter may run while the machine sleeps, and so does this clock.
        clock_gettime(CLOCK_BOOTTIME, &t);
        const std::uint64_t after = now();
        rate.note(before, static_cast<std::uint64_t>(t.tv_sec) * 1000000000 + static_cast<std::uint64_t>(t.tv_nsec),
                  after, steady);
    }
    return rate.surely_within(ns);
}

#else

std::uint64_t surely_within(std::uint64_t, std::uint64_t) { return 0; }

#endif

}  // namespace snowflake_ids::ledger::cycles
