// When ceilings are lifted, and how far.
#include "pg/generate/issue_limit.hpp"

extern "C" {
#include "access/xlog.h"
}

#include "ledger/clock_step.hpp"
#include "ledger/floor.hpp"
#include "ledger/formats.hpp"
#include "pg/generate/unsettled.hpp"
#include "pg/server/ceiling_file.hpp"
#include "pg/server/life.hpp"
#include "pg/server/settings.hpp"
#include "pg/server/shared_ledger.hpp"
#include "pg/server/standby.hpp"
#include "pg/server/wait.hpp"
#include "pg/server/wal_ceiling.hpp"

namespace snowflake_ids::issue_limit {

UnixTime latest{};

namespace {

using ceiling_file::ahead_of, ceiling_file::margin;

// The WAL ceiling of this database as this backend last saw it. 0: not read yet. It only grows, so an old value is
// only too careful. Exceptions: a forced reset lowers it, and a new relation may start lower. Then forget() or
// wal_ceiling::watch() sets 0 here.
ledger::SeenCeilings wal;

void saw(Ceiling until) { wal.saw(until, wal_ceiling::position()); }

// While ids are ahead of the clock, their ceilings rise in small steps. Otherwise each life would begin a window above
// the last one, and frequent restarts would add up. A life that has just begun lifts them no further than it has
// lasted: then the clock gains on the ids also when the server crashes several times a second.
microseconds step() {
    constexpr microseconds least = milliseconds{10}, highest = milliseconds{500};
    const microseconds most = Min(margin(), highest);
    const microseconds lasted = ledger::wall_clock() - shared_ledger().header->life_began.load();
    return lasted.count() < 0 ? most : Min(Max(lasted, least), most);
}
UnixTime target(const Generator& g, uint64 tick) {
    return Max(ahead_of(ledger::wall_clock()), g.timeline.start(tick) + step());
}
// How much time must be left below a ceiling at `until`; if less is left, a backend begins to lift it.
microseconds enough(UnixTime until) { return until > ahead_of(ledger::wall_clock()) ? step() / 2 : margin(); }

// The published ceiling of the slot.
Ceiling ceiling(const Generator& g) { return g.slot->ceiling.load(); }

void enter_database(const ledger::Ledger& shared, const Patience& patience) {
    wal_ceiling::watch([] {
        forget();
        settings::generation++;  // every generator is set up again
    });
    const wal_ceiling::InDatabase in_database{patience};
    // Generators may already be at the time where the life began.
    const Ceiling target = ledger::ceiling_at(ahead_of(ledger::wall_clock()) + step());
    saw(ledger::enter_database(in_database, shared.header->life_id.load(), target, [&](Floor floor) {
        ledger::lift_floor(shared, floor);
        shared.header->epoch.fetch_add(1);  // ends leases below the floor
    }));
}

void lift_wal_above(UnixTime wanted, UnixTime target, const Patience& patience) {
    const wal_ceiling::InDatabase in_database{patience};
    const uint64 life_id = shared_ledger().header->life_id.load();
    saw(ledger::lift_wal_above(in_database, life_id, wanted, ledger::ceiling_at(target)));
}

void lift_wal_ahead(UnixTime soon, UnixTime target) {
    const uint64 life_id = shared_ledger().header->life_id.load();
    const Ceiling until = wal_ceiling::lift_if_free(soon, {ledger::ceiling_at(target), life_id});
    if (until != Ceiling{}) saw(until);
}

// One backend at a time lifts ceilings early, because all others would wait for its flush. Its right expires by
// itself, in case the backend dies. It lasts longer than the slowest sync, or others would begin to wait for that
// sync. A backend that reaches the ceiling lifts it without this right.
bool may_lift_ahead() {
    constexpr seconds expiry{10};
    auto& busy_until = shared_ledger().header->lifting_until;
    MonotonicTime seen = busy_until.load(std::memory_order_relaxed);
    const MonotonicTime now = ledger::monotonic_clock();
    if (seen > now) return false;
    return busy_until.compare_exchange_strong(seen, now + expiry);
}

void end_lift_ahead() { shared_ledger().header->lifting_until.store({}, std::memory_order_relaxed); }

}  // namespace

const ledger::Ledger& enter(bool in_recovery, const Patience& patience) {
    const ledger::Ledger& shared = ledger_in_life(patience);
    // Transactions that were prepared before the first draw outside recovery are not in the ledger's table.
    ledger::Word& prepared_below = shared.header->prepared_below;
    if (!in_recovery && prepared_below.load() == 0) ledger::lift_to(prepared_below, unsettled::next_xid());
    if (!in_recovery && wal.until() == Ceiling{}) enter_database(shared, patience);
    return shared;
}

Ceiling wal_ceiling_at(UnixTime t, const Patience& patience) {
    if (wal.until() < t) saw(wal_ceiling::read(patience).until);
    // The last ids begin below the ceiling. Their tick may end above it.
    if (wal.until() < t) lift_wal_above(t, t, patience);
    return wal.until();
}

void forget() { wal = {}; }

void before_commit() {
    if (latest == UnixTime{} || !standby::commits_wait() || RecoveryInProgress()) return;
    if (!standby::have(wal.position_for(latest))) standby::make_commit_wait();
}

void set_limit(Generator& g) {
    Ceiling until = ceiling(g);
    if (!g.in_recovery) until = Min(until, wal.until());
    const auto first_refused = [&](UnixTime t) {
        const Result<uint64> tick = g.timeline.ceil_tick(t);
        return tick ? tick.value : g.timeline.max_tick() + 1;
    };
    g.limit = first_refused(until);
    g.lift_from = first_refused(until - enough(until));
}

void lift_above(Generator& g, uint64 tick, const Patience& patience) {
    const UnixTime wanted = g.timeline.start(tick);
    // While this one waited, another process may have lifted it far enough: of all that wait, one syncs.
    ceiling_file::until_done(patience, [&] {
        if (wanted < ceiling(g)) return ledger::CeilingResult{};
        return ceiling_file::try_lift(*g.slot, ledger::ceiling_at(target(g, tick)));
    });
    if (!g.in_recovery && wanted >= wal.until()) lift_wal_above(wanted, target(g, tick), patience);
    set_limit(g);
}

void lift_ahead(Generator& g, uint64 tick) {
    const UnixTime soon = g.timeline.start(tick) + enough(target(g, tick));
    // Checked again here, because another backend may have lifted them since.
    if (soon >= ceiling(g) || (!g.in_recovery && soon >= wal.until())) {
        if (!may_lift_ahead()) return;
        ledger::note_clock_step(*shared_ledger().header);
        PG_TRY();
        {
            const UnixTime least = target(g, tick);
            // A failure here is no error yet: a draw that needs the ceiling will get the error. The file comes first,
            // because it has the fence.
            const bool lifted = soon < ceiling(g) || ceiling_file::try_lift(*g.slot, ledger::ceiling_at(least)).error ==
                                                         ledger::CeilingError::none;
            if (lifted && !g.in_recovery && soon >= wal.until()) lift_wal_ahead(soon, least);
        }
        PG_CATCH();
        {
            end_lift_ahead();
            PG_RE_THROW();
        }
        PG_END_TRY();
        end_lift_ahead();
    }
    set_limit(g);
}

}  // namespace snowflake_ids::issue_limit
