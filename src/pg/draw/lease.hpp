// Leases (ledger/lease.hpp) for statements that draw again and again. The view that one ends
// with is the client statement and all that has committed: a query or a function that looks
// again may see what others have committed meanwhile, ids included.
//
// The server counts the transactions that have ended, subtransactions too, before any
// snapshot can show that they have. So who has seen something new finds another count.
#pragma once

#include "pg/draw/claim.hpp"
#include "pg/pg.hpp"

extern "C" {
#include "access/xact.h"
}

namespace snowflake_ids::lease {

struct Id {
    uint64 tick;
    uint32 toggle;
    uint32 sequence;
};

// Read before what depends on it: others' ids that are below the claim after it need not be seen.
inline uint64 transactions_ended() { return server_transactions_ended(); }

inline bool same_view(const Lease& l) {
    return l.statement == GetCurrentStatementStartTimestamp() && l.ended == transactions_ended();
}

// Claims one number, or a lease if the statement keeps drawing.
template <generator::ClaimFunction claim>
[[gnu::noinline]] Id draw_more(Generator& g) {
    Lease& l = g.lease;
    const TimestampTz statement = GetCurrentStatementStartTimestamp();
    const uint64 ended = transactions_ended();
    const bool same_view = l.statement == statement && l.ended == ended;
    const uint32 want = ledger::lease_size(l, same_view, g.rules.max - g.rules.min + 1);
    generator::end_lease(g);
    l.want = want;
    const ledger::Claim c = generator::draw<claim>(g, want);
    g.uncounted -= ledger::begin_lease(l, c, want);
    l.statement = statement;
    l.ended = ended;
    return {c.tick, c.toggle, c.first};
}

// One number. `tick_now` gives the clock's tick, 0 if it is outside the format.
template <generator::ClaimFunction claim, class TickNow>
pg_attribute_always_inline Id draw(Generator& g, TickNow tick_now) {
    Lease& l = g.lease;
    if (ledger::serves(
            l, [&] { return tick_now(g); }, [&] { return same_view(l); })) {
        l.used++;
        return {l.tick, l.toggle, l.next++};
    }
    return draw_more<claim>(g);
}

}  // namespace snowflake_ids::lease
