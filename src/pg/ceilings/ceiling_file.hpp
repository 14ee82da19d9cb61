// The ceiling file (ledger/ceiling_file.hpp) of this server: its place, and the errors and waits of its functions.
#pragma once

#include "ledger/ceiling_file.hpp"
#include "ledger/memory.hpp"
#include "ledger/reset.hpp"
#include "pg/pg.hpp"
#include "pg/server/deadline.hpp"
#include "pg/server/settings.hpp"

namespace snowflake_ids::ceiling_file {

// With less than this left below it, a ceiling is lifted to ahead_of(): once per window, and usually before a backend
// must wait for the sync.
inline microseconds margin() { return microseconds{settings::durable_window()} / 4; }

// How far a ceiling is lifted if its ids are not ahead of the clock. The ids of a new life begin here or later.
inline UnixTime ahead_of(UnixTime now) { return now + settings::durable_window() + margin(); }

ledger::CeilingPlace place();

// Lifts the ceiling of a slot to at least `least`, and those of other generators in use to ahead_of(), at most to
// `least`. One attempt: CeilingError::busy if another process has the lock.
ledger::CeilingResult try_lift(const ledger::Slot& slot, Ceiling least);

// Gives the slot an entry if it has none, so that it exists after a restart. For sno_at, which needs no ceiling.
void give_entry(const ledger::Slot& slot);

// Reads the file, and raises the error that would keep a session from writing it. Waits for the lock up to max_wait.
void check();

// If writing fails, slots in memory may have moved.
void apply_reset(const ledger::Reset& reset);

// For snowflake_ids.status(): "ready", or why no ids can be generated above the present ceilings. Does not wait.
const char* state_for_people();

[[noreturn]] void fail(const ledger::CeilingResult& r);

// Calls `attempt` until its CeilingResult is not busy. Raises other errors, and busy at the deadline.
template <class Attempt>
void until_done(const Deadline& deadline, Attempt attempt) {
    for (Attempts attempts;; attempts.pause(deadline)) {
        const ledger::CeilingResult r = attempt();
        if (r.error == ledger::CeilingError::none) return;
        if (r.error != ledger::CeilingError::busy || deadline.is_over()) fail(r);
    }
}

}  // namespace snowflake_ids::ceiling_file
