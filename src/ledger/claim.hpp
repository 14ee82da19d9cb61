// The claim: how processes that share a slot draw sequence numbers from it.
//
//   1. load `lead`, the word, then `safe`, THEN read the clock. A clock read before the word
//      sees regressions that are not there: another process may have moved the word on since.
//   2. compute the pure step (core/step.hpp).
//   3. on a regression raise `safe` first, by an atomic maximum. Interrupted here, the next
//      caller sees a more careful `safe`, nothing worse.
//   4. swap the word; lost the race: start over.
//
// Invariants: every successful swap hands out numbers that no other swap ever hands out;
// (tick, toggle, next) of the word only moves forward inside a toggle; `safe` only grows.
//
// Hold. The clock is behind the last tick H, the policy is to go on, and H is used up: take
// H + 1, but never sooner than one tick of monotonic time after H was begun, so the lead
// over the clock cannot grow by itself. `begun` says when: monotonic microseconds << 16 |
// low 16 bits of the tick it speaks of. Whoever swaps `begun` to the next tick has the
// right to begin it. If it speaks of another tick (H was begun by the clock, or its beginner
// was killed before it swapped the word) a full tick is waited from now on; unless the word
// has moved on as well, then the caller was late and starts over.
//
// Lead. Who raises a slot to where it begins (life.hpp) notes in `lead` how many ticks that
// has put it ahead of the clock: such a lead is no regression (core/step.hpp).
//
//   bits 63-16  ticks; 0: none, or the clock has caught up
//   bits 15-1   generation: each floor counts it up
//   bit  0      a floor is under way
//
// The first claim by the step that finds the clock at the word's tick or past it ends the
// lead, after its swap, unless `lead` has changed since it was loaded or a floor is under
// way. `lead` is loaded before the word: a lead that has ended was ended by a clock that had
// caught up with the word that is loaded after it. A floor may come between the two, so a
// claim that finds a regression starts over if `lead` has changed meanwhile. By both, a clock
// that is right never shows a regression. Only the policy looks at `lead`. Whatever it holds, no number comes twice: a
// held claim takes its numbers from the word as any other.
//
// Limit. A tick at or beyond `limit` is not issued: it is the caller's view of the durable
// ceilings, which only ever grow, so an old view is merely more careful. Numbers of a tick
// that was begun below a ceiling stay below it.
//
// Templates over slot and clock, so that the unit tests and a model checker drive this very
// code with their own memory and time. A Clock has
//   Result<uint64_t> tick()        the wall clock in ticks of the format
//   uint64_t monotonic_us()        never goes back while the machine is up
//   int64_t us_until(uint64_t t)   wall-clock time until tick t starts
//   int64_t tick_us()              length of a tick
#pragma once

#include <cstdint>

#include "core/error.hpp"
#include "core/step.hpp"
#include "ledger/word.hpp"

