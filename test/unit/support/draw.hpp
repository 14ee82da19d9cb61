// Draws from the generator step, as the references wait under their scripted clock.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "core/step.hpp"
#include "support/tsv.hpp"

namespace snowflake_ids::test {

inline constexpr OnRegression shipped[] = {OnRegression::hold, OnRegression::wait, OnRegression::error};

inline bool ref_repeats(const std::string& note) { return note.rfind("ref_repeats_step=", 0) == 0; }
inline std::uint64_t repeated_step(const std::string& note) { return to_u64(note.substr(note.find('=') + 1)); }

struct Drawn {
    Step step{};
    Verdict first = Verdict::issued;
    std::uint64_t now = 0;
};

// While the step says wait, the clock moves on; `resume` must be exactly the tick at which the wait is over.
inline Drawn draw_waiting(State& state, std::uint64_t now, const Rules& rules) {
    Drawn d{.step = step(state, now, 1, rules)};
    d.first = d.step.verdict;
    while (d.step.verdict == Verdict::overflow || d.step.verdict == Verdict::regression) {
        const Verdict why = d.step.verdict;
        const std::uint64_t resume = d.step.resume;
        EXPECT_GT(resume, now);
        while (now < resume) {
            d.step = step(state, ++now, 1, rules);
            if (now == resume) break;
            EXPECT_EQ(d.step.verdict, why) << "came before " << resume;
            EXPECT_EQ(d.step.resume, resume);
        }
        EXPECT_TRUE(d.step.verdict == Verdict::issued || why == Verdict::regression) << "not over at " << resume;
        EXPECT_NE(d.step.verdict, why) << "not over at " << resume;
        if (d.step.verdict == why) return d;
    }
    if (d.step.verdict == Verdict::issued) state = d.step.state;
    d.now = now;
    return d;
}

}  // namespace snowflake_ids::test
