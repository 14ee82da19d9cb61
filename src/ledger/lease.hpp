// Leases: numbers of one tick that one process has claimed ahead in one swap. Two processes
// that swap one shared word move its cache line back and forth, which costs several clock
// reads; whoever draws again and again serves himself from a small, growing lease instead.
//
// What keeps order: an id that is drawn after another one was seen is larger. So a lease ends
// with its tick and with its view, which is whatever lets the process see what others have
// drawn. It is never taken while the clock is behind, for the tick may have to last: only the
// draw that finds it so may have claimed more, and gives that up. And it is never more than a
// small part of the pool. Unused numbers are simply not issued.
//
// What keeps floors: whoever raises one counts up Header::epoch afterwards, and a holder
// looks at that before each number.
#pragma once

#include <cstdint>

#include "ledger/claim.hpp"

namespace snowflake_ids::ledger {

// At most this part of a pool: 64 processes can hold one each.
inline constexpr std::uint32_t lease_pool_share = 64;

struct Lease {
    std::uint64_t tick = 0;
    std::uint32_t toggle = 0;
    std::uint32_t next = 0;
    std::uint32_t end = 0;   // next == end: none left
    std::uint32_t want = 1;  // how many were drawn last; 0: one, and the next draw is for one too
    std::uint32_t used = 0;  // taken from this lease so far
};

// May the next number be taken from the lease? `now` gives the clock's tick. Both are asked
// only if need be.
template <class Now, class SameView>
[[gnu::always_inline]] inline bool serves(const Lease& l, Now now, SameView same_view) {
    return l.next < l.end && now() == l.tick && same_view();
}

// It may not: how many to claim. `pool`: numbers of a tick. Built with -DSNOWFLAKE_IDS_NO_LEASES there are none, to
// measure what they are worth.
inline std::uint32_t lease_size(const Lease& l, bool same_view, std::uint32_t pool) {
#ifdef SNOWFLAKE_IDS_NO_LEASES
    same_view = false;
#endif
    if (!same_view) return 1;
    // The tick ended first: no more than the last one could use.
    if (l.next < l.end) return l.used > 1 ? l.used : 1;
    const std::uint32_t most = pool / lease_pool_share;
    const std::uint32_t more = l.want * 2 < most ? l.want * 2 : most;
    return more > 1 ? more : 1;
}

// A claim of `want` has succeeded: its first number is taken, the others are the lease.
// Returns how many are given up instead.
inline std::uint32_t begin_lease(Lease& l, const Claim& c, std::uint32_t want) {
    l.tick = c.tick;
    l.toggle = c.toggle;
    l.next = c.first + 1;
    l.end = c.first + c.count;
    l.want = want;
    l.used = 1;
    if (!c.held) return 0;
    const std::uint32_t given_up = l.end - l.next;
    l.next = l.end;
    l.want = 0;
    return given_up;
}

}  // namespace snowflake_ids::ledger
