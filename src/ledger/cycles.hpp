// The processor's time counter. It shows that the current tick has not ended. To read it costs less than half as much
// as to read the clock.
//
// The counter shows no time of day. The clock says how long the tick still lasts, and cycles::surely_within() how many
// counts that is at least. Until that many counts have passed, the tick has not ended.
//
// This needs a steady counter, and the kernel decides that. The counter is used only where the kernel's own clock
// source is this counter ("tsc"; on arm64 always). Elsewhere, on other systems than Linux, and in the first
// milliseconds of a process, every check reads the clock.
#pragma once

#include <cstdint>

namespace snowflake_ids::ledger::cycles {

// now() reads the counter. Where `available` is false, there is none, and now() returns 0.
#if defined(__linux__) && defined(__x86_64__)
inline constexpr bool available = true;
inline std::uint64_t now() { return __builtin_ia32_rdtsc(); }
#elif defined(__linux__) && defined(__aarch64__)
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

// The clock is read again after this time, however long a tick is, so that a step of the clock is noticed.
inline constexpr std::uint64_t longest_ns = 4000000;
inline constexpr std::uint64_t slack_ns = 100;  // see Rate::surely_within()

// The rate of the counter. It gives the least number of counts in a time. It comes from two pairs; a pair is two
// readings of the counter, with a reading of the clock between them. An interruption within a pair makes the rate too
// low, never too high.
class Rate {
public:
    // True if it is time for another pair. `count` is what the counter shows now.
    bool due(std::uint64_t count) const { return count - seen_ >= wait_; }
    // True if there is a first pair, so that another one gives a rate.
    bool begun() const { return seen_ns_ != 0; }

    // Takes a pair into account: the clock showed `elapsed_ns`, read between the counts `before` and `after`. `steady`
    // is false if the kernel does not trust the counter.
    void note(std::uint64_t before, std::uint64_t elapsed_ns, std::uint64_t after, bool steady);

    // The number of counts that surely pass within `ns`; 0 if that is not known. Two things are subtracted:
    //   - an eighth, because the clock may now be slewed faster than at the measurement (by a tenth at most on Linux);
    //   - `slack_ns`, because a processor may read the counter before it has executed what comes before.
    std::uint64_t surely_within(std::uint64_t ns) const {
        if (ns <= slack_ns) return 0;
        const std::uint64_t bounded = (ns < longest_ns ? ns : longest_ns) - slack_ns;
        return bounded / 8 * 7 * per_65536_ns_ >> 16;
    }

private:
    std::uint64_t per_65536_ns_ = 0;  // 0: not known
    std::uint64_t seen_ = 0;          // count ...
    std::uint64_t seen_ns_ = 0;       // ... and time of the last pair; 0: none
    std::uint64_t wait_ = 0;          // how many counts after the last pair the next one is due
};

// The number of counts that surely pass within `ns`, by the rate that this process measures; 0 if it is not known.
// `count` is what the counter shows now.
std::uint64_t surely_within(std::uint64_t ns, std::uint64_t count);

}  // namespace snowflake_ids::ledger::cycles
