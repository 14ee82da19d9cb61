// A backend's own generators: which slot of the ledger they draw from, under which rules,
// and what they have drawn and not yet added to the shared counters.
//
// The walk of a draw, each step in a file of its own that knows those below it only:
//
//   sno_generate, ...   the SQL function: composes the id
//   set_up              once per setting: finds the slot, under the server's life and the database's ceiling
//   series, lease       numbers that this session has claimed and not yet used
//   claim               claims more; waits or raises an error if there are none
//   durability          how far ahead ids may go; raises the ceilings
//   occurrence          what is logged when calls wait or the clock is behind
//   generator           what all of them work on
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

// With what it was drawn for; see lease.hpp.
struct Lease : ledger::Lease {
    TimestampTz statement = 0;
    uint64 ended = 0;  // transactions of the server
};

struct Generator {
    Lease lease{};
    ledger::TickMemo now{};        // of `timeline`
    const char* name = nullptr;    // of the format, for messages
    ledger::Slot* slot = nullptr;  // null: not set up yet
    Rules rules{};
    uint32 node = 0;  // sno partition, Snowflake-SI machine id
    Timeline timeline{};
    Layout layout{};            // 64-bit formats
    uint64 epoch = 0;           // Header::epoch it was set up under
    uint64 limit = 0;           // ticks from here on need a higher ceiling first
    uint64 raise_from = 0;      // ticks from here on are near the limit
    bool in_recovery = false;   // set up with standby_machine_id
    uint64 generation = 0;      // settings::generation it was set up under
    uint64 counted_tick = 0;    // tick that `uncounted` belongs to
    uint64 uncounted = 0;       // ids drawn and not yet in the slot's counters
    uint64 set_up_us = 0;       // what the set-up took of the patience of the draw that follows it
    Generator* next = nullptr;  // all that were ever set up, for the end of a transaction
};

namespace generator {

// The time of the next id of that name is outside the format.
[[noreturn]] void raise_outside_format(const char* name, const Timeline& timeline, ledger::Outcome outcome);

// Ends the lease; its unused numbers were not issued. (Modulo 2^64, as the counters are.)
inline void end_lease(Generator& g) {
    g.uncounted -= g.lease.end - g.lease.next;
    g.lease.next = g.lease.end;
}

// From here on what it draws is counted at the end of each transaction.
void enlist(Generator& g);

// Adds what was drawn to the shared counters. Atomic additions and no more: it is called where a transaction has been
// committed, and an error would be a panic.
void count_up(Generator& g);
void count_up_all();

// The ledger's Header::epoch, or a zero before it is mapped.
extern const ledger::Word* epoch;

// Set up under other settings, or before an operator's reset.
inline bool stale(const Generator& g) {
    return g.generation != settings::generation || g.epoch != epoch->load(std::memory_order_relaxed);
}

}  // namespace generator
}  // namespace snowflake_ids
