// Leads that are kept wrongly on purpose: see ledger_wrong.hpp.
#pragma once

#include "ledger/claim.hpp"
#include "ledger/life.hpp"

namespace snowflake_ids::test {

struct RightLead {
    template <class S, class Clock>
    static ledger::Claim claim(S& slot, Clock& clock, std::uint32_t want, const Rules& rules) {
        return ledger::claim_by_step(slot, clock, want, rules, ledger::no_limit);
    }
    template <class S>
    static void begin(S& slot, std::uint64_t tick, bool has_toggle, std::uint64_t now) {
        ledger::begin_slot(slot, tick, has_toggle, now, 15);
    }
};

// The words of a slot, with a lead of another kind.
template <class S, class Lead>
struct OtherLead {
    decltype(S::word)&word, &safe, &begun;
    Lead lead;

    explicit OtherLead(S& s) : word(s.word), safe(s.safe), begun(s.begun), lead{s.lead} {}
};

// It is allowed after the clock has caught up, too.
struct NeverEnds : RightLead {
    template <class S, class Clock>
    static ledger::Claim claim(S& slot, Clock& clock, std::uint32_t want, const Rules& rules) {
        struct Kept {
            decltype(S::lead)& lead;
            std::uint64_t load() const { return lead.load(); }
            bool compare_exchange_strong(std::uint64_t&, std::uint64_t) { return true; }
        };
        OtherLead<S, Kept> kept(slot);
        return RightLead::claim(kept, clock, want, rules);
    }
};

// It is read when the clock has been, by which time another process may have ended it.
struct LoadedAfterTheClock : RightLead {
    template <class S, class Clock>
    static ledger::Claim claim(S& slot, Clock& clock, std::uint32_t want, const Rules& rules) {
        std::uint64_t word = slot.word.load();
        State state = ledger::unpack(word, slot.safe.load(), rules.has_toggle);
        const std::uint64_t now = clock.tick().value;
        const std::uint64_t lead = slot.lead.load();
        state.lead = ledger::detail::lead_ticks(lead);
        const Step s = step(state, now, want, rules);
        if (s.verdict == Verdict::regression) return {.outcome = ledger::Outcome::regression, .tick = state.tick};
        if (s.verdict != Verdict::issued ||
            !slot.word.compare_exchange_strong(word, ledger::pack(s.state, rules.has_toggle)))
            return {.outcome = ledger::Outcome::overflow, .tick = state.tick};
        if (state.lead != 0 && !s.held) ledger::detail::end_lead(slot, lead);
        return {.held = s.held, .own_lead = s.own_lead, .first = s.first, .count = s.count, .tick = s.state.tick};
    }
};

// It is there only when the slot has been raised.
struct NotedAfterTheFloor : RightLead {
    template <class S>
    static void begin(S& slot, std::uint64_t tick, bool has_toggle, std::uint64_t now) {
        ledger::raise_slot(slot, tick, has_toggle);
        slot.lead.store(ledger::detail::pack_lead(tick - now, 0, false));
    }
};

// It is there before that, and who has the word from before the floor may end it.
struct NotedBeforeTheFloor : RightLead {
    template <class S>
    static void begin(S& slot, std::uint64_t tick, bool has_toggle, std::uint64_t now) {
        slot.lead.store(ledger::detail::pack_lead(tick - now, 0, false));
        ledger::raise_slot(slot, tick, has_toggle);
    }
};

}  // namespace snowflake_ids::test
