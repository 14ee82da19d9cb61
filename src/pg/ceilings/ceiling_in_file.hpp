// The ceiling file (ledger/ceiling_file.hpp) of this server: its place, and the errors and waits of its functions.
#pragma once

#include "ledger/ceiling_file.hpp"
#include "ledger/shared_memory.hpp"
#include "pg/pg.hpp"
#include "pg/server/deadline.hpp"
#include "pg/server/settings.hpp"

namespace snowflake_ids::ceiling_in_file {

ledger::CeilingPlace place();

// Reads the file, and raises the error that would keep a session from writing it. Waits for the lock up to max_wait.
void check();

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

}  // namespace snowflake_ids::ceiling_in_file
