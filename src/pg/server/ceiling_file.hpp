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

// Lifts the ceiling of a slot to at least `least`, and those of other generators in use ahead of the clock. It makes
// one attempt, and does not wait for the lock.
ledger::CeilingResult try_lift(const ledger::Slot& slot, Ceiling least);

// Lifts the ceiling of the promise (ledger/settling.hpp). It makes one attempt; if that fails, the old ceiling remains.
void try_lift_settled(Ceiling least);

// Gives the slot an entry in the ceiling file if it has none, so that the next life has the slot too. It is for
// generators without a time (sno_at), whose entry has any ceiling.
void give_entry(const ledger::Slot& slot);

// Raises the error that a claim would get that has to write the file.
void check();

// Applies an operator's reset to the ledger.
void apply_reset(const ledger::Reset& reset);

// The state of the file, for snowflake_ids.status(): "ready", or why ids cannot be generated for long.
const char* state_for_people();

// Raises the error of a result that is not CeilingError::none.
[[noreturn]] void fail(const ledger::CeilingResult& r);

// Calls `attempt` until its result is not "busy", and raises an error if that is one. The process that has the lock
// usually needs it for one sync. But it may hang, so the wait is limited.
template <class Attempt>
void until_done(const Patience& patience, Attempt attempt) {
    for (Attempts attempts;; attempts.pause(patience)) {
        const ledger::CeilingResult r = attempt();
        if (r.error == ledger::CeilingError::none) return;
        if (r.error != ledger::CeilingError::busy || patience.is_over()) fail(r);
    }
}

}  // namespace snowflake_ids::ceiling_file
