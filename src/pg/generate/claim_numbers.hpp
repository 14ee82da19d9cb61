// Claims sequence numbers for a generator that is set up, and waits if necessary.
#pragma once

#include "core/mastic.hpp"
#include "core/sno.hpp"
#include "core/snowflake_si.hpp"
#include "pg/ceilings/issue_limit.hpp"
#include "pg/generate/generator.hpp"
#include "pg/pg.hpp"

namespace snowflake_ids::generator {

// Claims up to `want` numbers without waiting, and may issue none.
using ClaimFunction = ledger::Claim (*)(Generator&, uint32 want);

// Call this after the claim `failed` issued nothing. Lifts ceilings or waits, up to max_wait, and claims until numbers
// are issued. Raises an error if the clock is outside the format, a ceiling cannot be lifted, the wait is over, or a
// setting demands one.
ledger::Claim claim_after_wait(Generator& g, ledger::Claim failed, uint32 want, ClaimFunction claim);

// Call this for a claim that must wait, or that was toggled or held. Logs at most once a minute; counts overflows,
// toggles and held ticks begun. Does neither in the lead after a start.
void note_late(const Generator& g, const ledger::Claim& c);

// Lifts the ceilings early, after a claim of this tick.
void lift_ahead(Generator& g, uint64 tick);

// The time line of a generator. With a constant, reading the clock is cheaper.
using TimeOf = const Timeline& (*) (const Generator&);
constexpr const Timeline& sno_time(const Generator&) { return sno::timeline; }
constexpr const Timeline& mastic_time(const Generator&) { return mastic::layout.timeline; }
constexpr const Timeline& snowflake_si_time(const Generator&) { return snowflake_si::layout.timeline; }
constexpr const Timeline& any_time(const Generator& g) { return g.timeline; }

// With -fsanitize=undefined, g++ does not compare functions in a constant expression.
template <TimeOf>
constexpr bool is_sno = false;
template <>
inline constexpr bool is_sno<sno_time> = true;

template <TimeOf time_of>
pg_attribute_always_inline ledger::Claim claim(Generator& g, uint32 want) {
    ledger::SystemClock clock{[&g] { return time_of(g); }};
    return ledger::claim<is_sno<time_of>>(*g.slot, clock, want, g.rules, g.limit);
}

// Claims 1 to `want` numbers of one tick. Waits and raises errors as claim_after_wait() does.
template <ClaimFunction claim>
pg_attribute_always_inline ledger::Claim claim_numbers(Generator& g, uint32 want) {
    ledger::Claim c = claim(g, want);
    if (unlikely(c.outcome != ledger::Outcome::issued)) c = claim_after_wait(g, c, want, claim);
    if (unlikely(c.tick != g.counted_tick || !c.standing.on_time())) {
        if (unlikely(!c.standing.on_time())) note_late(g, c);
        // Count once for each tick and transaction. After a step back, a new tick can have the number of the one that
        // was counted last.
        if (c.tick != g.counted_tick || c.standing.toggled || c.standing.begun) {
            count_up(g);
            g.counted_tick = c.tick;
            g.set_up_time = {};
            issue_limit::generated = true;
            if (unlikely(c.tick >= g.lift_from)) lift_ahead(g, c.tick);
        }
    }
    g.uncounted += c.count;
    return c;
}

}  // namespace snowflake_ids::generator
