// Until when this backend may issue ids: up to the ceiling of the slot (ledger/ceiling_file.hpp) and the WAL ceiling of
// the database (ceilings/ceiling_in_wal.hpp). ledger/session.hpp decides; this is its Host.
#pragma once

#include "ledger/formats.hpp"
#include "ledger/session.hpp"
#include "pg/ceilings/ceiling_in_file.hpp"
#include "pg/ceilings/ceiling_in_wal.hpp"
#include "pg/pg.hpp"
#include "pg/server/deadline.hpp"
#include "pg/server/shared_ledger.hpp"

namespace snowflake_ids::issue_limit {

// Its functions raise an error if a ceiling cannot be read or written before the deadline.
struct Host : ledger::Steps, ledger::SlotFormats {
    const Deadline& deadline;

    explicit Host(const Deadline& deadline) : deadline(deadline) {}
    static ledger::Header& header() { return *shared_ledger().header; }
    static uint32 count() { return ledger::slot_count; }
    static auto slots() { return ledger::slot_at(shared_ledger()); }
    static UnixTime wall() { return ledger::wall_clock(); }
    static microseconds window() { return settings::durable_window(); }
    static uint64 random_id();
    static void life_began();
    template <class Done, class Work>
    bool locked(Done done, Work work) const {
        ceiling_in_file::until_done(deadline, [&] {
            return done() ? ledger::CeilingResult{} : ledger::with_ceilings(ceiling_in_file::place(), work);
        });
        return true;
    }
    template <class Work>
    static bool locked_at_once(Work work) {
        return ledger::with_ceilings(ceiling_in_file::place(), work).error == ledger::CeilingError::none;
    }
    // Itself: read() and lift() are a Wal.
    const Host& wal() const { return *this; }
    ledger::WalCeiling read() const { return ceiling_in_wal::read(deadline); }
    ledger::WalCeiling lift(const ledger::WalCeiling& wanted) const { return ceiling_in_wal::lift(wanted, deadline); }
    static Ceiling lift_wal_if_free(UnixTime soon, const ledger::WalCeiling& wanted) {
        return ceiling_in_wal::lift_if_free(soon, wanted);
    }
    // Cleared when the WAL ceiling may be lower now: after a forced reset, or if its relation may be another one.
    static Ceiling& seen_wal() { return ceiling_in_wal::seen.ceiling; }
};

// The ledger, in a life: before one has begun, the slots know nothing of earlier ids.
const ledger::Ledger& ledger_in_life(const Deadline& deadline = {});

// True if the transaction has generated ids.
extern bool generated;

// Makes COMMIT wait for the synchronous standbys, if they have no WAL ceiling above the transaction's ids yet. Call it
// where an error is still possible. PREPARE TRANSACTION waits anyway.
//
// A promoted standby that has WAL with a ceiling above an id does not repeat this id.
void protect_commit();

}  // namespace snowflake_ids::issue_limit
