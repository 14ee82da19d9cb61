// Gives the next number of a generator, from a lease (ledger/lease.hpp) if the statement generates many ids.
//
// A lease ends when the session's view of others' ids may have changed: with the next client statement, or when any
// transaction of the server has ended, which changes a counter (pg/compat.hpp).
#pragma once

#include "pg/generate/claim_numbers.hpp"
#include "pg/pg.hpp"

extern "C" {
#include "access/xact.h"
}

namespace snowflake_ids::next_number {

struct Id {
    uint64 tick;
    uint32 toggle;
    uint32 sequence;
};

// True if there can be no new ids of others to see.
inline bool same_view(const Generator& g) {
    const Lease& l = g.lease;
    return GetCurrentStatementStartTimestamp() == l.statement && server_transactions_ended() == l.ended;
}

template <generator::ClaimFunction claim>
[[gnu::noinline]] Id claim_more(Generator& g) {
    Lease& l = g.lease;
    const TimestampTz statement = GetCurrentStatementStartTimestamp();
    // Before the claim: a transaction that ends later changes the count, and so ends the lease. One that ended earlier
    // has only ids below the claim.
    const uint64 ended = server_transactions_ended();
    const bool view_is_same = l.statement == statement && l.ended == ended;
    const uint32 want = ledger::lease_size(l, view_is_same, g.rules.max - g.rules.min + 1);
    generator::end_lease(g);
    const ledger::Claim c = generator::claim_numbers<claim>(g, want);
    g.uncounted -= ledger::begin_lease(l, c, want);
    l.statement = statement;
    l.ended = ended;
    return {c.tick, c.toggle, c.first};
}

// The next number of `g`, which must be set up. `tick_now(g)` returns the clock's tick, 0 if it is outside the format.
// Waits and raises errors as generator::claim_numbers() does.
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
