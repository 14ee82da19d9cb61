// A backend's own generators: which slot of the ledger they draw from, under which rules,
// and what they have drawn and not yet added to the shared counters.
#pragma once

#include "core/layout.hpp"
#include "core/mastic.hpp"
#include "core/sno.hpp"
#include "core/snowflake_si.hpp"
#include "core/step.hpp"
#include "ledger/claim.hpp"
#include "ledger/clock.hpp"
#include "ledger/lease.hpp"
#include "ledger/slot.hpp"
#include "pg/pg.hpp"
#include "pg/server/settings.hpp"

namespace snowflake_ids {

// With what it was drawn for; see lease.hpp.
struct Lease : ledger::Lease {
    TimestampTz statement = 0;
    uint64 ended = 0;  // transactions of the server
};

struct Generator {
    Lease lease{};
    ledger::TickMemo now{};        // of `timeline`
    const char* name = nullptr;    // of the format, for messages
    ledger::Slot* slot = nullptr;  // null: not set up yet
    Rules rules{};
    uint32 node = 0;  // sno partition, Snowflake-SI machine id
    Timeline timeline{};
    Layout layout{};            // 64-bit formats
    uint64 epoch = 0;           // Header::epoch it was set up under
    uint64 limit = 0;           // ticks from here on need a higher ceiling first
    uint64 raise_from = 0;      // ticks from here on are near the limit
    bool in_recovery = false;   // set up with standby_machine_id
    uint64 generation = 0;      // settings::generation it was set up under
    uint64 counted_tick = 0;    // tick that `uncounted` belongs to
    uint64 uncounted = 0;       // ids drawn and not yet in the slot's counters
    uint64 set_up_us = 0;       // what the set-up took of the patience of the draw that follows it
    Generator* next = nullptr;  // all that were ever set up, for the end of a transaction
};

namespace durability {
void raise_ahead(Generator& g, uint64 tick);
}

namespace occurrence {
void note_regression(Generator& g, const ledger::Claim& c);
void end_what_is_over(const Generator& g);
}  // namespace occurrence

namespace generator {

using ClaimFunction = ledger::Claim (*)(Generator&, uint32 want);

// Of this node, as the settings say. sno_at: given times, see sno_generate.cpp.
extern Generator own_sno, own_sno_at, own_mastic, own_snowflake_si;

void set_up_sno(Generator& g);
void set_up_sno_at(Generator& g);
// Any 64-bit layout. `owner`: the database that created it, InvalidOid for a known one.
void set_up_snowflake(Generator& g, const char* name, const Layout& layout, Oid owner);
// The layout of the settings, which the first id freezes.
void set_up_snowflake_si(Generator& g);

// The time of the next id of that name is outside the format.
[[noreturn]] void raise_outside_format(const char* name, const Timeline& timeline, ledger::Outcome outcome);

// The sno generator of an explicit partition; and whether it has drawn on this server.
Generator& sno_of_partition(uint32 partition);
bool draws_sno_of(uint32 partition);

// Ends the lease; its unused numbers were not issued. (Modulo 2^64, as the counters are.)
inline void end_lease(Generator& g) {
    g.uncounted -= g.lease.end - g.lease.next;
    g.lease.next = g.lease.end;
}

// Adds what was drawn to the shared counters. Atomic additions and no more: it is called where a transaction has been
// committed, and an error would be a panic.
void count_up(Generator& g);
void count_up_all();

// Waits or raises, as the settings say, until a claim succeeds.
ledger::Claim retry(Generator& g, ledger::Claim failed, uint32 want, ClaimFunction claim);

pg_attribute_always_inline ledger::Claim claim_sno(Generator& g, uint32 want) {
    ledger::SystemClock clock{[] { return sno::timeline; }};
    return ledger::claim<true>(*g.slot, clock, want, g.rules, g.limit);
}

// What the compiler may know of a generator's time line, to read the clock in fewer steps.
struct MasticTime {
    static constexpr const Timeline& of(const Generator&) { return mastic::layout.timeline; }
};
struct SnowflakeSiTime {
    static Timeline of(const Generator& g) { return {g.timeline.epoch_us, 1000, snowflake_si::default_clock_bits}; }
};
struct AnyTime {
    static const Timeline& of(const Generator& g) { return g.timeline; }
};

template <class Time>
pg_attribute_always_inline ledger::Claim claim_snowflake(Generator& g, uint32 want) {
    ledger::SystemClock clock{[&g] { return Time::of(g); }};
    return ledger::claim<false>(*g.slot, clock, want, g.rules, g.limit);
}

// Up to `want` sequence numbers, waiting if need be.
template <ClaimFunction claim>
pg_attribute_always_inline ledger::Claim draw(Generator& g, uint32 want) {
    ledger::Claim c = claim(g, want);
    if (unlikely(c.outcome != ledger::Outcome::issued)) c = retry(g, c, want, claim);
    // The shared counters are touched once per tick and at the end of a transaction.
    if (unlikely(c.tick != g.counted_tick || c.toggled || c.held)) {
        if (unlikely(c.toggled || c.held)) occurrence::note_regression(g, c);
        if (c.tick != g.counted_tick || c.toggled || c.advanced) {
            count_up(g);
            g.counted_tick = c.tick;
            g.set_up_us = 0;
            if (unlikely(g.slot->counters.anything_goes_on())) occurrence::end_what_is_over(g);
            if (unlikely(c.tick >= g.raise_from)) durability::raise_ahead(g, c.tick);
        }
    }
#ifndef SNOWFLAKE_IDS_NO_COUNTERS
    g.uncounted += c.count;
#endif
    return c;
}

// The ledger's Header::epoch, or a zero before it is mapped.
extern const ledger::Word* epoch;

// Set up under other settings, or before an operator's reset.
inline bool stale(const Generator& g) {
    return g.generation != settings::generation || g.epoch != epoch->load(std::memory_order_relaxed);
}

inline Generator& ready_sno() {
    if (unlikely(stale(own_sno))) set_up_sno(own_sno);
    return own_sno;
}

inline Generator& ready_sno_at() {
    if (unlikely(stale(own_sno_at))) set_up_sno_at(own_sno_at);
    return own_sno_at;
}

inline Generator& ready_mastic() {
    if (unlikely(stale(own_mastic))) set_up_snowflake(own_mastic, "Mastic", mastic::layout, InvalidOid);
    return own_mastic;
}

inline Generator& ready_snowflake_si() {
    if (unlikely(stale(own_snowflake_si))) set_up_snowflake_si(own_snowflake_si);
    return own_snowflake_si;
}

}  // namespace generator
}  // namespace snowflake_ids
