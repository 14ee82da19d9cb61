// Gives the next number of a generator. It comes from a lease (ledger/lease.hpp) if the statement generates many ids.
//
// The view is what this session can see of others' ids. A query or function that reads again may see ids that others
// have committed since. An id that is generated after that must be larger than they are, so it must not come from an
// older lease. So a lease ends when the view may have changed: with the next client statement, or when any transaction
// of the server has ended.
//
// PostgreSQL counts ended transactions, with subtransactions, before any snapshot can show their end. So if the count
// is the same, the view is the same.
#pragma once

#include "pg/generate/claim_numbers.hpp"
#include "pg/pg.hpp"

extern "C" {
#include "access/xact.h"
}

namespace snowflake_ids::next_number {

// What this file gives for one id. `toggle` is the tick-tock bit, 0 in formats without it.
struct Id {
    uint64 tick;
    uint32 toggle;
    uint32 sequence;
};

// How many transactions of the server have ended. Call this before the claim. A transaction that ends after the call
// changes the count, and so ends the lease. A transaction that ended earlier has only ids below the claim.
inline uint64 transactions_ended() { return server_transactions_ended(); }

// True if this session can have seen no new ids of others since it claimed its lease, and if the lease still keeps what
// readers were promised.
inline bool same_view(const Generator& g) {
    const Lease& l = g.lease;
    return !generator::is_promised_past(g) && GetCurrentStatementStartTimestamp() == l.statement &&
           transactions_ended() == l.ended;
}

// Claims one number, and ends the old lease. If the statement has generated ids before, and no transaction has ended
// since, it may claim several numbers. Then the others become the new lease. Returns the first number. Waits or raises
// an error as generator::claim_numbers() does.
template <generator::ClaimFunction claim>
[[gnu::noinline]] Id claim_more(Generator& g) {
    Lease& l = g.lease;
    const TimestampTz statement = GetCurrentStatementStartTimestamp();
    const uint64 ended = transactions_ended();
    const bool view_is_same = l.statement == statement && l.ended == ended;
    const uint32 want = ledger::lease_size(l, view_is_same, g.rules.max - g.rules.min + 1);
    generator::end_lease(g);
    const ledger::Claim c = generator::claim_numbers<claim>(g, want);
    // While the clock is behind there is no lease, and the numbers after the first are given up.
    g.uncounted -= ledger::begin_lease(l, c, want);
    l.statement = statement;
    l.ended = ended;
    return {c.tick, c.toggle, c.first};
}

// The next number of `g`, which must be set up: from its lease, or from a new claim. `tick_now(g)` returns the clock's
// tick, or 0 if the clock is outside the format. Waits or raises an error as generator::claim_numbers() does.
template <generator::ClaimFunction claim, class TickNow>
pg_attribute_always_inline Id take(Generator& g, TickNow tick_now) {
    Lease& l = g.lease;
    if (ledger::serves(
            l, [&] { return tick_now(g); }, [&] { return same_view(g); })) {
        l.used++;
        return {l.tick, l.toggle, l.next++};
    }
    return claim_more<claim>(g);
}

}  // namespace snowflake_ids::next_number
