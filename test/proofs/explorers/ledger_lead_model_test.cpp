// The lead of a life under every interleaving, with crashes: no id comes twice, and a right clock is never called
// behind.
#include <gtest/gtest.h>

#include "explorers/expectations.hpp"
#include "explorers/never_twice.hpp"
#include "ledger/begin_life.hpp"
#include "ledger/claim.hpp"

namespace snowflake_ids::ledger {
namespace {

using namespace snowflake_ids::test;

constexpr OnRegression policies[] = {OnRegression::hold, OnRegression::wait, OnRegression::error};

struct RightClaims {
    template <class S, class Clock>
    static Claim claim(S& slot, Clock& clock, std::uint32_t want, const Rules& rules) {
        return claim_by_step(slot, clock, want, rules, no_limit);
    }
};

struct Lead : NeverTwice {
    Lead(OnRegression policy, bool has_toggle) {
        rules.has_toggle = has_toggle;
        rules.on_regression = policy;
        rules.lead = 2;
        last_monotonic = 1;
    }
    void begins(Value floor) {
        operations.push_back([this, floor](World& w) {
            begin_slot(w.slot, floor, rules.has_toggle);
            return Claim{.outcome = Outcome::ended, .standing = {.toggled = true}, .tick = floor};
        });
        programs.push_back({static_cast<unsigned>(operations.size() - 1)});
    }
};

TEST(LedgerLead, NoIdTwice) {
    for (const bool has_toggle : {false, true}) {
        for (const OnRegression policy : policies) {
            Lead m(policy, has_toggle);
            m.claims_of<RightClaims>({{1}, {1}});
            m.start_anywhere(3);
            expect_right(m);
        }
    }
}

TEST(LedgerLead, NoIdTwiceWhileItBegins) {
    for (const bool has_toggle : {false, true}) {
        Lead m(OnRegression::error, has_toggle);
        m.check_progress = m.check_words = false;
        m.clock = {1, 3};
        m.rules.max = 0;
        m.claims_of<RightClaims>({{1, 1}});
        m.begins(6);
        m.start_anywhere(2);
        expect_right(m);
    }
}

// From 3 on, while the clock runs from 1 to 4, held ticks go beyond the floor.
template <class Claims>
struct RightClock : Lead {
    explicit RightClock(bool has_toggle) : Lead(OnRegression::error, has_toggle) {
        check_progress = check_words = false;
        clock_runs = true;
        crashes = false;
        rules.max = 0;
        rules.lead = 4;
        clock = {1, 2, 3, 4};
        last_monotonic = 2;
        claims_of<Claims>({{1, 1}, {1}});
        begins(3);
        initial.push_back(at({.tick = 1}));
    }
};
TEST(LedgerLead, RightClockHasNoRegressions) {
    for (const bool has_toggle : {false, true}) {
        RightClock<RightClaims> m(has_toggle);
        expect_right(m);
    }
}

// ---- wrong on purpose ----

constexpr const char* blamed = "a regression though the clock never went back";

TEST(LedgerLead, FindsALifeWithoutALead) {
    RightClock<RightClaims> m(false);
    m.rules.lead = 0;
    expect_found(m, blamed);
}

struct SafeNotRaised {
    template <class S, class Clock>
    static Claim claim(S& slot, Clock& clock, std::uint32_t want, const Rules& rules) {
        struct {
            decltype(S::word)& word;
            struct {
                decltype(S::safe)& safe;
                std::uint64_t load() const { return safe.load(); }
                bool compare_exchange_strong(std::uint64_t&, std::uint64_t) { return true; }
            } safe;
            decltype(S::begun)& begun;
        } mistaken{slot.word, {slot.safe}, slot.begun};
        return claim_by_step(mistaken, clock, want, rules, no_limit);
    }
};
TEST(LedgerLead, FindsSafeNotRaised) {
    RightClock<SafeNotRaised> m(true);
    expect_found(m, blamed);
}

}  // namespace
}  // namespace snowflake_ids::ledger
