// The ceiling file (ledger/ceiling_file.hpp) of this server: where it is, and the errors and waits of its functions.
#pragma once

#include "ledger/ceiling_file.hpp"
#include "ledger/memory.hpp"
#include "ledger/reset.hpp"
#include "pg/pg.hpp"
#include "pg/server/patience.hpp"
#include "pg/server/settings.hpp"

namespace snowflake_ids::durable_ceiling {

// A quarter of the durable window. When less time than this is left below a ceiling, it is lifted to ahead_of(). So
// each ceiling is synced once per window, and usually no backend has to wait for the sync.
inline microseconds margin() { return microseconds{settings::durable_window()} / 4; }

// How far a ceiling is lifted now, if the ids of its generator are not ahead of the clock. The ids of a new life begin
// at this time or later.
inline UnixTime ahead_of(UnixTime now) { return now + settings::durable_window() + margin(); }

// Where this server has the file, and how the file is written: its permissions, and whether it is synced.
ledger::CeilingPlace place();

// Lifts the ceiling of a slot to at least `least`. The ceilings of other generators in use are lifted to ahead_of() or
// to `least`, whichever is lower. It makes one attempt, and raises no error: if another process has the lock of the
// file, the result is CeilingError::busy.
ledger::CeilingResult try_lift(const ledger::Slot& slot, Ceiling least);

// Lifts the ceiling of the promise (the settled time that readers have received, ledger/settling.hpp). It makes one
// attempt, and raises no error: if the attempt fails, the old ceiling remains.
void try_lift_settled(Ceiling least);

// Gives the slot an entry in the ceiling file if it has none, so that the slot also exists after a restart. It is for
// generators without a time (sno_at), which need no ceiling. Raises an error if the file cannot be written.
void give_entry(const ledger::Slot& slot);

// Reads the file, and raises the error that a session would get that has to write the file.
void check();

// Applies an operator's reset to the slots in memory and to the file. Raises an error if the lock of the file is not
// free within max_wait, or if the file cannot be read or written. If writing fails, slots in memory may have moved.
void apply_reset(const ledger::Reset& reset);

// The state of the file, for snowflake_ids.status(): "ready", or the reason why no ids can be generated once the
// present ceilings are used up.
const char* state_for_people();

// Raises the error of a result that is not CeilingError::none.
[[noreturn]] void fail(const ledger::CeilingResult& r);

// Calls `attempt`, which returns a CeilingResult, until the result is not CeilingError::busy. Raises an error if the
// result is another error, or if the patience ends. The process that has the lock usually needs it for one sync. But it
// may hang, so the wait is limited.
template <class Attempt>
void until_done(const Patience& patience, Attempt attempt) {
    for (Attempts attempts;; attempts.pause(patience)) {
        const ledger::CeilingResult r = attempt();
        if (r.error == ledger::CeilingError::none) return;
        if (r.error != ledger::CeilingError::busy || patience.is_over()) fail(r);
    }
}

}  // namespace snowflake_ids::durable_ceiling
