// A claim takes sequence numbers from a slot that processes share. src/README.md explains the words.
//
//   1. Load the word, then `safe`, and only THEN read the clock. After an earlier reading another process may have
//      advanced the word, and the claim would see a regression that never happened.
//   2. Compute the pure step (core/step.hpp).
//   3. On a regression lift `safe` first, by an atomic maximum.
//   4. Swap the word. If another process was faster, start over.
//
// Why `safe` comes first: the word has tick 100 and toggle 0, `safe` is 90, and the clock goes back to 95.
//   A   loads both, reads 95, lifts `safe` to 100, and is killed before it swaps the word to tick 95, toggle 1
//   B   loads tick 100 and safe 100, and reads 96: no toggle is free, so it holds, and repeats nothing
// If A swapped first, B would find tick 95, toggle 1 and safe 90. If the clock went back to 92, B would toggle to tick
// 92, toggle 0, whose ids were issued long ago.
//
// Invariants: every successful swap hands out numbers that no other swap ever hands out. Inside a toggle (tick,
// toggle, next) of the word only moves forward. `safe` only grows. Exception: a forced reset (reset.hpp) may move both
// back.
//
// Hold. The clock is behind the last tick H. The generator uses the rest of H. Then it takes H + 1, but not before one
// tick of monotonic time has passed since H was begun. So its distance from the clock cannot grow by itself.
//
// `begun` says when a tick was begun: monotonic microseconds << 16 | low 16 bits of that tick. The process that swaps
// `begun` to the next tick may begin that tick. `begun` can name another tick than H: the clock began H, or the
// process that began H was killed before it swapped the word. Then
//   - if the word is unchanged: write the present time to `begun` and wait a full tick;
//   - if the word has changed: another process was faster, start over.
//
// Lead. A new life puts a slot ahead of a clock that is right. A clock that is behind by no more than Rules::lead has
// not gone back (core/step.hpp). A held tick that is begun in the lead also lifts `safe` to itself. So no toggle is
// free when the clock has passed the floor and is still behind, because the clock has not gone back then either.
//
// Limit. A tick at or above `limit` is not issued. The caller takes the limit from the ceilings as it last saw them.
// They only grow, so an old limit is only too careful. Exception: a forced reset lowers them, and makes every session
// look again (Header::revision). A tick that was begun below a ceiling lies below it to its end.
//
// The functions are templates, so that the unit tests and the model checker run this very code. A Clock has
//   Result<uint64_t> tick()             the wall clock in ticks of the format
//   MonotonicTime monotonic()           never goes back while the machine is up
//   microseconds until(uint64_t tick)   wall-clock time until the tick starts
//   microseconds tick_length()
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "core/error.hpp"
#include "core/step.hpp"
#include "core/time.hpp"
#include "ledger/packed_state.hpp"
#include "ledger/slot.hpp"

namespace snowflake_ids::ledger {

enum class Outcome : unsigned char {
    issued,
    overflow,      // the sequence of this tick is used up: try again after `wait`
    regression,    // the clock is behind, and the policy is to wait (try again after `wait`) or to fail
    ceiling,       // the tick is at or above the caller's limit: lift the ceilings first
    ended,         // the last tick of the format or of the word (packed_state.hpp) has passed
    before_epoch,  // the clock is before the format's epoch
};

// For a clock that shows no tick of the format.
constexpr Outcome outside(Error e) { return e == Error::time_before_epoch ? Outcome::before_epoch : Outcome::ended; }

inline constexpr std::uint64_t no_limit = ~std::uint64_t{0};

// What a claim has found about the clock.
struct Standing {
    bool toggled : 1 = false;   // the clock has gone back: this claim was the regression
    bool held : 1 = false;      // the clock is behind `tick`
    bool begun : 1 = false;     // held, and this claim has begun that tick
    bool own_lead : 1 = false;  // held, and the clock is behind by no more than the lead

