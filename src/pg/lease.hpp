// Leases (ledger/lease.hpp) for statements that draw again and again. The view that one ends
// with is the client statement and the snapshot: a function's next query sees what others
// have committed meanwhile, ids included.
//
// Same snapshot: as long as no transaction has ended, xmax and the number of running
// transactions below it stay as they are; the first end changes one of them for good.
#pragma once

extern "C" {
#include "access/xact.h"
#include "utils/snapmgr.h"
}

#include "pg/generator.hpp"
#include "pg/pg.hpp"

namespace snowflake_ids::lease {

struct Id {
    uint64 tick;
    uint32 toggle;
    uint32 sequence;
};

inline bool same_view(const Lease& l) {
    if (l.statement != GetCurrentStatementStartTimestamp() || !ActiveSnapshotSet()) return false;
    const Snapshot s = GetActiveSnapshot();
    return l.xmax == s->xmax && l.running == s->xcnt + static_cast<uint32>(s->subxcnt);
}

inline void note_view(Lease& l) {
    l.statement = GetCurrentStatementStartTimestamp();
    l.xmax = InvalidTransactionId;
    if (!ActiveSnapshotSet()) return;
    const Snapshot s = GetActiveSnapshot();
    l.xmax = s->xmax;
    l.running = s->xcnt + static_cast<uint32>(s->subxcnt);
}

// Claims one number, or a lease if the statement keeps drawing.
template <generator::ClaimFunction claim>
[[gnu::noinline]] Id draw_more(Generator& g) {
    Lease& l = g.lease;
    const uint32 want = ledger::lease_size(l, same_view(l), g.rules.max - g.rules.min + 1);
    generator::end_lease(g);
    l.want = want;
    const ledger::Claim c = generator::draw<claim>(g, want);
    g.uncounted -= ledger::begin_lease(l, c, want);
    note_view(l);
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
