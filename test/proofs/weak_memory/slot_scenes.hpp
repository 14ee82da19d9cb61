// One slot: claims, regressions, held ticks, floors, the lead and forced resets.
#pragma once

#include "memory.hpp"

namespace snowflake_ids::weak_memory {

struct Regressions : rl::test_suite<Regressions, 3> {
    static constexpr const char* name = "regressions";
    Rules rules{.max = 1, .max_tick = 7, .has_toggle = true};
    Slot slot;
    Ids ids;

    void before() {
        const State s{.tick = between(2, 3), .safe = pick(2), .next = pick(3)};
        begin(slot, s, true);
        ids.cover(s, rules);
    }
    void thread(unsigned i) {
        Clock clock{1, 4};
        for (unsigned n = 0; n < 2; n++) ids.issue(claim(slot, clock, 1 + (i == 0), rules), rules);
    }
};

// Each new tick takes one of monotonic time.
struct HeldTicks : rl::test_suite<HeldTicks, 3> {
    static constexpr const char* name = "held ticks";
    Rules rules{.max = 0, .max_tick = 7};
    Slot slot;
    Ids ids;
    Clock clock{1, 1, false, 0, 3};

    void before() {
        const State s{.tick = 3, .next = 1};
        begin(slot, s, false);
        slot.begun.begin("begun", pick(2) == 0 ? 0 : ledger::detail::pack_begun(0, 3));
        ids.cover(s, rules);
    }
    void thread(unsigned) {
        for (int n = 0; n < 3; n++) {
            ids.issue(claim(slot, clock, 1, rules), rules);
            const Value tick = slot.word.last() >> ledger::next_bits;
            require(tick <= 3 + clock.now + 1, "held ticks are faster than time");
        }
    }
};

struct Floor : rl::test_suite<Floor, 3> {
    static constexpr const char* name = "floor";
    Rules rules{.max = 1, .max_tick = 7};
    Slot slot;
    Ids ids;

    void before() {
        rules.has_toggle = pick(4) != 0;
        const State s{.tick = between(1, 3), .next = pick(3)};
        begin(slot, s, rules.has_toggle);
        ids.cover(s, rules);
    }
    void thread(unsigned i) {
        if (i == 0) {
            const Value floor = between(1, 4);
            ledger::lift_slot(slot, floor, rules.has_toggle);
            ids.cover(floor);
        }
        Clock clock{1, 5};
        for (unsigned n = 0; n < 2; n++) ids.issue(claim(slot, clock, 1, rules), rules);
    }
};

struct FloorApplied : rl::test_suite<FloorApplied, 3> {
    static constexpr const char* name = "floor applied twice";
    Rules rules{.max = 1, .max_tick = 7, .has_toggle = true};
    Slot slot;
    Ids ids;

    void before() {
        const State s{.tick = between(1, 3), .next = pick(3)};
        begin(slot, s, true);
        ids.cover(s, rules);
    }
    void thread(unsigned i) {
        Clock clock{1, 5};
        if (i < 2) {
            ledger::lift_unless_past(slot, 2, true, [this](Slot& s, Value tick, bool toggle) {
                ledger::lift_slot(s, tick, toggle);
                ids.cover(tick);
            });
        }
        ids.issue(claim(slot, clock, 1, rules), rules);
    }
};

// A life begins ahead of a right clock, which is no regression.
struct Lead : rl::test_suite<Lead, 3> {
    static constexpr const char* name = "lead";
    Rules rules{.max = 1, .max_tick = 7, .on_regression = OnRegression::error, .lead = 4};
    Slot slot;
    Clock clock{1, 4, true};

    void before() {
        rules.has_toggle = pick(2) == 0;
        begin(slot, {.tick = 1}, rules.has_toggle);
    }
    void thread(unsigned i) {
        if (i == 0) ledger::begin_slot(slot, between(2, 3), rules.has_toggle);
        for (unsigned n = 0; n < 2; n++) {
            const ledger::Claim c = claim(slot, clock, 1, rules);
            require(c.outcome != ledger::Outcome::regression && !c.standing.toggled &&
                        (!c.standing.held || c.standing.own_lead),
                    "a regression though the clock never went back");
        }
    }
};

// What begins after the reset is above its floor. A draw that was under way may repeat, so the others begin later and
// no clock shows the old tick.
struct ForcedSlot : rl::test_suite<ForcedSlot, 3> {
    static constexpr const char* name = "slot put back";
    Rules rules{.max = 1, .max_tick = 7, .has_toggle = true};
    Slot slot;
    Ids ids;
    bool back = false, done = false;

    void before() {
        back = pick(2) == 0;
        begin(slot, {.tick = back ? 5u : between(1, 2), .safe = pick(3), .next = pick(3)}, true);
    }
    void thread(unsigned i) {
        if (i == 0) {
            const Value floor = back ? between(1, 3) : between(3, 4);
            ledger::put_slot(slot, floor, true);
            ids.cover(floor);
            done = true;
        }
        while (!done) pause();
        Clock clock{1, back ? 4u : 6u};
        for (unsigned n = 0; n < 2; n++) ids.issue(claim(slot, clock, 1, rules), rules);
    }
};

}  // namespace snowflake_ids::weak_memory