namespace snowflake_ids::ledger {

enum class Outcome : unsigned char {
    issued,
    overflow,      // sequence of this tick used up: try again after wait_us
    regression,    // clock behind and the policy is to wait (try after wait_us) or to fail
    ceiling,       // the tick is at or beyond the caller's limit: raise that first
    ended,         // beyond the last tick of the format or of the word
    before_epoch,  // the clock is before the format's epoch
};

inline constexpr std::uint64_t no_limit = ~std::uint64_t{0};

struct Claim {
    Outcome outcome = Outcome::issued;
    bool toggled = false;   // this claim was the regression
    bool held = false;      // the clock is behind `tick`
    bool advanced = false;  // held, and this claim began a new tick
    bool own_lead = false;  // the clock is behind `tick` by no more than the slot's lead: no regression
    std::uint32_t toggle = 0;
    std::uint32_t first = 0;
    std::uint32_t count = 0;
    std::uint64_t tick = 0;    // of the ids; ceiling: the one that is wanted; else of the last id
    std::int64_t wait_us = 0;  // overflow, regression: how long until a retry makes sense
};

template <class W>
void raise_to(W& word, std::uint64_t floor) {
    std::uint64_t seen = word.load();
    while (seen < floor && !word.compare_exchange_weak(seen, floor)) {}
}

namespace detail {

constexpr unsigned begun_tag_bits = 16;
constexpr std::uint64_t begun_time_mask = ~std::uint64_t{0} >> begun_tag_bits;  // nine years

constexpr std::uint64_t begun(std::uint64_t monotonic_us, std::uint64_t tick) {
    return monotonic_us << begun_tag_bits | (tick & 0xffff);
}

// How long a held generator must still wait before it may begin the tick after `tick`;
// 0: the caller has won the right to begin it now. Negative: somebody else just did.
// `word` is the one that the caller saw.
template <class S, class Clock>
std::int64_t begin_held_tick(S& slot, Clock& clock, std::uint64_t word, std::uint64_t tick) {
    std::uint64_t seen = slot.begun.load();
    const std::uint64_t now = clock.monotonic_us() & begun_time_mask;
    const std::uint64_t since = seen >> begun_tag_bits;
    // `since` ahead of now: written before the machine was restarted.
    if ((seen & 0xffff) != (tick & 0xffff) || since > now) {
        if (slot.word.load() != word) return -1;
        slot.begun.compare_exchange_strong(seen, begun(now, tick));
        return clock.tick_us();
    }
    const std::int64_t left = clock.tick_us() - static_cast<std::int64_t>(now - since);
    if (left > 0) return left;
    return slot.begun.compare_exchange_strong(seen, begun(now, tick + 1)) ? 0 : -1;
}

constexpr unsigned lead_tag_bits = 16;
constexpr std::uint64_t max_lead_ticks = ~std::uint64_t{0} >> lead_tag_bits;
constexpr std::uint64_t floor_under_way = 1, next_generation = 2;

constexpr std::uint64_t lead_ticks(std::uint64_t lead) { return lead >> lead_tag_bits; }

constexpr std::uint64_t pack_lead(std::uint64_t ticks, std::uint64_t before, bool under_way) {
    const std::uint64_t tag = (before & ~floor_under_way) + next_generation;
    return (ticks < max_lead_ticks ? ticks : max_lead_ticks) << lead_tag_bits | (tag & 0xfffe) | (under_way ? 1 : 0);
}

// The clock has caught up. `lead` is what was loaded before the word.
template <class S>
void end_lead(S& slot, std::uint64_t lead) {
    if ((lead & floor_under_way) == 0) slot.lead.compare_exchange_strong(lead, lead & 0xffff);
}

}  // namespace detail

// The whole table of the step.
template <class S, class Clock>
[[gnu::noinline]] Claim claim_by_step(S& slot, Clock& clock, std::uint32_t want, const Rules& rules,
                                      std::uint64_t limit) {
    for (;;) {
        const std::uint64_t lead = slot.lead.load();
        std::uint64_t word = slot.word.load();
        const std::uint64_t safe = slot.safe.load();
        const Result<std::uint64_t> now = clock.tick();
        State state = unpack(word, safe, rules.has_toggle);
        state.lead = detail::lead_ticks(lead);
        if (!now) {
            return {.outcome = now.error == Error::time_before_epoch ? Outcome::before_epoch : Outcome::ended,
                    .tick = state.tick};
        }

        Step s = step(state, now.value, want, rules);
        if (now.value < state.tick && !s.own_lead && slot.lead.load() != lead) continue;
        bool advanced = false;
        if (s.verdict == Verdict::overflow && s.held) {
            // Beyond the last tick no ceiling helps: the step below says that it has ended.
            if (state.tick < rules.max_tick && state.tick + 1 >= limit)
                return {.outcome = Outcome::ceiling, .tick = state.tick + 1};
            const std::int64_t left = detail::begin_held_tick(slot, clock, word, state.tick);
            if (left > 0) {
                return {.outcome = Outcome::overflow,
                        .held = true,
                        .own_lead = s.own_lead,
                        .toggle = state.toggle(),
                        .tick = state.tick,
                        .wait_us = left};
            }
            if (left < 0) continue;
            const bool own_lead = s.own_lead;
            s = step(state, state.tick + 1, want, rules);
            s.held = advanced = true;
            s.own_lead = own_lead;
        }
        switch (s.verdict) {
            case Verdict::issued:
                break;
            case Verdict::overflow:
            case Verdict::regression:
                return {.outcome = s.verdict == Verdict::overflow ? Outcome::overflow : Outcome::regression,
                        .toggle = state.toggle(),
                        .tick = state.tick,
                        .wait_us = clock.us_until(s.resume)};
            case Verdict::ended:
                return {.outcome = Outcome::ended, .tick = state.tick};
        }

        if (s.state.tick >= limit) return {.outcome = Outcome::ceiling, .tick = s.state.tick};

        const bool toggled = s.state.drifts != state.drifts;
        if (toggled) raise_to(slot.safe, s.state.safe);
        if (slot.word.compare_exchange_weak(word, pack(s.state, rules.has_toggle))) {
            if (state.lead != 0 && !s.held) detail::end_lead(slot, lead);
            return {.toggled = toggled,
                    .held = s.held,
                    .advanced = advanced,
                    .own_lead = s.own_lead,
                    .toggle = s.state.toggle(),
                    .first = s.first,
                    .count = s.count,
                    .tick = s.state.tick};
        }
    }
}

// Draws up to `want` (at least 1) consecutive sequence numbers. Never waits, never blocks.
//
// Nearly every claim is the first row of the step's table: the tick goes on and numbers are
// left. On the packed word that is one comparison and one addition; `safe` has no part in it.
template <bool has_toggle, class S, class Clock>
[[gnu::always_inline]] inline Claim claim(S& slot, Clock& clock, std::uint32_t want, const Rules& rules,
                                          std::uint64_t limit = no_limit) {
    std::uint64_t word = slot.word.load();
    const Result<std::uint64_t> now = clock.tick();
    const std::uint64_t block = word >> next_bits;
    const std::uint32_t next = static_cast<std::uint32_t>(word) & next_mask;
    if (now && now.value == block >> has_toggle && next >= rules.min && next <= rules.max && now.value < limit)
        [[likely]] {
        const std::uint32_t left = rules.max - next + 1;
        const std::uint32_t count = want < left ? want : left;
        if (slot.word.compare_exchange_strong(word, word + count)) [[likely]] {
            return {.toggle = has_toggle ? static_cast<std::uint32_t>(block & 1) : 0,
                    .first = next,
                    .count = count,
                    .tick = now.value};
        }
    }
    return claim_by_step(slot, clock, want, rules, limit);
}

}  // namespace snowflake_ids::ledger
