// The real claim under every interleaving: explorer.hpp says how, never_twice.hpp what must hold.
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "explorers/expectations.hpp"
#include "explorers/never_twice.hpp"
#include "explorers/wrong_claims.hpp"
#include "ledger/claim.hpp"
#include "ledger/reset.hpp"

namespace snowflake_ids::ledger {
namespace {

using namespace snowflake_ids::test;

struct RealClaim {
    static constexpr bool forgets = true;
    template <class S, class Clock>
    static Claim claim(S& slot, Clock& clock, std::uint32_t want, const Rules& rules) {
        return rules.has_toggle ? ledger::claim<true>(slot, clock, want, rules)
                                : ledger::claim<false>(slot, clock, want, rules);
    }
};

struct Sno : NeverTwice {
    explicit Sno(OnRegression policy = OnRegression::hold) {
        rules.has_toggle = true;
        rules.on_regression = policy;
    }
};

struct Plain : NeverTwice {};

// ---- the real claim ----

// From every state that any past can have left.
TEST(LedgerClaimModel, SnoThreeProcesses) {
    Sno m;
    m.clock = {1, 2, 3, 4};
    m.claims_of<RealClaim>({{1}, {1}, {1}});
    m.start_anywhere(4);
    expect_right(m);
}

TEST(LedgerClaimModel, SnoTwoProcessesTwice) {
    Sno m;
    m.clock = {1, 2, 3};
    m.claims_of<RealClaim>({{1, 1}, {1, 1}});
    m.start_anywhere(3);
    expect_right(m);
}

TEST(LedgerClaimModel, SnoSlowAgainstFast) {
    if (test::quick()) GTEST_SKIP() << "almost half of the time: in make test-all";
    Sno m;
    m.rules.max = 0;
    m.clock = {1, 2, 3, 4};
    m.crashes = false;
    m.claims_of<RealClaim>({{1}, {1, 1, 1, 1}});
    m.start_anywhere(2);
    expect_right(m);
}

TEST(LedgerClaimModel, SnoBulk) {
    Sno m;
    m.rules.max = 2;
    m.clock = {1, 2, 3};
    m.claims_of<RealClaim>({{2}, {3}, {1}});
    m.start_anywhere(3);
    expect_right(m);
}

TEST(LedgerClaimModel, SnoThreeProcessesTwiceFromNew) {
    Sno m;
    m.clock = {0, 1, 2};
    m.claims_of<RealClaim>({{1, 1}, {1, 1}, {1, 1}});
    m.start_new();
    expect_right(m);
}

TEST(LedgerClaimModel, SnoWaits) {
    Sno m(OnRegression::wait);
    m.clock = {1, 2, 3};
    m.claims_of<RealClaim>({{1}, {1}, {1}});
    m.start_anywhere(3);
    expect_right(m);
}

TEST(LedgerClaimModel, Plain) {
    Plain m;
    m.claims_of<RealClaim>({{1, 1}, {1}, {2}});
    m.start_anywhere(3);
    expect_right(m);
}

TEST(LedgerClaimModel, Hold) {
    Plain m;
    m.rules.max = 0;
    m.clock = {1};
    m.last_monotonic = 3;
    m.claims_of<RealClaim>({{1, 1}, {1, 1}, {1, 1}});
    for (const std::uint64_t begun : {std::uint64_t{0}, detail::pack_begun(0, 3), detail::pack_begun(9, 3)}) {
        m.initial.push_back(m.at({.tick = 3, .next = 1}, begun));
    }
    expect_right(m);
}

TEST(LedgerClaimModel, SnoHold) {
    Sno m;
    m.rules.max = 0;
    m.clock = {1, 3};
    m.last_monotonic = 2;
    m.claims_of<RealClaim>({{1, 1}, {1, 1}});
    m.start_anywhere(4);
    expect_right(m);
}

struct Pace : Plain {
    Complaint always(const Global& g) override {
        const Value tick = g.memory[word_cell] >> next_bits;
        if (tick > 3 + g.monotonic + 1) return "held ticks are faster than time";
        return Plain::always(g);
    }
};
TEST(LedgerClaimModel, HoldKeepsPace) {
    Pace m;
    m.rules.max = 0;
    m.clock = {1};
    m.last_monotonic = 3;
    m.claims_of<RealClaim>({{1, 1, 1}, {1, 1, 1}});
    m.initial.push_back(m.at({.tick = 3, .next = 1}, detail::pack_begun(0, 3)));
    m.initial.push_back(m.at({.tick = 3, .next = 1}));
    expect_right(m);
}

TEST(LedgerClaimModel, RunningClockHasNoRegressions) {
    Sno m;
    m.clock = {1, 2, 3, 4};
    m.clock_runs = true;
    m.claims_of<RealClaim>({{1, 1}, {1, 1}, {1}});
    m.start_new();
    expect_right(m);
}

// ---- floors ----

TEST(LedgerClaimModel, SnoFloor) {
    for (const Value floor : {1, 2, 4}) {
        Sno m;
        m.clock = {1, 2, 3};
        m.claims_of<RealClaim>({{1}, {1}});
        m.programs.push_back({m.lift_operation(floor)});
        m.start_anywhere(3);
        expect_right(m);
    }
}

TEST(LedgerClaimModel, PlainFloor) {
    for (const Value floor : {1, 2, 4}) {
        Plain m;
        m.last_monotonic = 1;
        m.claims_of<RealClaim>({{1, 1}, {2}});
        m.programs.push_back({m.lift_operation(floor)});
        m.start_anywhere(3);
        expect_right(m);
    }
}

// A forced reset may go back: what is at or below its floor counts as issued. A draw that is under way may repeat,
// because the word that it has seen may return.
struct ResetSlot : Sno {
    Complaint on_done(Global& g, const Claim& c) override {
        if (c.outcome == Outcome::ended && c.standing.toggled) g.ghost[issued_ghost] = 0;
        return Sno::on_done(g, c);
    }
};
TEST(LedgerClaimModel, ForcedReset) {
    for (const Value floor : {1, 3}) {
        ResetSlot m;
        m.check_words = m.crashes = false;
        m.clock = {1, 2, 3, 4};
        const unsigned reset =
            m.floor_operation(floor, [](auto& slot, Value tick, bool toggle) { put_slot(slot, tick, toggle); });
        m.again.clear();
        m.operations.push_back([&m](World& w) { return RealClaim::claim(w.slot, w.clock, 1, m.rules); });
        m.programs.push_back({reset, reset + 1, reset + 1, reset + 1});
        m.start_anywhere(4);
        expect_right(m);
    }
}

TEST(LedgerClaimModel, FloorOnAFloor) {
    Sno m;
    m.clock = {2, 3, 4};
    m.rules.max = 65535;
    m.check_progress = false;
    m.claims_of<RealClaim>({{1}});
    for (int i = 0; i < 2; i++) m.programs.push_back({m.lift_operation(3), m.lift_operation(2)});
    for (const std::uint32_t next : {used_up, used_up + 1, next_mask - 1, next_mask}) {
        for (const std::uint64_t safe : {0, 1, 2, 3}) {
            m.initial.push_back(m.at({.tick = 3, .safe = safe, .next = next}));
        }
    }
    expect_right(m);
}

// Shows that every schedule ends, and that forgetting finds the same states of memory.
TEST(LedgerClaimModel, ForgettingIsRight) {
    std::set<Values, ValuesOrder> memories[2];
    for (const bool forget : {true, false}) {
        struct Recorded : Sno {
            std::set<Values, ValuesOrder>* memories = nullptr;
            Complaint always(const Global& g) override {
                memories->insert(
                    {g.memory[word_cell], g.memory[safe_cell], g.memory[begun_cell], g.ghost[issued_ghost]});
                return Sno::always(g);
            }
        } m;
        m.memories = &memories[forget];
        m.rules.max = 0;
        m.clock = {1, 2};
        m.last_monotonic = 1;
        m.claims_of<RealClaim>({{1}, {1, 1}});
        if (!forget) m.again.clear();
        m.start_anywhere(3);
        expect_right(m);
    }
    EXPECT_EQ(memories[0], memories[1]);
}

// ---- wrong on purpose ----

template <class Claims>
void expect_repeats(NeverTwice&& m, std::initializer_list<std::vector<std::uint32_t>> wants) {
    m.check_words = m.check_progress = false;
    m.claims_of<Claims>(wants);
    m.start_anywhere(2);
    expect_found(m, "issued twice");
}

TEST(LedgerClaimModel, FindsTwoWords) { expect_repeats<TwoWords>(Plain(), {{1, 1}, {1, 1}}); }

TEST(LedgerClaimModel, FindsSafeLoadedBeforeTheWord) {
    Sno m;
    expect_repeats<Reordered<Order{.safe_before_word = true}>>(std::move(m), {{1}, {1, 1, 1, 1}});
}

TEST(LedgerClaimModel, FindsSafeStored) {
    Sno m;
    m.rules.max = 0;
    m.clock = {1, 2, 3, 4};
    expect_repeats<Reordered<Order{.store_safe = true}>>(std::move(m), {{1}, {1, 1, 1, 1}});
}

TEST(LedgerClaimModel, FindsWordSwappedBeforeSafeIsRaised) {
    Sno m;
    expect_repeats<Reordered<Order{.word_before_lift = true}>>(std::move(m), {{1, 1}, {1, 1}});
}

TEST(LedgerClaimModel, FindsWordStored) { expect_repeats<Reordered<Order{.store_word = true}>>(Plain(), {{1}, {1}}); }

TEST(LedgerClaimModel, FindsSafeNotRaised) {
    Sno m;
    expect_repeats<Reordered<Order{.forget_lift = true}>>(std::move(m), {{1, 1, 1, 1}});
}

// `safe` above the floor is lost to the next toggle.
TEST(LedgerClaimModel, FindsFloorComparedWithTheWordOnly) {
    Sno m;
    m.check_words = m.check_progress = false;
    m.clock = {1, 2, 3, 4};
    m.claims_of<RealClaim>({{1, 1}});
    m.programs.push_back({m.floor_operation(2, [](auto& slot, Value floor, bool toggle) {
        Value word = slot.word.load();
        const State state = unpack(word, 0, toggle);
        if (state.tick >= floor) return;
        const State up = use_up_to(state, floor);
        slot.safe.store(up.safe);
        slot.word.compare_exchange_strong(word, pack(up, toggle));
    })});
    m.start_anywhere(4);
    expect_found(m, "issued twice");
}

// It repeats no id, but makes regressions of delays.
TEST(LedgerClaimModel, ClockReadBeforeTheWord) {
    using Early = Reordered<Order{.clock_before_word = true}>;
    Sno unique;
    unique.clock = {1, 2, 3, 4};
    unique.claims_of<Early>({{1}, {1}, {1}});
    unique.start_anywhere(4);
    expect_right(unique);

    Sno regressions;
    regressions.clock_runs = true;
    regressions.claims_of<Early>({{1}, {1}});
    regressions.start_new();
    expect_found(regressions, "a regression though the clock never went back");
}

}  // namespace
}  // namespace snowflake_ids::ledger
