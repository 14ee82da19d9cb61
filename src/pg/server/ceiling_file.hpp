// The ceiling file (ledger/ceiling_file.hpp) of this server, with the errors, the waits and the log lines that it
// needs.
#pragma once

#include "ledger/ceiling_file.hpp"
#include "ledger/memory.hpp"
#include "ledger/reset.hpp"
#include "pg/pg.hpp"
#include "pg/server/settings.hpp"
#include "pg/server/wait.hpp"

namespace snowflake_ids::ceiling_file {

// When a quarter of the window is left, ceilings are lifted to a quarter above the window. So each is synced once per
// window, and no backend has to stop for it.
inline microseconds margin() { return microseconds{settings::durable_window()} / 4; }

// The highest ceiling of a generator that is not ahead of the clock. A new life begins there.
inline UnixTime ahead_of(UnixTime now) { return now + settings::durable_window() + margin(); }

// Where this server has the file, and how it writes it.
ledger::CeilingPlace place();

// Lifts the ceiling of a slot above the clock or further; other generators in use are lifted along. One attempt.
ledger::CeilingResult try_lift(const ledger::Slot& slot, Ceiling least);

// Lifts the ceiling of the promise (ledger/settling.hpp). One attempt; if it fails, the old ceiling remains.
void try_lift_settled(Ceiling least);

// Gives the slot an entry, also if its generator has no time.
void give_entry(const ledger::Slot& slot);

// Raises the error that a draw which has to write the file would meet.
void check();

// Applies an operator's reset to the ledger.
void apply_reset(const ledger::Reset& reset);

// For people: "ready", or why no id can be drawn for long.
const char* state_for_people();

[[noreturn]] void fail(const ledger::CeilingResult& r);

// Calls `attempt` until its answer is not "busy". The process that has the lock usually needs it for one sync, but it
// may hang: so the wait is limited.
template <class Attempt>
void until_done(const Patience& patience, Attempt attempt) {
    for (Attempts attempts;; attempts.pause(patience)) {
        const ledger::CeilingResult r = attempt();
        if (r.error == ledger::CeilingError::none) return;
        if (r.error != ledger::CeilingError::busy || patience.is_over()) fail(r);
    }
}

}  // namespace snowflake_ids::ceiling_file
