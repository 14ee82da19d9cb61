// The generator step under random clocks, bounds, policies and floors: no (tick, toggle, sequence) is issued twice, and
// answers are as step.hpp says. The same check must catch steps with seeded bugs.
#include <algorithm>
#include <cstdio>
#include <functional>
#include <iterator>
#include <random>
#include <string>

#include <gtest/gtest.h>

#include "core/sno.hpp"
#include "core/step.hpp"
#include "support/draw.hpp"
#include "support/issued.hpp"

namespace snowflake_ids {
namespace {

using namespace snowflake_ids::test;

using StepFunction = std::function<Step(const State&, std::uint64_t, std::uint32_t, const Rules&)>;
using LiftFunction = std::function<State(const State&, std::uint64_t)>;

struct Subject {
    StepFunction step = [](const State& s, std::uint64_t now, std::uint32_t want, const Rules& r) {
        return snowflake_ids::step(s, now, want, r);
    };
    LiftFunction lift = [](const State& s, std::uint64_t floor) { return snowflake_ids::use_up_to(s, floor); };
};

bool same(const State& a, const State& b) {
    return a.tick == b.tick && a.safe == b.safe && a.next == b.next && a.drifts == b.drifts;
}

class Life {
public:
    // Not strict: only repeats, bounds and floors.
    Life(const Subject& subject, std::uint64_t seed, bool strict) : subject_(subject), random_(seed), strict_(strict) {
        choose_rules();
    }

    struct Seen {
        std::size_t calls = 0, issued = 0, overflows = 0, regressions = 0, ended = 0, toggles = 0, held = 0, lifted = 0;

        void operator+=(const Seen& o) {
            calls += o.calls, issued += o.issued, overflows += o.overflows, regressions += o.regressions;
            ended += o.ended, toggles += o.toggles, held += o.held, lifted += o.lifted;
        }
    };
    Seen seen;

    const std::string& run(int length) {
        for (int i = 0; i < length && violation_.empty(); i++) {
            move_clock();
            if (below(40) == 0) {
                lift();
            } else if (below(12) == 0) {
                // As the ledger does when a held tick is used up.
                call(state_.tick + 1, want());
            } else {
                call(now_, want());
            }
        }
        return violation_;
    }

private:
    std::uint64_t below(std::uint64_t n) { return random_() % n; }

    void choose_rules() {
        static constexpr Rules bounds[] = {
            {.min = 0, .max = 5}, {.min = 65530, .max = 65535}, {.min = 0, .max = 65535}, {.min = 0, .max = 255},
            {.min = 0, .max = 1}, {.min = 100, .max = 105},     {.min = 10, .max = 20},
        };
        rules_ = bounds[below(8) % std::size(bounds)];
        if (below(4) == 0) {
            rules_.min = static_cast<std::uint32_t>(below(65536 - sno::least_numbers));
            const std::uint64_t widest = 65536 - rules_.min - sno::least_numbers;
            rules_.max = rules_.min + sno::least_numbers - 1 + static_cast<std::uint32_t>(below(widest + 1));
        }
        rules_.has_toggle = below(2) != 0;
        rules_.on_regression = shipped[below(3)];
        static constexpr std::uint64_t spans[] = {4, 12, 60, 5000, std::uint64_t{1} << 35};
        span_ = spans[below(std::size(spans))];
        base_ = below(4) == 0 ? 0 : below(std::uint64_t{1} << 38);
        now_ = base_ + below(span_);
        rules_.max_tick = below(8) == 0 ? base_ + span_ / 2 : std::uint64_t{1} << 40;
    }

    void move_clock() {
        const std::uint64_t back = 1 + below(3);
        switch (below(12)) {
            case 0:
                now_ += below(3);
                break;
            case 1:
                now_ = now_ > back ? now_ - back : 0;
                break;
            case 2:
                now_ = base_ + below(span_);
                break;
            case 3:
                now_ = state_.tick + below(2);
                break;
            case 4:
                now_ = state_.tick > back ? state_.tick - back : 0;
                break;
            case 5:
                now_ = state_.safe + below(3);
                break;
            case 6:
                now_ = state_.safe > back ? state_.safe - back : 0;
                break;
            case 7:
                now_ += 1;
                break;
            default:
                break;  // frozen
        }
    }

