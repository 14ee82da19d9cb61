// The processor's time counter shows that the current tick has not ended, in 9.5 ns instead of the 23 of the clock. It
// is used only if it is Linux's clock source ("tsc"; on arm64 always), because then the kernel calls it steady, and not
// in the first milliseconds of a process.
#pragma once

#include <cstdint>

namespace snowflake_ids::ledger::cycles {

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

// After this time the clock is read, so that a step is noticed.
inline constexpr std::uint64_t longest_ns = 4000000;
inline constexpr std::uint64_t slack_ns = 100;

// The rate of the counter, from two pairs. A pair is two readings of the counter with one of the clock in between. An
// interruption within a pair makes the rate too low, never too high.
class Rate {
public:
    bool due(std::uint64_t count) const { return count - seen_ >= wait_; }
    bool begun() const { return seen_ns_ != 0; }

    // The clock showed `elapsed_ns` between the counts. `steady`: the kernel trusts the counter.
    void note(std::uint64_t before, std::uint64_t elapsed_ns, std::uint64_t after, bool steady);

    // The counts that surely pass within `ns`; 0 if unknown. Less an eighth, because the clock may be slewed faster
    // than when measured (by a tenth at most on Linux), and `slack_ns`, because a processor may read the counter early.
    std::uint64_t surely_within(std::uint64_t ns) const {
        if (ns <= slack_ns) return 0;
        const std::uint64_t bounded = (ns < longest_ns ? ns : longest_ns) - slack_ns;
        return bounded / 8 * 7 * per_65536_ns_ >> 16;
    }

private:
    std::uint64_t per_65536_ns_ = 0;  // 0: not known
    std::uint64_t seen_ = 0;          // count ...
    std::uint64_t seen_ns_ = 0;       // ... and time of the last pair; 0: none
    std::uint64_t wait_ = 0;          // counts to the next
};

std::uint64_t surely_within(std::uint64_t ns, std::uint64_t count);

}  // namespace snowflake_ids::ledger::cycles
