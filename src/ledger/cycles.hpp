// The processor's time counter: to know, without asking the clock again, that a time which is not over was not over yet.
// Reading it costs less than half of reading the clock.
//
// It tells no time of its own. The clock says how long a tick still lasts, and cycles::surely_within() how many counts
// the counter makes in that time at least; until it has made them the tick lasts. That holds if the counter is steady,
// which the kernel decides: only where it takes its own time from it (clock source "tsc"; on arm64 always) is it used.
// Everywhere else, and in a process's first milliseconds, each look is one at the clock.
#pragma once

#include <cstdint>

namespace snowflake_ids::ledger::cycles {

#if defined(__x86_64__)
inline constexpr bool available = true;
inline std::uint64_t now() { return __builtin_ia32_rdtsc(); }
#elif defined(__aarch64__)
inline constexpr bool available = true;
inline std::uint64_t now() {
    std::uint64_t count;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(count));
    return count;
}
#else
inline constexpr bool available = false;
constexpr std::uint64_t now() { return 0; }
#endif

// The clock is asked again after this time, so that a step of the clock is seen, however long a tick is.
inline constexpr std::uint64_t longest_ns = 4000000;
inline constexpr std::uint64_t slack_ns = 100;

// How many counts there are in a time, at least. From pairs of readings: the clock was read after the first and before
// the second count of a pair. What happens in between, a process that is put aside, makes the rate too low, never too
// high.
class Rate {
public:
    // Should readings be made for note()? `count`: now.
    bool due(std::uint64_t count) const { return count - seen_ >= wait_; }
    // Has note() been told a pair, so that another one gives a rate?
    bool begun() const { return seen_ns_ != 0; }

    // A pair of readings: `elapsed_ns` lies between the counts. `steady`: whether the kernel trusts the counter.
    void note(std::uint64_t before, std::uint64_t elapsed_ns, std::uint64_t after, bool steady);

    // Counts that the counter makes within `ns` surely; 0 if that is not known. An eighth is left for a clock that is
    // slewed (a tenth at most on Linux) faster than it was when the rate was found, and `slack_ns` for a processor that
    // reads the counter before it has done what comes before.
    std::uint64_t surely_within(std::uint64_t ns) const {
        if (ns <= slack_ns) return 0;
        const std::uint64_t bounded = (ns < longest_ns ? ns : longest_ns) - slack_ns;
        return bounded / 8 * 7 * per_65536_ns_ >> 16;
    }

private:
    std::uint64_t per_65536_ns_ = 0;  // 0: not known
    std::uint64_t seen_ = 0;          // count ...
    std::uint64_t seen_ns_ = 0;       // ... and time of the last pair; 0: none
    std::uint64_t wait_ = 0;          // counts from then until the next one
};

// The rate of this process, kept up to date; `count` is now.
std::uint64_t surely_within(std::uint64_t ns, std::uint64_t count);

}  // namespace snowflake_ids::ledger::cycles