    std::uint32_t want() {
        switch (below(8)) {
            case 0:
                return static_cast<std::uint32_t>(1 + below(10));
            case 1:
                return static_cast<std::uint32_t>(1 + below(rules_.max - rules_.min + 5));
            case 2:
                return below(16) == 0 ? UINT32_MAX : 2;
            default:
                return 1;
        }
    }

    void check(bool ok, const char* what) {
        if (!ok && violation_.empty()) violation_ = what;
    }

    void lift() {
        const std::uint64_t asked = below(2) ? now_ : state_.tick + below(4) - (state_.tick > 4 ? below(5) : 0);
        const State up = subject_.lift(state_, asked);
        floor_ = std::max({asked, state_.tick, state_.safe});
        if (strict_) {
            check(up.tick == floor_ && up.safe == floor_, "raise is not the highest of floor, tick and safe");
            check(up.drifts == state_.drifts, "raise changes the toggle");
            check(up.next > rules_.max, "raise leaves numbers at its floor");
        }
        has_floor_ = true;
        seen.lifted++;
        state_ = up;
    }

    void call(std::uint64_t now, std::uint32_t want) {
        const State before = state_;
        const Step s = subject_.step(before, now, want, rules_);
        seen.calls++;
        seen.issued += s.verdict == Verdict::issued;
        seen.overflows += s.verdict == Verdict::overflow;
        seen.regressions += s.verdict == Verdict::regression;
        seen.ended += s.verdict == Verdict::ended;
        seen.toggles += s.state.drifts != before.drifts;
        seen.held += s.held && s.verdict == Verdict::issued;
        const bool behind = now < before.tick && !(rules_.has_toggle && now > before.safe);
        if (strict_) {
            check((s.verdict == Verdict::ended) == (now > rules_.max_tick), "ended is not the end");
            if (s.verdict != Verdict::ended)
                check(s.held == (behind && rules_.on_regression == OnRegression::hold), "held is wrong");
        }
        if (s.verdict == Verdict::issued) {
            issued(before, s, now, want, behind);
            state_ = s.state;
        } else if (strict_) {
            check(same(before, s.state) && s.count == 0, "a refusal changes the state");
            if (s.verdict == Verdict::overflow) overflow(before, s, now, behind);
            if (s.verdict == Verdict::regression) regression(before, s, now, behind);
        }
    }

    void issued(const State& before, const Step& s, std::uint64_t now, std::uint32_t want, bool behind) {
        check(s.count >= 1 && s.count <= want, "not between one and want");
        check(s.first >= rules_.min && std::uint64_t{s.first} + s.count - 1 <= rules_.max, "outside the bounds");
        check(!has_floor_ || s.state.tick > floor_, "at or below a floor");
        check(issued_.add(s.state.tick, s.state.toggle(), s.first, s.count), "issued twice");
        if (!strict_) return;
        check(s.state.next == s.first + s.count, "next is not the next");
        check(s.state.tick <= rules_.max_tick, "beyond the end");
        check(s.state.tick == (behind ? before.tick : now), "not the tick asked for");
        if (s.state.drifts == before.drifts) {
            check(s.state.tick >= before.tick && s.state.safe == before.safe, "goes back without a toggle");
        } else {
            check(rules_.has_toggle && s.state.drifts == before.drifts + 1, "more than one toggle");
            check(before.safe < now && now < before.tick, "toggles without need");
            check(s.state.safe == before.tick && s.state.tick == now, "a toggle does not raise safe");
        }
    }

    void overflow(const State& before, const Step& s, std::uint64_t now, bool behind) {
        check(now == before.tick || (behind && rules_.on_regression == OnRegression::hold), "overflow of a fresh tick");
        check(s.resume == before.tick + 1, "overflow is not over at the next tick");
        const Step after = subject_.step(before, s.resume, 1, rules_);
        check(after.verdict == (s.resume > rules_.max_tick ? Verdict::ended : Verdict::issued), "overflow goes on");
    }

    void regression(const State& before, const Step& s, std::uint64_t now, bool behind) {
        check(behind && rules_.on_regression != OnRegression::hold, "regression without one");
        check(s.resume > now && s.resume <= before.tick, "resume is no later tick");
        const std::uint64_t between = std::min(now + below(s.resume - now), rules_.max_tick);
        const Step still = subject_.step(before, between, 1, rules_);
        check(still.verdict == Verdict::regression && still.resume == s.resume, "over before resume");
        check(subject_.step(before, s.resume, 1, rules_).verdict != Verdict::regression, "not over at resume");
    }

