// The properties of one slot: no id is issued twice, the word and `safe` cover all that was issued and only move as
// their protocol says, and after any crash the next caller can draw. Ticks 0-7 and at most four sequence numbers: all
// ids are the bits of one word.
#pragma once

#include <algorithm>
#include <initializer_list>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "explorers/explorer.hpp"
#include "ledger/begin_life.hpp"
#include "support/ledger_tape.hpp"

namespace snowflake_ids::test {

enum Ghost : std::size_t { issued_ghost, clock_ghost, begun_ghost };

struct NeverTwice : Model {
    Rules rules{.min = 0, .max = 1, .max_tick = 7};
    std::vector<Value> clock{1, 2, 3};
    bool clock_runs = false;
    bool check_words = true;  // the words too, not only the ids
    bool check_progress = true;
    Value last_monotonic = 0;

    template <class Claims>
    void claims_of(std::initializer_list<std::vector<std::uint32_t>> wants_of_processes) {
        for (const std::vector<std::uint32_t>& wants : wants_of_processes) {
            programs.emplace_back();
            for (const std::uint32_t want : wants) {
                // One operation per `want`, so that equal processes are recognised.
                const auto known = operation_of_.find(want);
                if (known != operation_of_.end()) {
                    programs.back().push_back(known->second);
                    continue;
                }
                operation_of_[want] = static_cast<unsigned>(operations.size());
                programs.back().push_back(static_cast<unsigned>(operations.size()));
                operations.push_back([this, want](World& w) { return Claims::claim(w.slot, w.clock, want, rules); });
                if constexpr (requires { Claims::forgets; }) {
                    again.push_back([this, want](World& w) {
                        return ledger::claim_by_step(w.slot, w.clock, want, rules, ledger::no_limit);
                    });
                }
            }
        }
    }

    // From the lift on, the ids at or below the floor count as issued.
    unsigned lift_operation(Value floor) {
        return floor_operation(floor,
                               [](auto& slot, Value tick, bool toggle) { ledger::lift_slot(slot, tick, toggle); });
    }
    template <class Lift>
    unsigned floor_operation(Value floor, Lift lift_slot) {
        const Operation lift = [this, floor, lift_slot](World& w) {
            lift_slot(w.slot, floor, rules.has_toggle);
            return ledger::Claim{.outcome = ledger::Outcome::ended, .standing = {.toggled = true}, .tick = floor};
        };
        operations.push_back(lift);
        again.push_back(lift);
        return static_cast<unsigned>(operations.size() - 1);
    }

    static Value bit(Value tick, Value toggle, Value sequence) {
        return Value{1} << (tick << 3 | toggle << 2 | sequence);
    }

    Value coverage(Value word, Value safe) const {
        const State s = ledger::unpack(word, safe, rules.has_toggle);
        Value covered = 0;
        for (Value tick = 0; tick <= 7; tick++) {
            for (Value sequence = 0; sequence <= 3; sequence++) {
                if (tick < s.tick || (tick == s.tick && sequence < s.next)) covered |= bit(tick, s.toggle(), sequence);
                if (rules.has_toggle && tick <= safe) covered |= bit(tick, s.toggle() ^ 1, sequence);
            }
        }
        return covered;
    }

    Global at(const State& s, Value begun = 0) const {
        Global g;
        g.memory[word_cell] = ledger::pack(s, rules.has_toggle);
        g.memory[safe_cell] = s.safe;
        g.memory[begun_cell] = begun;
        g.ghost[issued_ghost] = coverage(g.memory[word_cell], s.safe);
        return g;
    }

    // Every state that a slot can be left in, with all issued that it may have.
    void start_anywhere(Value last_tick) {
        for (Value tick = 0; tick <= last_tick; tick++) {
            for (Value safe = 0; safe <= (rules.has_toggle ? last_tick : 0); safe++) {
                for (std::uint32_t next = 0; next <= rules.max + 1; next++) {
                    for (std::uint32_t toggle = 0; toggle <= rules.has_toggle; toggle++) {
                        initial.push_back(at({.tick = tick, .safe = safe, .next = next, .drifts = toggle}));
                    }
                }
            }
        }
    }
    void start_new() { initial.push_back(Global{}); }

