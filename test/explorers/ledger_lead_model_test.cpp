// The lead of a slot under every interleaving, with crashes at every point: see support/ledger_model.hpp. No id comes
// twice whatever it holds; a clock that is right is never called behind; and it ends when the clock has caught up.
#include <gtest/gtest.h>

#include <string>

#include "ledger/claim.hpp"
#include "ledger/life.hpp"
#include "support/ledger_explore.hpp"
#include "support/ledger_never_twice.hpp"
#include "support/ledger_wrong_leads.hpp"

namespace snowflake_ids::ledger {
namespace {

using namespace snowflake_ids::test;

constexpr OnRegression policies[] = {OnRegression::hold, OnRegression::wait, OnRegression::error};

enum : std::size_t { caught_up_ghost = begun_ghost + 1 };

template <class Leads = RightLead>
struct Lead : NeverTwice {
    bool alone = false;  // one process, so each claim knows what those before it have seen
    // False: only whether the clock is blamed. (A claim ends after its ids are out, for it ends the lead.)
    bool check_ids = true;

    explicit Lead(OnRegression policy = OnRegression::error, bool has_toggle = false) {
        rules.has_toggle = has_toggle;
        rules.on_regression = policy;
        with_leads = true;
        check_progress = check_words = false;
        last_monotonic = 1;
    }
    void claims(std::initializer_list<std::vector<std::uint32_t>> wants) { claims_of<Leads>(wants); }
    void begins(Value floor) {
        operations.push_back([this, floor](World& w) {
            Leads::begin(w.slot, floor, rules.has_toggle, w.clock.tick().value);
            return Claim{.outcome = Outcome::ended, .toggled = true, .tick = floor};
        });
        programs.push_back({static_cast<unsigned>(operations.size() - 1)});
    }
    void start_with_leads(Value last_tick) {
        start_anywhere(last_tick);
        const std::size_t n = initial.size();
        for (std::size_t i = 0; i < n; i++) {
            Global g = initial[i];
            for (const Value lead : {1, 2}) {
                g.memory[lead_cell] = detail::pack_lead(lead, 0, false);
                initial.push_back(g);
            }
        }
    }
    Complaint on_done(Global& g, const Claim& c) override {
        if (!check_ids) g.ghost[issued_ghost] = 0;
        if (alone && c.outcome == Outcome::issued) {
            if (c.own_lead && g.ghost[caught_up_ghost] != 0) return "a lead after the clock had caught up";
            if (!c.held) g.ghost[caught_up_ghost] = 1;
        }
        return NeverTwice::on_done(g, c);
    }
};

TEST(LedgerLead, NoIdTwice) {
    for (const bool has_toggle : {false, true}) {
        for (const OnRegression policy : policies) {
            Lead m(policy, has_toggle);
            m.clock = {1, 2, 3};
            m.check_words = m.check_progress = true;
            m.claims({{1}, {1}});
            m.start_with_leads(3);
            expect_right(m);
        }
    }
}

// While a slot begins: floors are raised at the same time as claims, and their processes die.
TEST(LedgerLead, NoIdTwiceWhileItBegins) {
    for (const bool has_toggle : {false, true}) {
        Lead m(OnRegression::error, has_toggle);
        m.clock = {1, 3};
        m.rules.max = 0;
        m.claims({{1, 1}});
        m.begins(6);
        m.start_anywhere(2);
        expect_right(m);
    }
}

template <class Leads>
struct RightClock : Lead<Leads> {
    RightClock() {
        this->check_ids = false;
        this->clock_runs = true;
        this->crashes = false;
        this->rules.max = 0;
        this->clock = {1, 2, 3, 4};
        this->claims({{1}, {1}});
        this->begins(3);
        this->initial.push_back(this->at({.tick = 1}));
    }
};
TEST(LedgerLead, RightClockHasNoRegressions) {
    RightClock<RightLead> m;
    expect_right(m);
}

// Two floors at once, one far above the other: the higher lead stays, also if the lower floor needs none.
TEST(LedgerLead, RightClockHasNoRegressionsWithTwoFloors) {
    for (const Value lower : {1, 2}) {
        Lead m;
        m.clock_runs = true;
        m.crashes = false;
        m.rules.max = 0;
        // The space of the second floor is large: there the clock stands still.
        if (lower == 1) m.clock = {1, 2};
        if (lower == 2) m.clock = {1};
        m.claims({{1}});
        m.begins(lower);
        m.begins(6);
        m.initial.push_back(m.at({.tick = 1}));
        m.check_ids = false;
        expect_right(m);
    }
}

template <class Leads>
struct Alone : Lead<Leads> {
    Alone() {
        this->alone = true;
        this->crashes = false;
        this->clock = {1, 2, 3};
        this->claims({{1, 1, 1}});
        this->start_with_leads(3);
    }
};
TEST(LedgerLead, EndsWithTheFirstClaimThatSeesTheClockCaughtUp) {
    Alone<RightLead> m;
    expect_right(m);
}

// ---- wrong on purpose ----

TEST(LedgerLead, FindsNeverEnds) {
    Alone<NeverEnds> m;
    expect_found(m, "a lead after the clock had caught up");
}

constexpr const char* blamed = "a regression though the clock never went back";

TEST(LedgerLead, FindsLoadedAfterTheClock) {
    RightClock<LoadedAfterTheClock> m;
    expect_found(m, blamed);
}

TEST(LedgerLead, FindsNotedAfterTheFloor) {
    RightClock<NotedAfterTheFloor> m;
    expect_found(m, blamed);
}

TEST(LedgerLead, FindsNotedBeforeTheFloor) {
    RightClock<NotedBeforeTheFloor> m;
    expect_found(m, blamed);
}

}  // namespace
}  // namespace snowflake_ids::ledger
