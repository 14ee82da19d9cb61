// Decides when ceilings are lifted, and how far, and whether a COMMIT waits for standbys.
#include "pg/ceilings/issue_limit.hpp"

extern "C" {
#include "access/xlog.h"
}

#include "ledger/floor.hpp"
#include "ledger/life.hpp"
#include "pg/ceilings/begin_life.hpp"
#include "pg/ceilings/ceiling_file.hpp"
#include "pg/ceilings/synchronous_standbys.hpp"
#include "pg/ceilings/wal_ceiling.hpp"
#include "pg/server/deadline.hpp"
#include "pg/server/settings.hpp"
#include "pg/server/shared_ledger.hpp"

namespace snowflake_ids::issue_limit {

UnixTime latest{};

namespace {

using ceiling_file::ahead_of, ceiling_file::margin;

// An old value is only too careful, because ceilings grow. Exceptions call forget_wal_ceiling().
ledger::SeenCeilings seen_wal;

void note_wal_ceiling(Ceiling until) { seen_wal.note(until, wal_ceiling::position()); }

UnixTime wanted_ceiling(const Limited& g, uint64 tick) {
    return Max(ahead_of(ledger::wall_clock()), g.timeline.start(tick) + lift_step());
}

// Like margin(), but a ceiling above ahead_of() was lifted by a small step, so half a step is enough.
microseconds least_left(UnixTime until) { return until > ahead_of(ledger::wall_clock()) ? lift_step() / 2 : margin(); }

Ceiling ceiling_of(const Limited& g) { return g.slot->ceiling.load(); }

void enter_database(const ledger::Ledger& shared, const Deadline& deadline) {
    wal_ceiling::watch([] {
        forget_wal_ceiling();
        settings::changes++;
    });
    const wal_ceiling::InDatabase in_database{deadline};
    // Without the step, the first id of a life could already be at the target.
    const Ceiling target = ledger::ceiling_at(ahead_of(ledger::wall_clock()) + lift_step());
    note_wal_ceiling(ledger::enter_database(in_database, shared.header->life_id.load(), target, [&](Floor floor) {
        ledger::lift_floor(shared, floor);
        shared.header->revision.fetch_add(1);  // ends leases below the floor
    }));
}

void lift_wal_above(UnixTime wanted, UnixTime target, const Deadline& deadline) {
    const wal_ceiling::InDatabase in_database{deadline};
    const uint64 life_id = shared_ledger().header->life_id.load();
    note_wal_ceiling(ledger::lift_wal_above(in_database, life_id, wanted, ledger::ceiling_at(target)));
}

void lift_wal_ahead(UnixTime soon, UnixTime target) {
    const uint64 life_id = shared_ledger().header->life_id.load();
    const Ceiling until = wal_ceiling::lift_if_free(soon, {ledger::ceiling_at(target), life_id});
    if (until != Ceiling{}) note_wal_ceiling(until);
}

}  // namespace

microseconds lift_step() {
    constexpr microseconds least = milliseconds{10}, highest = milliseconds{500};
    const microseconds most = Min(margin(), highest);
    const microseconds lasted = ledger::wall_clock() - shared_ledger().header->life_began.load();
    // negative: the clock has gone back since the life began
    return lasted.count() < 0 ? most : Min(Max(lasted, least), most);
}

const ledger::Ledger& enter_life_and_database(bool in_recovery, const Deadline& deadline) {
    const ledger::Ledger& shared = ledger_in_life(deadline);
    if (!in_recovery && seen_wal.until() == Ceiling{}) enter_database(shared, deadline);
    return shared;
}

void forget_wal_ceiling() { seen_wal = {}; }

void protect_commit() {
    if (latest == UnixTime{} || !synchronous_standbys::commits_wait() || RecoveryInProgress()) return;
    // An unknown position is 0, which counts as not flushed.
    if (!synchronous_standbys::have_flushed(seen_wal.position_for(latest))) synchronous_standbys::make_commit_wait();
}

void set_limit(Limited& g) {
    Ceiling until = ceiling_of(g);
    if (!g.in_recovery) until = Min(until, seen_wal.until());
    const auto first_refused = [&](UnixTime t) {
        const Result<uint64> tick = g.timeline.ceil_tick(t);
        return tick ? tick.value : g.timeline.max_tick() + 1;
    };
    g.limit = first_refused(until);
    g.lift_from = first_refused(until - least_left(until));
}

// The file comes first, because it has the fence (ledger/ceiling_file.hpp).
void lift_above(Limited& g, uint64 tick, const Deadline& deadline) {
    const UnixTime wanted = g.timeline.start(tick);
    // Another process may lift it while this one waits for the lock of the file.
    ceiling_file::until_done(deadline, [&] {
        if (wanted < ceiling_of(g)) return ledger::CeilingResult{};
        return ceiling_file::try_lift(*g.slot, ledger::ceiling_at(wanted_ceiling(g, tick)));
    });
    if (!g.in_recovery && wanted >= seen_wal.until()) lift_wal_above(wanted, wanted_ceiling(g, tick), deadline);
    set_limit(g);
}

void lift_ahead(Limited& g, uint64 tick) {
    const UnixTime soon = g.timeline.start(tick) + least_left(wanted_ceiling(g, tick));
    // Another backend may have lifted the ceilings since g.lift_from was set.
    if (soon >= ceiling_of(g) || (!g.in_recovery && soon >= seen_wal.until())) {
        const UnixTime least = wanted_ceiling(g, tick);
        // Any error of the file is left to the claim that needs the ceiling.
        const bool lifted = soon < ceiling_of(g) || ceiling_file::try_lift(*g.slot, ledger::ceiling_at(least)).error ==
                                                        ledger::CeilingError::none;
        if (lifted && !g.in_recovery && soon >= seen_wal.until()) lift_wal_ahead(soon, least);
    }
    set_limit(g);
}

}  // namespace snowflake_ids::issue_limit
