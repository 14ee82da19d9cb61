// A lease is some numbers of one tick that a process has claimed in one swap, because moving the word's cache line
// between processes takes longer than reading the clock several times. Unused numbers are not issued.
//
// An id generated after another one was seen must be larger. So a lease ends with its tick, and as soon as the process
// may see new ids of others (its view changes). While the clock is behind there is none, because the tick may have to
// last.
//
// A process with a lease looks at Header::revision before each number.
#pragma once

#include <cstdint>

#include "ledger/claim.hpp"

namespace snowflake_ids::ledger {

inline constexpr std::uint32_t leases_per_tick = 64;

// A view changes with the client's next statement, and when any transaction of the server ends. Until then, the process
// can see no new ids of others.
struct View {
    std::int64_t statement = 0;  // when it began
    std::uint64_t ended = 0;     // how many transactions of the server

    bool operator==(const View&) const = default;
};

struct Number {
    std::uint64_t tick;
    std::uint32_t toggle;
    std::uint32_t sequence;
};

struct Lease {
    std::uint64_t tick = 0;
    std::uint32_t toggle = 0;
    std::uint32_t next = 0;
    std::uint32_t end = 0;   // next .. end - 1 are left
    std::uint32_t want = 1;  // by the last claim; 0: the lease was ended early, the next claim wants 1
    std::uint32_t used = 0;  // including the first one of its claim
    View view{};             // before that claim
};

// A lease serves if its next number may be used: one is left, the clock, `now()`, is still in its tick, and
// `same_view()`: the process can have seen no new ids of others since its last claim.
template <class Now, class SameView>
[[gnu::always_inline]] inline bool serves(const Lease& l, Now now, SameView same_view) {
    return l.next < l.end && now() == l.tick && same_view();
}

inline std::uint32_t lease_size(const Lease& l, bool same_view, std::uint32_t per_tick) {
    if (!same_view) return 1;
    // The lease ended before it was used up, usually with its tick.
    if (l.next < l.end) return l.used > 1 ? l.used : 1;
    const std::uint32_t most = per_tick / leases_per_tick;
    const std::uint32_t more = l.want * 2 < most ? l.want * 2 : most;
    return more > 1 ? more : 1;
}

// Returns how many numbers are given up. The next lease begins with one number: it would otherwise grow and use up the
// tick, although each transaction gives most of it up.
inline std::uint32_t end_lease(Lease& l) {
    const std::uint32_t given_up = l.end - l.next;
    l.next = l.end;
    l.want = 0;
    return given_up;
}

// Call it after a claim of `want` numbers. The caller uses the first one. The others become the lease; if the clock is
// behind, they are given up. Returns how many are given up.
inline std::uint32_t begin_lease(Lease& l, const Claim& c, std::uint32_t want) {
    l.tick = c.tick;
    l.toggle = c.toggle;
    l.next = c.first + 1;
    l.end = c.first + c.count;
    l.want = want;
    l.used = 1;
    return c.standing.held ? end_lease(l) : 0;
}

}  // namespace snowflake_ids::ledger