    constexpr bool on_time() const { return !toggled && !held; }
};

// Only an issued claim has numbers: `count` of them, from `first` on.
struct Claim {
    Outcome outcome = Outcome::issued;
    Standing standing{};
    std::uint32_t toggle = 0;
    std::uint32_t first = 0;
    std::uint32_t count = 0;
    std::uint64_t tick = 0;  // issued: that of the numbers; ceiling: the wanted one; else that of the last id
    microseconds wait{};     // overflow, regression: how long until it makes sense to try again
};

namespace detail {

constexpr unsigned begun_tag_bits = 16;
constexpr std::uint64_t begun_time_mask = ~std::uint64_t{0} >> begun_tag_bits;  // microseconds of nine years

// The word Slot::begun for a tick that was begun at `since`, in monotonic microseconds.
constexpr std::uint64_t pack_begun(std::uint64_t since, std::uint64_t tick) {
    return since << begun_tag_bits | (tick & 0xffff);
}

// Whether this caller may begin the tick after `tick` (see Hold above). `word`: as the caller has loaded it.
//   > 0  not yet: wait so long
//     0  yes, and no other process may
//   < 0  no, another process was faster: start over
template <class S, class Clock>
microseconds begin_held_tick(S& slot, Clock& clock, std::uint64_t word, std::uint64_t tick) {
    std::uint64_t seen = slot.begun.load();
    const std::uint64_t now = static_cast<std::uint64_t>(number_of(clock.monotonic())) & begun_time_mask;
    const std::uint64_t since = seen >> begun_tag_bits;
    // If `since` is later than now, the 48 bits of the time have started again at 0 in between.
    if ((seen & 0xffff) != (tick & 0xffff) || since > now) {
        if (slot.word.load() != word) return microseconds{-1};
        slot.begun.compare_exchange_strong(seen, pack_begun(now, tick));
        return clock.tick_length();
    }
    const microseconds left = clock.tick_length() - microseconds{now - since};
    if (left.count() > 0) return left;
    return microseconds{slot.begun.compare_exchange_strong(seen, pack_begun(now, tick + 1)) ? 0 : -1};
}

// If the claim issues numbers, the slot's word must first be swapped to `after`.
struct Plan {
    Claim claim;
    State after{};
};

// `tick`: see Claim::tick.
constexpr Plan refuse(Outcome outcome, std::uint64_t tick) { return {{.outcome = outcome, .tick = tick}}; }

template <class Clock>
Plan plan_step(const Step& s, const State& state, Standing standing, Clock& clock, std::uint64_t limit) {
    if (s.verdict == Verdict::ended) return refuse(Outcome::ended, state.tick);
    if (s.verdict != Verdict::issued) {
        return {{.outcome = s.verdict == Verdict::overflow ? Outcome::overflow : Outcome::regression,
                 .toggle = state.toggle(),
                 .tick = state.tick,
                 .wait = clock.until(s.resume)}};
    }
    if (s.state.tick >= limit) return refuse(Outcome::ceiling, s.state.tick);
    return {
        {.standing = standing, .toggle = s.state.toggle(), .first = s.first, .count = s.count, .tick = s.state.tick},
        s.state};
}

// The plan if a held generator has used up its tick. Returns nothing if another process was faster: start over.
template <class S, class Clock>
std::optional<Plan> plan_next_held_tick(S& slot, Clock& clock, std::uint64_t word, const State& state, bool own_lead,
                                        std::uint32_t want, const Rules& rules, std::uint64_t limit) {
    // After the format's last tick a higher ceiling is of no use: plan_step() answers `ended`.
    const std::uint64_t next = state.tick + 1;
    if (state.tick < rules.max_tick && next >= limit) return refuse(Outcome::ceiling, next);
    const microseconds left = begin_held_tick(slot, clock, word, state.tick);
    if (left.count() < 0) return {};
    if (left.count() > 0) {
        return Plan{{.outcome = Outcome::overflow,
                     .standing = {.held = true, .own_lead = own_lead},
                     .toggle = state.toggle(),
                     .tick = state.tick,
                     .wait = left}};
    }
    Step s = step(state, next, want, rules);
    // The clock has not gone back, so it must find no free toggle at this tick (see Lead above).
    if (own_lead && rules.has_toggle) s.state.safe = std::max(s.state.safe, s.state.tick);
    return plan_step(s, state, {.held = true, .begun = true, .own_lead = own_lead}, clock, limit);
}

// The plan of a claim when the clock shows the tick `now`. May swap `begun`, never the word. Returns nothing if another
// process was faster.
template <class S, class Clock>
std::optional<Plan> plan(S& slot, Clock& clock, std::uint64_t word, const State& state, std::uint64_t now,
                         std::uint32_t want, const Rules& rules, std::uint64_t limit) {
    const Step s = step(state, now, want, rules);
    if (s.verdict == Verdict::overflow && s.held)
        return plan_next_held_tick(slot, clock, word, state, s.own_lead, want, rules, limit);
    const bool toggled = s.state.drifts != state.drifts, held = s.held && !toggled;
    const Standing standing{.toggled = toggled, .held = held, .own_lead = held && s.own_lead};
    return plan_step(s, state, standing, clock, limit);
}

}  // namespace detail

// Claims up to `want` numbers, whichever row of the table in core/step.hpp applies. Never waits.
template <class S, class Clock>
[[gnu::noinline]] Claim claim_by_step(S& slot, Clock& clock, std::uint32_t want, const Rules& rules,
                                      std::uint64_t limit) {
    for (;;) {
        std::uint64_t word = slot.word.load();
        const std::uint64_t safe = slot.safe.load();
        const Result<std::uint64_t> now = clock.tick();
        const State state = unpack(word, safe, rules.has_toggle);
        if (!now) return {.outcome = outside(now.error), .tick = state.tick};
        const std::optional<detail::Plan> plan = detail::plan(slot, clock, word, state, now.value, want, rules, limit);
        if (!plan) continue;
        const auto& [claim, after] = *plan;
        if (claim.outcome != Outcome::issued) return claim;
        if (after.safe != state.safe) lift_to(slot.safe, after.safe);
        if (slot.word.compare_exchange_weak(word, pack(after, rules.has_toggle))) return claim;
    }
}

// Claims up to `want` (at least 1) consecutive sequence numbers of a tick below `limit`. Never waits.
//
// Nearly every claim is the first row of the table in core/step.hpp: the clock is still in the word's tick, and numbers
// are left. On the packed word that is one comparison and one addition, without `safe`. All other claims go to
// claim_by_step().
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
