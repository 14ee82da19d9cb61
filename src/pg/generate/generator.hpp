// The generators of this backend, which SQL functions such as gen_sno() ask for ids.
#pragma once

#include "core/layout.hpp"
#include "core/step.hpp"
#include "core/timeline.hpp"
#include "ledger/claim.hpp"
#include "ledger/clock.hpp"
#include "ledger/lease.hpp"
#include "ledger/slot.hpp"
#include "pg/ceilings/issue_limit.hpp"
#include "pg/pg.hpp"
#include "pg/server/settings.hpp"

namespace snowflake_ids {

// A lease with the view for which it was claimed (next_number.hpp).
struct Lease : ledger::Lease {
    TimestampTz statement = 0;  // when the client statement of the claim began
    uint64 ended = 0;           // how many transactions of the server had ended before the claim
};

// Other backends have their own Generator for the same slot.
struct Generator : issue_limit::Limited {
    Lease lease{};
    const char* name = nullptr;  // of the format, for messages; null: never set up
    Rules rules{};
    uint32 node = 0;              // in a sno the partition, in other ids the machine id
    uint64 revision = 0;          // Header::revision at the set-up
    uint64 settings_changes = 0;  // settings::changes at the set-up; 0: it must be set up again
    uint64 counted_tick = 0;      // the tick of `uncounted`; 0: no claim yet in this transaction
    uint64 uncounted = 0;         // issued ids, not yet in the slot's counters
    microseconds set_up_time{};   // subtracted from max_wait of the next claim
    Generator* next = nullptr;
};

namespace generator {

// `outcome` is before_epoch or ended.
[[noreturn]] void fail_outside_format(const char* name, const Timeline& timeline, ledger::Outcome outcome);

// The unused numbers were counted when they were claimed, so they are subtracted, modulo 2^64. The next lease begins
// with one number: it would otherwise grow and use up the tick, although each transaction gives most of it up.
inline void end_lease(Generator& g) {
    g.uncounted -= g.lease.end - g.lease.next;
    g.lease.next = g.lease.end;
    g.lease.want = 0;
}

// Makes end_leases_and_count() count the ids of `g`. Call it before the generator gets its first slot.
void add_to_all(Generator& g);

void count_up(Generator& g);

// Cannot fail, because it also runs after a commit, where an error would be a panic.
void end_leases_and_count();

// After this, the end of each transaction ends leases, counts ids, and waits for standbys that protect them.
void watch_transactions();

// Zeros until the first set-up. Hidden, so that each id loads it directly, not through the global offset table.
[[gnu::visibility("hidden")]] extern const ledger::Header* header;

inline bool is_stale(const Generator& g) {
    return g.settings_changes != settings::changes || g.revision != header->revision.load(std::memory_order_relaxed);
}

}  // namespace generator
}  // namespace snowflake_ids
