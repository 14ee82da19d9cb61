// The room that generates: a backend's own generators. Enters: the call of a SQL function such as gen_sno(). Leaves: an
// id, below the ceilings on disk and in WAL. Read src/README.md first, and ledger/claim.hpp for the protocol.
//
// This file: which slot of the ledger each generator takes numbers from, under which rules, and which of its ids the
// shared counters do not have yet. Generator, slot, claim, lease, ceiling, life, hold and the other words are explained
// in doc/glossary.md.
//
// An id is generated in these steps. Each has its own file, which includes only those below it:
//
//   transaction         what happens when the transaction of the ids ends
//   sno_generate, ...   the SQL function: composes the id
//   set_up              once per setting: binds the slot, under the server's life and the database's ceiling
//   may_generate        what forbids to generate ids; slot_of finds or creates the slot
//   series, next_number gives a number that this session has claimed and not yet used
//   claim_or_wait       claims more; waits or raises an error if there are none
//   issue_limit         how far ahead ids may go; lifts the ceilings
//   unsettled           shows readers which ids may still appear; an id that is too late for that is not used
//   generator           the struct that all of them work on
#pragma once

#include "core/layout.hpp"
#include "core/step.hpp"
#include "core/timeline.hpp"
#include "ledger/claim.hpp"
#include "ledger/clock.hpp"
#include "ledger/lease.hpp"
#include "ledger/slot.hpp"
#include "pg/pg.hpp"
#include "pg/server/settings.hpp"

namespace snowflake_ids {

// A lease with the view for which it was claimed; see ledger/lease.hpp.
struct Lease : ledger::Lease {
    TimestampTz statement = 0;
    uint64 ended = 0;  // how many transactions of the server had ended
};

struct Generator {
    Lease lease{};
    ledger::TickMemo now{};        // of `timeline`
    const char* name = nullptr;    // of the format, for messages
    ledger::Slot* slot = nullptr;  // null: not set up yet
    Rules rules{};
    uint32 node = 0;  // sno partition, Snowflake-SI machine id
    Timeline timeline{};
    uint64 revision = 0;        // Header::revision it was set up under
    UnixTime accepted{};        // time of the last claim, see unsettled.hpp
    uint64 limit = 0;           // ticks from here on need a higher ceiling first
    uint64 lift_from = 0;       // ticks from here on are near the limit
    bool in_recovery = false;   // set up in recovery, with standby_machine_id
    uint64 generation = 0;      // settings::generation it was set up under
    uint64 counted_tick = 0;    // tick that `uncounted` belongs to; 0: none yet in this transaction
    uint64 uncounted = 0;       // ids issued and not yet in the slot's counters
    microseconds set_up{};      // how long the set-up took: counts against max_wait of the next claim
    Generator* next = nullptr;  // list of all that were ever set up, for the end of a transaction
};

namespace generator {

// Raises the error that the next id would have a time outside its format. `name` is that of the format, and `outcome`
// says at which end.
[[noreturn]] void fail_outside_format(const char* name, const Timeline& timeline, ledger::Outcome outcome);

// Ends the lease. Its unused numbers were not issued, so they are subtracted (modulo 2^64, like the counters). The next
// lease begins with one number: otherwise a lease would grow although each transaction gives most of it up, and would
// use up the tick.
inline void end_lease(Generator& g) {
    g.uncounted -= g.lease.end - g.lease.next;
    g.lease.next = g.lease.end;
    g.lease.want = 0;
}

// Adds `g` to the list of all generators of this backend: from now on its ids are counted at the end of each
// transaction.
void add_to_all(Generator& g);

// Adds the ids issued since the last call to the shared counters. end_leases_and_count() ends all leases of this
// backend, and does so for all its generators. Neither can fail, because they are also called after a commit, where an
// error would be a panic.
void count_up(Generator& g);
void end_leases_and_count();

// The header of the ledger; one of zeros before the ledger is mapped. It has hidden visibility, so that it is loaded
// without a detour for each id.
[[gnu::visibility("hidden")]] extern const ledger::Header* header;

// True if `g` must be set up again, because settings or Header::revision have changed since it was set up.
inline bool is_stale(const Generator& g) {
    return g.generation != settings::generation || g.revision != header->revision.load(std::memory_order_relaxed);
}

// True if readers have been promised that no id of the last claim's time appears any more.
inline bool is_promised_past(const Generator& g) {
    return header->promise.load(std::memory_order_relaxed) > g.accepted;
}

}  // namespace generator
}  // namespace snowflake_ids
