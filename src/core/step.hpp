// The step of a generator. The algorithm is sno's (document, "Clock drift and the tick-tock toggle"; reference v1.2.1,
// New). With N = now, H = state.tick, S = state.safe:
//
//   N == H           next sequence of this tick; none left: overflow
//   N >  H           H = N, sequence starts again
//   S < N < H        regression, only with a tick-tock bit: S = H, H = N, sequence starts again, bit toggled.
//                    The ids sort next to earlier ones of that time and cannot collide with them
//   N <= S, N < H    no toggle is free: OnRegression decides. To hold is to continue at H
//
// Lead. A server starts above all ids that may have been issued before (ledger/begin_life.hpp), so H may be ahead of a
// right clock. If N is behind H by no more than Rules::lead, the step holds, whatever the policy, unless a toggle is
// free (after a start none is: use_up_to()). Holding is always safe.
#pragma once

#include <algorithm>
#include <cstdint>

namespace snowflake_ids {

struct State {
    std::uint64_t tick = 0;    // H: of the last id; never goes back without a toggle
    std::uint64_t safe = 0;    // S: the highest that may have been used under the other toggle
    std::uint32_t next = 0;    // above Rules::max: all are used up
    std::uint32_t drifts = 0;  // regressions; the lowest bit is the tick-tock toggle

    constexpr std::uint32_t toggle() const { return drifts & 1; }
};

enum class OnRegression : unsigned char {
    hold,
    wait,   // until min(H, S + 1), as the sno reference does
    error,  // as Snowflake-SI v2's THROW_ERROR
};

struct Rules {
    std::uint32_t min = 0;  // both inclusive
    std::uint32_t max = 0;
    std::uint64_t max_tick = 0;
    bool has_toggle = false;
    OnRegression on_regression = OnRegression::hold;
    std::uint64_t lead = 0;  // in ticks
};

// Above the bounds of every format, because generators with different bounds may share a state. Fits 17 bits.
inline constexpr std::uint32_t used_up = 65536;

enum class Verdict : unsigned char {
    issued,
    overflow,
    regression,  // and no toggle is free
    ended,       // `now` is beyond max_tick
};

struct Step {
    Verdict verdict = Verdict::issued;
    bool held = false;  // the clock is behind `tick`; an overflow then waits for a tick of monotonic time
    bool own_lead = false;
    State state{};            // unchanged unless issued
    std::uint32_t first = 0;  // issued: first .. first + count - 1
    std::uint32_t count = 0;
    std::uint64_t resume = 0;  // overflow, regression: the earliest tick that can issue
};

namespace detail {

constexpr Step take(State s, std::uint32_t want, const Rules& r) {
    Step step{.state = s};
    if (s.next < r.min) s.next = r.min;  // stored under other bounds
    if (s.next > r.max) {
        step.verdict = Verdict::overflow;
        step.resume = s.tick + 1;
        return step;
    }
    const std::uint32_t left = r.max - s.next + 1;
    step.count = want < left ? want : left;
    step.first = s.next;
    s.next += step.count;
    step.state = s;
    return step;
}

constexpr State begin_tick(State s, std::uint64_t tick, const Rules& r) {
    s.tick = tick;
    s.next = r.min;
    return s;
}

}  // namespace detail

// Takes up to `want` (at least 1) consecutive numbers at tick `now`.
constexpr Step step(const State& s, std::uint64_t now, std::uint32_t want, const Rules& r) {
    if (now > r.max_tick) return {.verdict = Verdict::ended, .state = s};
    if (now == s.tick) return detail::take(s, want, r);
    if (now > s.tick) return detail::take(detail::begin_tick(s, now, r), want, r);

    if (r.has_toggle && now > s.safe) {
        State back = detail::begin_tick(s, now, r);
        back.safe = s.tick;
        back.drifts++;
        return detail::take(back, want, r);
    }
    const bool own_lead = s.tick - now <= r.lead;
    if (own_lead || r.on_regression == OnRegression::hold) {
        Step held = detail::take(s, want, r);
        held.held = true;
        held.own_lead = own_lead;
        return held;
    }
    // At S + 1 a new regression can begin. Otherwise ids continue at H.
    std::uint64_t resume = r.has_toggle && s.safe < s.tick ? s.safe + 1 : s.tick;
    // From this tick on, the step holds in the lead.
    if (resume > s.tick - r.lead) resume = s.tick - r.lead;
    return {.verdict = Verdict::regression, .state = s, .resume = resume};
}

// Nothing at or below the highest of `floor`, s.tick and s.safe is issued any more, in either toggle and with any
// bounds.
constexpr State use_up_to(const State& s, std::uint64_t floor) {
    const std::uint64_t highest = std::max({floor, s.tick, s.safe});
    return {.tick = highest, .safe = highest, .next = used_up, .drifts = s.drifts};
}

}  // namespace snowflake_ids
