// What the references of Snowflake-SI and Mastic do around our step: they go back with the clock, and keep a counter
// that a new tick does not reset.
#pragma once

#include <algorithm>
#include <cstdint>

#include "core/step.hpp"

namespace snowflake_ids::test {

struct Replay {
    static constexpr std::uint32_t never = ~std::uint32_t{0};  // a reset_threshold

    struct Counter {
        State state{};
        std::uint32_t used = 0;  // in this tick
    };

    Rules rules{};
    bool follows = false;  // goes back with the clock: repeats ids when the clock comes back
    // A new tick resets the sequence only if `next` has reached this.
    std::uint32_t reset_threshold = 0;

    Step draw(Counter& counter, std::uint64_t now, std::uint32_t want) const {
        Counter c = counter;
        if (now > c.state.tick || (follows && now < c.state.tick)) {
            c.state.tick = now;
            c.used = 0;
            if (c.state.next >= reset_threshold) c.state.next = rules.min;
        }
        if (reset_threshold == never) {
            const std::uint32_t left = rules.max - rules.min + 1 - c.used;
            if (left == 0)
                c.state.next = used_up;
            else if (c.state.next > rules.max)
                c.state.next = rules.min;
            want = std::min(want, std::max(left, 1u));
        }
        const Step s = step(c.state, now, want, rules);
        if (s.verdict == Verdict::issued) counter = {s.state, c.used + s.count};
        return s;
    }
};

}  // namespace snowflake_ids::test
