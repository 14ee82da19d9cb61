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

using Id = ledger::Number;

// The part of the Host that each id needs.
template <generator::TimeOf time_of>
struct Host : ledger::Steps {
    static uint64 tick_now(const Generator& g) { return ledger::tick_now(time_of(g)); }
    // True if there can be no new ids of others to see.
    static bool same_view(const Generator& g) { return view() == g.lease.view; }
    static ledger::View view() { return {GetCurrentStatementStartTimestamp(), server_transactions_ended()}; }
    static void gave_up(Generator& g, uint32 n) { g.uncounted -= n; }
};

template <generator::TimeOf time_of>
[[gnu::noinline]] Id claim_more(Generator& g) {
    Host<time_of> host;
    const ledger::View view = host.view();
    const uint32 want = ledger::end_lease_and_size_next(host, g, view);
    const ledger::Claim c = generator::claim_numbers<generator::claim<time_of>>(g, want);
    return ledger::begin_lease(host, g, c, want, view);
}

// The next number of `g`, which must be set up. Waits and raises errors as generator::claim_numbers() does.
template <generator::TimeOf time_of>
pg_attribute_always_inline Id take(Generator& g) {
    Host<time_of> host;
    Id number;
    return ledger::take(host, g, number) ? number : claim_more<time_of>(g);
}

}  // namespace snowflake_ids::next_number
