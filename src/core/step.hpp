// The step of a generator: a pure function of state, time, wanted count and rules. It reads no clock and keeps nothing.
// The ledger swaps the state that it returns into shared memory.
//
// The algorithm is sno's (document, "Clock drift and the tick-tock toggle"; reference
// v1.2.1, New). With N = now, H = state.tick, S = state.safe:
//
//   N == H           next sequence of this tick; none left: overflow
//   N >  H           H = N, sequence starts again
//   S < N < H        regression, only where the format has a tick-tock bit: S = H, H = N,
//                    sequence starts again, bit toggled. The ids sort next to the earlier
//                    ones of the same time and cannot collide with them
//   N <= S, N < H    no toggle is free: the policy decides (OnRegression). To hold is to
//                    continue at H
//
// Formats without the bit never take the third row. Only ticks are compared, so it is no regression if the clock goes
// back inside one tick.
//
// Lead. When the server starts a new life (ledger/life.hpp), it begins above all ids that may have been issued before.
// So H may be ahead of a clock that is right, and that is no regression. If the clock is behind H by no more than
// Rules::lead, the policy does not decide: the step holds. The new life leaves no toggle free, because its floor lifts
// S as well (lift()). But if one is free, the step uses it in the lead too. No number depends on the lead, because
// holding is always safe.
#pragma once

#include <cstdint>

namespace snowflake_ids {

// Everything a generator must remember. In the ledger tick, toggle and next are one word.
struct State {
    std::uint64_t tick = 0;    // H: tick of the last id; never goes back without a toggle
    std::uint64_t safe = 0;    // S: highest tick that may have been used under the other toggle
    std::uint32_t next = 0;    // next sequence number; above Rules::max: all are used up
    std::uint32_t drifts = 0;  // regressions so far; the lowest bit is the tick-tock toggle

    constexpr std::uint32_t toggle() const { return drifts & 1; }
};

// What to do when the clock is behind the last id and no toggle is free.
enum class OnRegression : unsigned char {
    hold,   // continue at the last tick
    wait,   // until min(H, S + 1), as the sno reference does
    error,  // as Snowflake-SI v2's THROW_ERROR
};

// What the step must know of a format and of the settings of its generator.
struct Rules {
    std::uint32_t min = 0;  // sequence bounds, both inclusive
    std::uint32_t max = 0;
    std::uint64_t max_tick = 0;  // last tick that the format can hold
    bool has_toggle = false;     // the format has a tick-tock bit
    OnRegression on_regression = OnRegression::hold;
    std::uint64_t lead = 0;  // in ticks; see Lead above
};

// A State::next that is above the sequence bounds of every format, because generators may share a state and have
// different bounds. It fits the 17 bits that the ledger has for it.
inline constexpr std::uint32_t used_up = 65536;

enum class Verdict : unsigned char {
    issued,
    overflow,    // no number left: try again at `resume`
    regression,  // the clock is behind: try again at `resume` (wait), or fail (error)
    ended,       // `now` is beyond Rules::max_tick
};

// What a step returns.
struct Step {
    Verdict verdict = Verdict::issued;
    bool held = false;        // the clock is behind `tick` (hold); an overflow then waits for a tick of monotonic time
    bool own_lead = false;    // held, and the clock is behind by no more than the lead
    State state{};            // the state after the step; unchanged unless issued
    std::uint32_t first = 0;  // issued: sequence numbers first .. first + count - 1
    std::uint32_t count = 0;
    std::uint64_t resume = 0;  // not issued: earliest tick at which ids can be issued
};

namespace detail {

// Takes up to `want` numbers of the tick of `s`. The verdict is overflow if this tick has none left.
constexpr Step take(State s, std::uint32_t want, const Rules& r) {
    Step step{.state = s};
    if (s.next < r.min) s.next = r.min;  // it was stored under other bounds
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

// The state at the beginning of `tick`, where no number is used yet.
constexpr State begin_tick(State s, std::uint64_t tick, const Rules& r) {
    s.tick = tick;
    s.next = r.min;
    return s;
}

}  // namespace detail

// Takes up to `want` (at least 1) consecutive sequence numbers when the clock shows the tick `now`. The table at the
// top of this file says of which tick they are. If there are none, the verdict says why, and the state stays as it is.
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
    // If the format has a toggle and S < H, the tick after S can begin as a new regression. Otherwise ids continue at
    // H.
    std::uint64_t resume = r.has_toggle && s.safe < s.tick ? s.safe + 1 : s.tick;
    // From this tick on, the clock is behind by no more than the lead, and the step holds.
    if (resume > s.tick - r.lead) resume = s.tick - r.lead;
    return {.verdict = Verdict::regression, .state = s, .resume = resume};
}

// The state `s` after a floor from outside (restore, observe, a new life): ids continue above it. The new state issues
// nothing at or below the highest of `floor`, s.tick and s.safe, in either toggle and with any bounds of the sequence.
// Its tick is never lower than s.tick.
constexpr State lift(const State& s, std::uint64_t floor) {
    State up = s;
    if (up.safe > floor) floor = up.safe;
    if (up.tick > floor) floor = up.tick;
    up.tick = floor;
    up.safe = floor;
    up.next = used_up;
    return up;
}

}  // namespace snowflake_ids
