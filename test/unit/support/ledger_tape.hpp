// A watched slot with plain memory and a scripted clock, which runs `before` before each access.
#pragma once

#include <functional>
#include <ostream>
#include <vector>

#include "core/sno.hpp"
#include "ledger/claim.hpp"
#include "support/ledger_watched.hpp"
#include "support/times.hpp"

namespace snowflake_ids::test {

enum class Op : unsigned char { load, swap, store, read_clock, read_monotonic };

struct Access {
    Op op;
    Cell cell = key_cell;  // of the first three

    friend bool operator==(const Access&, const Access&) = default;
    friend std::ostream& operator<<(std::ostream& out, const Access& a) {
        static constexpr const char* ops[] = {"load ", "swap ", "store ", "read clock", "read monotonic clock"};
        static constexpr const char* cells[] = {"key", "word", "safe", "ceiling", "begun"};
        out << ops[static_cast<int>(a.op)];
        return a.op < Op::read_clock ? out << cells[a.cell] : out;
    }
};

constexpr Access load_word{Op::load, word_cell}, load_safe{Op::load, safe_cell}, swap_word{Op::swap, word_cell},
    swap_safe{Op::swap, safe_cell}, swap_begun{Op::swap, begun_cell};
constexpr Rules sno_rules{.min = 0, .max = 9, .max_tick = sno::timeline.max_tick(), .has_toggle = true};
constexpr Rules mastic_rules{.min = 0, .max = 9, .max_tick = ledger::max_tick(false)};

struct Killed {};

class Tape : public Watcher {
public:
    Tape(const Rules& rules, const State& state, std::uint64_t now) : rules(rules), now(now) { set(state); }
    Tape(const Tape&) = delete;
    Tape& operator=(const Tape&) = delete;

    Rules rules;
    std::uint64_t limit = ledger::no_limit;
    Result<std::uint64_t> now;  // what the wall clock says, in ticks
    MonotonicTime monotonic_now{1s};
    microseconds length = 1ms;
    std::uint64_t cells[cell_count] = {};
    std::vector<Access> accesses;
    std::function<void(const Access&)> before;

    WatchedSlot& slot() { return slot_; }
    State state() const { return ledger::unpack(cells[word_cell], cells[safe_cell], rules.has_toggle); }
    void set(const State& s) {
        cells[word_cell] = ledger::pack(s, rules.has_toggle);
        cells[safe_cell] = s.safe;
    }

    ledger::Claim claim(std::uint32_t want = 1) {
        accesses.clear();
        return rules.has_toggle ? ledger::claim<true>(slot_, clock_, want, rules, limit)
                                : ledger::claim<false>(slot_, clock_, want, rules, limit);
    }
    ledger::Claim claim_by_step(std::uint32_t want = 1) {
        accesses.clear();
        return ledger::claim_by_step(slot_, clock_, want, rules, limit);
    }

    void once_before(const Access& which, std::function<void()> act) {
        before = [this, which, act](const Access& a) {
            if (a != which) return;
            before = nullptr;
            const std::vector<Access> mine = accesses;
            act();
            accesses = mine;
        };
    }
    bool claim_killed_before(const Access& which, std::uint32_t want = 1) {
        once_before(which, [] { throw Killed(); });
        try {
            claim(want);
        } catch (const Killed&) {
            return true;
        }
        before = nullptr;
        return false;
    }

    std::uint64_t load(Cell cell) override {
        note({Op::load, cell});
        return cells[cell];
    }
    bool swap(Cell cell, std::uint64_t& expected, std::uint64_t desired) override {
        note({Op::swap, cell});
        if (cells[cell] != expected) {
            expected = cells[cell];
            return false;
        }
        cells[cell] = desired;
        return true;
    }
    void store(Cell cell, std::uint64_t value) override {
        note({Op::store, cell});
        cells[cell] = value;
    }
    Result<std::uint64_t> tick() override {
        note({Op::read_clock});
        return now;
    }
    MonotonicTime monotonic() override {
        note({Op::read_monotonic});
        return monotonic_now;
    }
    microseconds until(std::uint64_t tick) override { return static_cast<std::int64_t>(tick - now.value) * length; }
    microseconds tick_length() override { return length; }

private:
    void note(const Access& a) {
        if (const auto act = before) act(a);
        accesses.push_back(a);
    }

    WatchedSlot slot_{*this};
    WatchedClock clock_{this};
};

}  // namespace snowflake_ids::test
