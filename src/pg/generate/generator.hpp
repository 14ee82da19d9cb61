// The generators of this backend, which SQL functions such as gen_sno() ask for ids.
#pragma once

#include "core/layout.hpp"
#include "core/step.hpp"
#include "core/timeline.hpp"
#include "ledger/clock.hpp"
#include "ledger/session.hpp"
#include "pg/ceilings/issue_limit.hpp"
#include "pg/pg.hpp"
#include "pg/server/settings.hpp"

namespace snowflake_ids {

// Other backends have their own Generator for the same slot.
struct Generator : ledger::Session<ledger::Slot> {
    const char* name = nullptr;  // of the format, for messages; null: never set up
    uint32 node = 0;             // in a sno the partition, in other ids the machine id
    uint64 counted_tick = 0;     // the tick of `uncounted`; 0: no claim yet in this transaction
    uint64 uncounted = 0;        // issued ids, not yet in the slot's counters
    microseconds set_up_time{};  // subtracted from max_wait of the next claim
    Generator* next = nullptr;
};

namespace generator {

// `outcome` is before_epoch or ended.
[[noreturn]] void fail_outside_format(const char* name, const Timeline& timeline, ledger::Outcome outcome);

// The unused numbers were counted when they were claimed, so they are subtracted, modulo 2^64.
inline void end_lease(Generator& g) { g.uncounted -= ledger::end_lease(g.lease); }

// Makes end_leases_and_count() count the ids of `g`. Call it before the generator gets its first slot.
void add_to_all(Generator& g);

// The generator in `g`, which is made if it is null, and never removed. It is no static object, so the static variables
// that a session writes stay in one page, and the first id of a connection causes fewer page faults.
Generator& get_or_make(Generator*& g);

void count_up(Generator& g);

// Cannot fail, because it also runs after a commit, where an error would be a panic.
void end_leases_and_count();

// After this, the end of each transaction ends leases, counts ids, and waits for standbys that protect them.
void watch_transactions();

// Zeros until the first set-up. Hidden, so that each id loads it directly, not through the global offset table.
[[gnu::visibility("hidden")]] extern const ledger::Header* header;

inline bool is_stale(const Generator& g) { return ledger::is_stale(*header, g, settings::changes); }

}  // namespace generator
}  // namespace snowflake_ids
