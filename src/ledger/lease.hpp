// A lease is some numbers of one tick that a process has claimed in advance, in one swap. When two processes swap the
// same word, its cache line moves between them, which takes longer than to read the clock several times. So a process
// that generates ids again and again takes a lease: first a small one, then larger ones.
//
// Order. An id that is generated after another one was seen must be larger. So a lease ends with its tick, and as soon
// as the process may see new ids of others (its view changes, pg/generate/next_number.hpp). While the clock is behind
// there is no lease, because the tick may have to last. The claim that finds this out keeps one number and gives up the
// others. A lease is a small part of the numbers of one tick. Unused numbers are not issued.
//
// Floors. The process that lifts a floor adds one to Header::revision afterwards. A process with a lease looks at that
// word before each number.
#pragma once

#include <cstdint>

#include "ledger/claim.hpp"

namespace snowflake_ids::ledger {

// A lease has at most 1/64 of the numbers of a tick, so that 64 processes can have one each.
inline constexpr std::uint32_t leases_per_tick = 64;

struct Lease {
    std::uint64_t tick = 0;
    std::uint32_t toggle = 0;
    std::uint32_t next = 0;
    std::uint32_t end = 0;   // the numbers next .. end - 1 are left
    std::uint32_t want = 1;  // how many the last claim wanted; 0: the clock was behind, the next one wants 1
    std::uint32_t used = 0;  // how many were taken from this lease, with the first number of its claim
};

// True if the next number may be taken from the lease. `now()` is the clock's tick. `same_view()` is true if the
// process can have seen no new ids of others since its last claim. Both functions are called only if needed.
template <class Now, class SameView>
[[gnu::always_inline]] inline bool serves(const Lease& l, Now now, SameView same_view) {
    return l.next < l.end && now() == l.tick && same_view();
}

// How many numbers to claim if the lease cannot serve. `same_view` is true if the process can have seen no new ids of
// others since the last claim. `per_tick` is how many numbers a tick has.
inline std::uint32_t lease_size(const Lease& l, bool same_view, std::uint32_t per_tick) {
    if (!same_view) return 1;
    // Numbers are left, so the lease has ended before it was used up, usually with its tick. No more are claimed than
    // were used of it.
    if (l.next < l.end) return l.used > 1 ? l.used : 1;
    const std::uint32_t most = per_tick / leases_per_tick;
    const std::uint32_t more = l.want * 2 < most ? l.want * 2 : most;
    return more > 1 ? more : 1;
}

// Call this after a claim of `want` numbers has succeeded. The caller uses the first number of the claim, and the
// others become the lease. If the clock is behind, they are given up instead, because the tick may have to last.
// Returns how many were given up.
inline std::uint32_t begin_lease(Lease& l, const Claim& c, std::uint32_t want) {
    l.tick = c.tick;
    l.toggle = c.toggle;
    l.next = c.first + 1;
    l.end = c.first + c.count;
    l.want = want;
    l.used = 1;
    if (!c.held()) return 0;
    const std::uint32_t given_up = l.end - l.next;
    l.next = l.end;
    l.want = 0;
    return given_up;
}

}  // namespace snowflake_ids::ledger
