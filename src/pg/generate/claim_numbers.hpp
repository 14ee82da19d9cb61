// Claims sequence numbers for a generator that is set up: at once if possible, otherwise after a wait. Raises an error
// if no claim can succeed.
#pragma once

#include "core/mastic.hpp"
#include "core/sno.hpp"
#include "core/snowflake_si.hpp"
#include "pg/ceilings/issue_limit.hpp"
#include "pg/generate/generator.hpp"
#include "pg/pg.hpp"
#include "pg/promise/writer.hpp"

namespace snowflake_ids::generator {

// Claims up to `want` numbers, and never waits: claim_sno() or claim_snowflake(). Its outcome says whether it has
// numbers.
using ClaimFunction = ledger::Claim (*)(Generator&, uint32 want);

// Call this after a claim that has issued nothing, and pass it as `failed`. Lifts ceilings or waits, and claims again,
// until a claim issues numbers. Raises an error if the clock is outside the format, if a ceiling cannot be lifted, if
// the wait is longer than max_wait, or if the settings overflow and clock_regression demand an error instead of a wait.
ledger::Claim claim_after_wait(Generator& g, ledger::Claim failed, uint32 want, ClaimFunction claim);

// Claims up to `want` numbers of a sno generator. Never waits.
pg_attribute_always_inline ledger::Claim claim_sno(Generator& g, uint32 want) {
    ledger::SystemClock clock{[] { return sno::timeline; }};
    return ledger::claim<true>(*g.slot, clock, want, g.rules, g.limit);
}

// Claims again, because writer::admit() has refused the last claim: readers have been promised that no id of its
// time appears any more. The numbers of that claim are not used. The new claim, which is returned, was admitted. Waits
// or raises an error as claim_after_wait() does.
ledger::Claim claim_at_promise(Generator& g, uint32 want, ClaimFunction claim);

// Call this for a claim that has issued numbers although its clock was not on time. If the claim has changed the
// tick-tock bit, or has begun a new tick, it is counted. A line goes to the log at most once a minute. Claims that are
// ahead of the clock only because a life has just begun (ledger/life.hpp) are left out.
void note_clock_behind(Generator& g, const ledger::Claim& c);

// Each of these gives the time line of a generator to templates. If the time line is a constant, reading the clock is
// cheaper. AnyTime is for a layout that is known only at run time.
struct MasticTime {
    static constexpr const Timeline& of(const Generator&) { return mastic::layout.timeline; }
};
struct SnowflakeSiTime {
    static constexpr const Timeline& of(const Generator&) { return snowflake_si::layout.timeline; }
};
struct AnyTime {
    static const Timeline& of(const Generator& g) { return g.timeline; }
};

// Claims up to `want` numbers of a generator of a 64-bit layout. `Time` is one of the structs above. Never waits.
template <class Time>
pg_attribute_always_inline ledger::Claim claim_snowflake(Generator& g, uint32 want) {
    ledger::SystemClock clock{[&g] { return Time::of(g); }};
    return ledger::claim<false>(*g.slot, clock, want, g.rules, g.limit);
}

// Claims 1 to `want` sequence numbers of one tick, and shows their time to readers. `g` must be set up. Waits or raises
// an error as claim_after_wait() does.
template <ClaimFunction claim>
pg_attribute_always_inline ledger::Claim claim_numbers(Generator& g, uint32 want) {
    ledger::Claim c = claim(g, want);
    if (unlikely(c.outcome != ledger::Outcome::issued)) c = claim_after_wait(g, c, want, claim);
    // Only some claims do what follows: the first one of a tick, the first one of a transaction, one whose clock is
    // behind or has gone back, and one after readers were promised more.
    if (unlikely(c.tick != g.counted_tick || c.standing != ledger::Standing::on_time || is_promised_past(g))) {
        if (unlikely(!writer::admit(g.timeline.last(c.tick)))) c = claim_at_promise(g, want, claim);
        g.accepted = g.timeline.last(c.tick);
        if (unlikely(c.standing != ledger::Standing::on_time)) note_clock_behind(g, c);
        // This is done once for each tick and each transaction. If the clock has gone back, a new tick can have the
        // number of the tick that was counted last.
        if (c.tick != g.counted_tick || c.toggled() || c.advanced()) {
            count_up(g);
            g.counted_tick = c.tick;
            g.set_up_time = {};
            issue_limit::note_latest(g.timeline.start(c.tick));
            if (unlikely(c.tick >= g.lift_from)) issue_limit::lift_ahead(g, c.tick);
        }
    }
    g.uncounted += c.count;
    return c;
}

}  // namespace snowflake_ids::generator