    const Subject& subject_;
    std::mt19937_64 random_;
    bool strict_;
    Rules rules_{};
    State state_{};
    std::uint64_t now_ = 0, base_ = 0, span_ = 1, floor_ = 0;
    bool has_floor_ = false;
    Issued issued_;
    std::string violation_;
};

TEST(CoreProperty, NothingIsIssuedTwice) {
    const Subject real;
    Life::Seen seen;
    for (std::uint64_t seed = 0; seed < 40000; seed++) {
        Life life(real, seed, true);
        ASSERT_EQ(life.run(250), "") << "seed " << seed;
        seen += life.seen;
    }
    std::printf(
        "[property] calls %zu: issued %zu (held %zu, toggled %zu), overflow %zu, regression %zu, ended %zu; "
        "floors %zu\n",
        seen.calls, seen.issued, seen.held, seen.toggles, seen.overflows, seen.regressions, seen.ended, seen.lifted);
    EXPECT_GT(seen.issued, 3000000u);
    for (const std::size_t rare : {seen.overflows, seen.regressions, seen.ended, seen.toggles, seen.held, seen.lifted})
        EXPECT_GT(rare, 100000u);
}

std::string first_violation(const Subject& subject) {
    for (std::uint64_t seed = 0; seed < 5000; seed++) {
        Life life(subject, seed, false);
        const std::string violation = life.run(250);
        if (!violation.empty()) return violation;
    }
    return "";
}

TEST(CoreProperty, CatchesARegressionThatDoesNotRaiseSafe) {
    Subject broken;
    broken.step = [](const State& s, std::uint64_t now, std::uint32_t want, const Rules& r) {
        Step out = step(s, now, want, r);
        out.state.safe = s.safe;
        return out;
    };
    EXPECT_EQ(first_violation(broken), "issued twice");
}

TEST(CoreProperty, CatchesAToggleAtTheSafeTickItself) {
    Subject broken;
    broken.step = [](const State& s, std::uint64_t now, std::uint32_t want, const Rules& r) {
        State loose = s;
        if (r.has_toggle && now == s.safe && now < s.tick && now > 0) loose.safe--;
        return step(loose, now, want, r);
    };
    EXPECT_EQ(first_violation(broken), "issued twice");
}

TEST(CoreProperty, CatchesAClockThatIsFollowed) {
    Subject broken;
    broken.step = [](const State& s, std::uint64_t now, std::uint32_t want, const Rules& r) {
        return step(now < s.tick ? State{.tick = now, .safe = s.safe} : s, now, want, r);
    };
    EXPECT_NE(first_violation(broken), "");
}

TEST(CoreProperty, CatchesARangeThatIsCountedShort) {
    Subject broken;
    broken.step = [](const State& s, std::uint64_t now, std::uint32_t want, const Rules& r) {
        Step out = step(s, now, want, r);
        if (out.count > 1) out.state.next--;
        return out;
    };
    EXPECT_EQ(first_violation(broken), "issued twice");
}

TEST(CoreProperty, CatchesABoundThatIsOffByOne) {
    Subject broken;
    broken.step = [](const State& s, std::uint64_t now, std::uint32_t want, Rules r) {
        r.max++;
        return step(s, now, want, r);
    };
    EXPECT_EQ(first_violation(broken), "outside the bounds");
}

TEST(CoreProperty, CatchesAFloorThatLeavesSafe) {
    Subject broken;
    broken.lift = [](const State& s, std::uint64_t floor) {
        State up = use_up_to(s, floor);
        up.safe = s.safe;
        return up;
    };
    EXPECT_EQ(first_violation(broken), "at or below a floor");
}

TEST(CoreProperty, CatchesAFloorThatLeavesTheSequence) {
    Subject broken;
    broken.lift = [](const State& s, std::uint64_t floor) {
        State up = use_up_to(s, floor);
        up.next = s.next;
        return up;
    };
    EXPECT_EQ(first_violation(broken), "at or below a floor");
}

TEST(CoreProperty, CatchesAFloorThatForgetsTheHighestTick) {
    Subject broken;
    broken.lift = [](const State& s, std::uint64_t floor) {
        State up = use_up_to(s, floor);
        up.tick = up.safe = floor;
        return up;
    };
    EXPECT_NE(first_violation(broken), "");
}

}  // namespace
}  // namespace snowflake_ids