    bool clock_has_state() const override { return clock_runs; }
    void ticks(const Global& g, std::vector<Answer>& out) const override {
        for (const Value t : clock) {
            if (!clock_runs || t >= g.ghost[clock_ghost]) out.push_back({t});
        }
    }
    void monotonics(const Global& g, std::vector<Answer>& out) const override {
        for (Value t = g.monotonic; t <= std::max(last_monotonic, g.monotonic); t++) out.push_back({t});
    }

    Complaint on_access(const Global& from, Global& to, const Request& r, const Answer& a) override {
        if (r.kind == Request::tick && clock_runs) to.ghost[clock_ghost] = a.value;
        if (!check_words) return nullptr;
        if (to.memory[safe_cell] < from.memory[safe_cell]) return "safe went back";
        const Value before = from.memory[word_cell], after = to.memory[word_cell];
        if (before == after) return nullptr;
        const State b = ledger::unpack(before, 0, rules.has_toggle), n = ledger::unpack(after, 0, rules.has_toggle);
        if (b.toggle() == n.toggle()) return after > before ? nullptr : "the word went back without a toggle";
        if (from.memory[safe_cell] < b.tick) return "toggled without raising safe first";
        return n.tick < b.tick ? nullptr : "toggled while the clock was not behind";
    }

    Complaint on_done(Global& g, const ledger::Claim& c) override {
        const bool held = c.standing.held && !c.standing.own_lead;
        if (clock_runs && ((c.standing.toggled && c.outcome == ledger::Outcome::issued) || held ||
                           c.outcome == ledger::Outcome::regression)) {
            return "a regression though the clock never went back";
        }
        if (c.outcome == ledger::Outcome::ended && c.standing.toggled) {
            for (Value tick = 0; tick <= c.tick; tick++) {
                for (Value sequence = 0; sequence <= 3; sequence++) {
                    g.ghost[issued_ghost] |= bit(tick, 0, sequence) | (rules.has_toggle ? bit(tick, 1, sequence) : 0);
                }
            }
        }
        if (c.outcome != ledger::Outcome::issued) return nullptr;
        g.ghost[begun_ghost] += c.standing.begun;
        for (std::uint32_t i = 0; i < c.count; i++) {
            if (c.first + i > rules.max) return "issued beyond the bounds";
            const Value id = bit(c.tick, c.toggle, c.first + i);
            if (g.ghost[issued_ghost] & id) return "issued twice";
            g.ghost[issued_ghost] |= id;
        }
        return nullptr;
    }

    Complaint always(const Global& g) override {
        if (check_words && g.ghost[issued_ghost] & ~coverage(g.memory[word_cell], g.memory[safe_cell])) {
            return "word and safe do not cover what was issued";
        }
        return check_progress && !goes_on(g) ? "nobody can go on from here" : nullptr;
    }

    // A newcomer, alone, whose clock stands still at any tick, draws after at most two waits for a tick of monotonic
    // time.
    bool goes_on(const Global& g) {
        if (!recovered_.insert({g.memory[word_cell], g.memory[safe_cell], g.memory[begun_cell]}).second) return true;
        for (const Value now : clock) {
            Tape t(rules, {}, now);
            std::copy(g.memory, g.memory + cell_count, t.cells);
            t.rules.max_tick = ledger::max_tick(rules.has_toggle);
            t.monotonic_now = MonotonicTime{microseconds{g.monotonic}};
            t.length = 1us;
            bool drew = false;
            for (int i = 0; i < 4 && !drew; i++, t.monotonic_now += 1us) {
                const ledger::Claim c = t.claim();
                drew = c.outcome == ledger::Outcome::issued;
                if (c.outcome == ledger::Outcome::regression ||
                    (c.outcome == ledger::Outcome::overflow && !c.standing.held)) {
                    t.now.value++;
                    i = c.outcome == ledger::Outcome::regression ? 0 : i;
                }
            }
            if (!drew) return false;
        }
        return true;
    }

private:
    std::map<std::uint32_t, unsigned> operation_of_;
    std::set<std::tuple<Value, Value, Value>> recovered_;
};

}  // namespace snowflake_ids::test
