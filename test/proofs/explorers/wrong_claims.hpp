// Claims that are wrong on purpose: an explorer or a storm must find the repeat.
#pragma once

#include "ledger/claim.hpp"

namespace snowflake_ids::test {

// As sno's Go reference has them.
struct TwoWords {
    template <class S, class Clock>
    static ledger::Claim claim(S& slot, Clock& clock, std::uint32_t, const Rules& rules) {
        auto& high = slot.word;
        auto& sequence = slot.begun;  // any other word
        std::uint64_t tick = high.load();
        const std::uint64_t now = clock.tick().value;
        if (now == tick) {
            std::uint64_t seen = sequence.load();
            while (!sequence.compare_exchange_weak(seen, seen + 1)) {}
            const std::uint64_t next = seen + 1;
            if (next <= rules.max) {
                return {.first = static_cast<std::uint32_t>(next), .count = 1, .tick = now};
            }
        } else if (now > tick && high.compare_exchange_strong(tick, now)) {
            sequence.store(rules.min);
            return {.first = rules.min, .count = 1, .tick = now};
        }
        return {.outcome = ledger::Outcome::overflow, .tick = tick};
    }
};

// All false is a right claim.
struct Order {
    bool clock_before_word = false;  // finds regressions that are not there, but repeats nothing
    bool safe_before_word = false;
    bool store_safe = false;  // not by an atomic maximum
    bool word_before_lift = false;
    bool store_word = false;  // not compared
    bool forget_lift = false;
};

template <Order order>
struct Reordered {
    template <class S, class Clock>
    static ledger::Claim claim(S& slot, Clock& clock, std::uint32_t want, const Rules& rules) {
        Result<std::uint64_t> now;
        if (order.clock_before_word) now = clock.tick();
        std::uint64_t safe = order.safe_before_word ? slot.safe.load() : 0;
        std::uint64_t word = slot.word.load();
        if (!order.safe_before_word) safe = slot.safe.load();
        if (!order.clock_before_word) now = clock.tick();
        const State state = ledger::unpack(word, safe, rules.has_toggle);
        const Step s = step(state, now.value, want, rules);
        if (s.verdict != Verdict::issued)
            return {.outcome = ledger::Outcome::overflow, .standing = {.held = s.held}, .tick = state.tick};

        const bool toggled = s.state.drifts != state.drifts;
        const auto lift = [&] {
            if (order.forget_lift || !toggled) return;
            order.store_safe ? slot.safe.store(s.state.safe) : ledger::lift_to(slot.safe, s.state.safe);
        };
        if (!order.word_before_lift) lift();
        const std::uint64_t next = ledger::pack(s.state, rules.has_toggle);
        if (order.store_word) {
            slot.word.store(next);
        } else if (!slot.word.compare_exchange_strong(word, next)) {
            return {.outcome = ledger::Outcome::overflow, .tick = state.tick};
        }
        if (order.word_before_lift) lift();
        return {.standing = {.toggled = toggled, .held = s.held && !toggled},
                .toggle = s.state.toggle(),
                .first = s.first,
                .count = s.count,
                .tick = s.state.tick};
    }
};

}  // namespace snowflake_ids::test
