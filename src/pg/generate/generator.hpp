// The room of the generators that each backend has. It receives calls of SQL functions such as gen_sno(), and returns
// ids. The time of an id is always below the ceilings on disk and in WAL. Read src/README.md first, and
// ledger/claim.hpp for the protocol.
//
// This file has the struct Generator. It says from which slot of the ledger a generator takes numbers, under which
// rules, and which of its ids the shared counters do not contain yet. doc/how-it-works.md explains the words.
//
// These files take part when an id is generated. Each of them includes only those below it:
//
//   generator.cpp       counts the ids when their transaction ends, and no longer shows them to readers
//   sno_generate, ...   the SQL function: composes the id
//   set_up              after a start, and when a setting has changed: refuses, or finds the slot and the rules
//   series, next_number gives a number that this session has claimed and not yet used
//   claim_numbers       claims more numbers; waits or raises an error if there are none
//   issue_limit         decides how far ahead ids may go; lifts the ceilings
//   writer              shows readers which ids may still appear; refuses ids that were promised not to appear
//   generator           the struct that all of them work on
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

// A lease with the view for which it was claimed: see ledger/lease.hpp and next_number.hpp.
struct Lease : ledger::Lease {
    TimestampTz statement = 0;  // when the client statement of the claim began
    uint64 ended = 0;           // how many transactions of the server had ended before the claim
};

// A generator as this backend knows it. Other backends have a Generator of their own for the same slot.
struct Generator : issue_limit::Limited {
    Lease lease{};
    ledger::TickMemo now{};      // the tick that the clock showed last, in `timeline`
    const char* name = nullptr;  // of the format, for messages; null: it has never been set up
    Rules rules{};
    uint32 node = 0;             // in a sno the partition, in other ids the machine id
    uint64 revision = 0;         // what Header::revision was when the generator was set up
    UnixTime accepted{};         // the time of the last claim, which writer::admit() has accepted
    uint64 generation = 0;       // what settings::generation was when it was set up; 0: it must be set up again
    uint64 counted_tick = 0;     // the tick of the ids in `uncounted`; 0: no claim yet in this transaction
    uint64 uncounted = 0;        // how many ids were issued that are not yet in the slot's counters
    microseconds set_up_time{};  // how long the set-up took: this is subtracted from max_wait of the next claim
    Generator* next = nullptr;   // in the list of all generators that were ever set up
};

namespace generator {

// Raises the error that the next id would have a time outside its format, of which `name` is the name. If `outcome` is
// before_epoch, the clock is before the first time of the format. Otherwise it is after the last time.
[[noreturn]] void fail_outside_format(const char* name, const Timeline& timeline, ledger::Outcome outcome);

// Ends the lease. Its unused numbers were counted when they were claimed, but they are not issued. So they are
// subtracted from `uncounted`, modulo 2^64, like the counters. The next lease begins with one number. Otherwise a lease
// would grow although each transaction gives most of it up, and would use up the tick.
inline void end_lease(Generator& g) {
    g.uncounted -= g.lease.end - g.lease.next;
    g.lease.next = g.lease.end;
    g.lease.want = 0;
}

// Adds `g` to the list of all generators of this backend. From now on end_leases_and_count() counts its ids. Call it
// once for each generator, before it gets its first slot.
void add_to_all(Generator& g);

// Adds the ids that `g` has issued since the last call to the counters of its slot.
void count_up(Generator& g);

// Ends the leases of all generators of this backend, and counts their ids as count_up() does. It cannot fail, because
// it is also called after a commit, where an error would be a panic.
void end_leases_and_count();

// _PG_init calls this: from then on, the end of each transaction counts its ids, and no longer shows them to readers.
void watch_transactions();

// The header of the ledger. Until this backend sets up its first generator, it is a header of zeros. It has hidden
// visibility, so that each id loads it directly, and not through the global offset table.
[[gnu::visibility("hidden")]] extern const ledger::Header* header;

// True if `g` must be set up again, because settings or Header::revision have changed since it was set up.
inline bool is_stale(const Generator& g) {
    return g.generation != settings::generation || g.revision != header->revision.load(std::memory_order_relaxed);
}

// True if readers have been promised that no id of the last claim's time appears any more. Then this session must claim
// again before it generates an id.
inline bool is_promised_past(const Generator& g) {
    return header->promise.load(std::memory_order_relaxed) > g.accepted;
}

}  // namespace generator
}  // namespace snowflake_ids
