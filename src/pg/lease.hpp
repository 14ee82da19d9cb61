// Leases. Two processes that swap one shared word move its cache line back and forth, which
// costs several clock reads. A backend that draws again and again for one statement therefore
// claims a small, growing range in one swap and serves itself from it.
//
// What keeps order: an id that is drawn after another one was seen is larger. So a lease ends
// with its tick, with the client statement, with the snapshot (a function's next query sees
// what others have committed meanwhile, ids included), and with an operator's reset. It is
// never taken while the clock is behind, and never more than a small part of the pool. Unused
// numbers are simply not issued.
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

// At most this part of a pool: 64 backends can hold one each.
inline constexpr uint32 pool_share = 64;

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
    if (!same_view(l)) {
        l.want = 1;
    } else if (l.next == l.end) {
        const uint32 most = (g.rules.max - g.rules.min + 1) / pool_share;
        l.want = Max(Min(l.want * 2, most), 1u);
    } else {
        // The tick ended first: no more than the last one could use.
        l.want = Max(l.used, 1u);
    }
    generator::end_lease(g);
    const ledger::Claim c = generator::draw<claim>(g, l.want);
    l = {.tick = c.tick, .toggle = c.toggle, .next = c.first + 1, .end = c.first + c.count, .want = l.want, .used = 1};
    note_view(l);
    if (c.held) {
        // Only what was asked for: the tick may have to last.
        generator::end_lease(g);
        l.want = 1;
    }
    return {c.tick, c.toggle, c.first};
}

// One number. `tick_now` gives the clock's tick, 0 if it is outside the format.
template <generator::ClaimFunction claim, class TickNow>
pg_attribute_always_inline Id draw(Generator& g, TickNow tick_now) {
    Lease& l = g.lease;
    if (l.next < l.end && tick_now(g) == l.tick && same_view(l)) {
        l.used++;
        return {l.tick, l.toggle, l.next++};
    }
    return draw_more<claim>(g);
}

}  // namespace snowflake_ids::lease
