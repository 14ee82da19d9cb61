// The generators of each backend: SQL functions such as gen_sno() call them for ids. The time of an id is always below
// the ceilings on disk and in WAL. src/README.md has the order in which to read these files, and the words.
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
    ledger::TickMemo now{};      // the tick that the clock showed last, in `timeline`
    const char* name = nullptr;  // of the format, for messages; null: it has never been set up
    Rules rules{};
    uint32 node = 0;             // in a sno the partition, in other ids the machine id
    uint64 revision = 0;         // Header::revision at the set-up
    UnixTime accepted{};         // the time of the last claim, which writer::admit() has accepted
    uint64 generation = 0;       // settings::generation at the set-up; 0: it must be set up again
    uint64 counted_tick = 0;     // the tick of the ids in `uncounted`; 0: no claim yet in this transaction
    uint64 uncounted = 0;        // issued ids that are not yet in the slot's counters
    microseconds set_up_time{};  // subtracted from max_wait of the next claim
    Generator* next = nullptr;
};

namespace generator {

// `name` is that of the format. `outcome` is before_epoch or ended.
[[noreturn]] void fail_outside_format(const char* name, const Timeline& timeline, ledger::Outcome outcome);

// The unused numbers were counted when they were claimed, so they are subtracted, modulo 2^64 like the counters. The
// next lease begins with one number, or it would grow and use up the tick although each transaction gives most of it
// up.
inline void end_lease(Generator& g) {
    g.uncounted -= g.lease.end - g.lease.next;
    g.lease.next = g.lease.end;
    g.lease.want = 0;
}

// From now on end_leases_and_count() counts the ids of `g`. Call it before the generator gets its first slot.
void add_to_all(Generator& g);

void count_up(Generator& g);

// It cannot fail, because it is also called after a commit, where an error would be a panic.
void end_leases_and_count();

// _PG_init calls this: from then on, the end of each transaction counts its ids, and no longer shows them to readers.
void watch_transactions();

// Zeros until this backend sets up its first generator. Hidden, so that each id loads it directly, and not through the
// global offset table.
[[gnu::visibility("hidden")]] extern const ledger::Header* header;

inline bool is_stale(const Generator& g) {
    return g.generation != settings::generation || g.revision != header->revision.load(std::memory_order_relaxed);
}

// True if readers were promised that no id of the last claim's time appears any more. Then this session must claim
// again.
inline bool is_promised_past(const Generator& g) {
    return header->promise.load(std::memory_order_relaxed) > g.accepted;
}

}  // namespace generator
}  // namespace snowflake_ids
