// When ceilings are raised, and how far.
#include "pg/generate/issue_limit.hpp"

extern "C" {
#include "access/xlog.h"
}

#include "ledger/clock_step.hpp"
#include "ledger/formats.hpp"
#include "ledger/life.hpp"
#include "pg/generate/unsettled.hpp"
#include "pg/server/ceiling_file.hpp"
#include "pg/server/settings.hpp"
#include "pg/server/shared_ledger.hpp"
#include "pg/server/standby.hpp"
#include "pg/server/wait.hpp"
#include "pg/server/wal_ceiling.hpp"

namespace snowflake_ids::durability {

int64 latest_us = 0;

namespace {

using ceiling_file::ahead_us, ceiling_file::margin_us;

// The WAL ceiling of this database as this backend last saw it. 0: not read yet. It only grows, so an old value is
// only too careful. Exceptions: a forced reset lowers it, and a new relation may start lower. Then forget() or
// wal_ceiling::watch() sets 0 here.
ledger::SeenCeilings wal;

void saw(int64 until_us) { wal.saw(until_us, wal_ceiling::position()); }

// While ids are ahead of the clock, their ceilings rise in small steps. Otherwise each life would begin a window above
// the last one, and frequent restarts would add up. A life that has just begun raises them no further than it has
// lasted: then the clock gains on the ids also when the server crashes several times a second.
int64 step_us() {
    const int64 most = Min(margin_us(), int64{500000});
    const int64 lasted = ledger::wall_us() - static_cast<int64>(shared_ledger().header->life_began.load());
    return lasted < 0 ? most : Min(Max(lasted, int64{10000}), most);
}
int64 target_us(const Generator& g, uint64 tick) {
    return Max(ahead_us(ledger::wall_us()), g.timeline.start_us(tick) + step_us());
}
// How much time must be left below a ceiling at `until_us`; if less is left, a backend begins to raise it.
int64 enough_us(int64 until_us) { return until_us > ahead_us(ledger::wall_us()) ? step_us() / 2 : margin_us(); }

// The published ceiling of the slot.
int64 ceiling_us(const Generator& g) { return static_cast<int64>(g.slot->ceiling.load()) * 1000; }

void enter_database(const ledger::Ledger& shared, const Patience& patience) {
    wal_ceiling::watch([] {
        forget();
        settings::generation++;  // every generator is set up again
    });
    const wal_ceiling::InDatabase in_database{patience};
    // Generators may already be at the time where the life began.
    const int64 target = ahead_us(ledger::wall_us()) + step_us();
    saw(ledger::enter_database(in_database, shared.header->life_id.load(), target, [&](int64 us) {
        ledger::raise_floor(shared, ceiling_file::to_ms(us));
        shared.header->epoch.fetch_add(1);  // ends leases below the floor
    }));
}

void raise_wal_above(int64 wanted_us, int64 target_us, const Patience& patience) {
    const wal_ceiling::InDatabase in_database{patience};
    saw(ledger::raise_wal_above(in_database, shared_ledger().header->life_id.load(), wanted_us, target_us));
}

void raise_wal_ahead(int64 soon_us, int64 target_us) {
    const int64 until_us = wal_ceiling::raise_if_free(soon_us, {target_us, shared_ledger().header->life_id.load()});
    if (until_us != 0) saw(until_us);
}

// One backend at a time raises ceilings early, because all others would wait for its flush. Its right expires by
// itself, in case the backend dies. It lasts longer than the slowest sync, or others would begin to wait for that
// sync. A backend that reaches the ceiling raises it without this right.
bool may_raise_ahead() {
    constexpr uint64 expiry_us = 10000000;
    ledger::Word& busy_until = shared_ledger().header->raising_until;
    uint64 seen = busy_until.load(std::memory_order_relaxed);
    const uint64 now = ledger::monotonic_us();
    if (seen > now) return false;
    return busy_until.compare_exchange_strong(seen, now + expiry_us);
}

void end_raise_ahead() { shared_ledger().header->raising_until.store(0, std::memory_order_relaxed); }

}  // namespace

const ledger::Ledger& enter(bool in_recovery, const Patience& patience) {
    const ledger::Ledger& shared = ceiling_file::ledger_in_life(patience);
    // Transactions that were prepared before the first draw outside recovery are not in the ledger's table.
    ledger::Word& prepared_below = shared.header->prepared_below;
    if (!in_recovery && prepared_below.load() == 0) ledger::raise_to(prepared_below, unsettled::next_xid());
    if (!in_recovery && wal.until_us() == 0) enter_database(shared, patience);
    return shared;
}

int64 wal_ceiling_us(int64 us, const Patience& patience) {
    if (wal.until_us() < us) saw(wal_ceiling::read(patience).until_us);
    // The last ids begin below the ceiling. Their tick may end above it.
    if (wal.until_us() < us) raise_wal_above(us, us, patience);
    return wal.until_us();
}

void forget() { wal = {}; }

void before_commit() {
    if (latest_us == 0 || !standby::commits_wait() || RecoveryInProgress()) return;
    if (!standby::have(wal.position_for(latest_us))) standby::make_commit_wait();
}

void set_limit(Generator& g) {
    int64 until = ceiling_us(g);
    if (!g.in_recovery) until = Min(until, wal.until_us());
    const auto first_refused = [&](int64 us) {
        const Result<uint64> tick = g.timeline.ceil_tick(us);
        return tick ? tick.value : g.timeline.max_tick() + 1;
    };
    g.limit = first_refused(until);
    g.raise_from = first_refused(until - enough_us(until));
}

void raise_above(Generator& g, uint64 tick, const Patience& patience) {
    const int64 wanted = g.timeline.start_us(tick);
    // While this one waited, another process may have raised it far enough: of all that wait, one syncs.
    ceiling_file::until_done(patience, [&] {
        if (wanted < ceiling_us(g)) return ledger::CeilingResult{};
        return ceiling_file::try_raise(*g.slot, target_us(g, tick));
    });
    if (!g.in_recovery && wanted >= wal.until_us()) raise_wal_above(wanted, target_us(g, tick), patience);
    set_limit(g);
}

void raise_ahead(Generator& g, uint64 tick) {
    const int64 soon = g.timeline.start_us(tick) + enough_us(target_us(g, tick));
    // Checked again here, because another backend may have raised them since.
    if (soon >= ceiling_us(g) || (!g.in_recovery && soon >= wal.until_us())) {
        if (!may_raise_ahead()) return;
        ledger::note_clock_step(*shared_ledger().header);
        PG_TRY();
        {
            const int64 target = target_us(g, tick);
            // A failure here is no error yet: a draw that needs the ceiling will get the error. The file comes first,
            // because it has the fence.
            const bool raised =
                soon < ceiling_us(g) || ceiling_file::try_raise(*g.slot, target).error == ledger::CeilingError::none;
            if (raised && !g.in_recovery && soon >= wal.until_us()) raise_wal_ahead(soon, target);
        }
        PG_CATCH();
        {
            end_raise_ahead();
            PG_RE_THROW();
        }
        PG_END_TRY();
        end_raise_ahead();
    }
    set_limit(g);
}

}  // namespace snowflake_ids::durability
