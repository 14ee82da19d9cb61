// When ceilings are raised and how far, and the errors if that fails.
#include "pg/draw/durability.hpp"

extern "C" {
#include "access/xlog.h"
#include "common/file_perm.h"
}

#include "core/mastic.hpp"
#include "ledger/ceiling.hpp"
#include "ledger/clock.hpp"
#include "ledger/formats.hpp"
#include "ledger/life.hpp"
#include "pg/server/settings.hpp"
#include "pg/server/shared_ledger.hpp"
#include "pg/server/wait.hpp"
#include "pg/server/wal_ceiling.hpp"

namespace snowflake_ids::durability {

namespace {

// The WAL ceiling of this database as this backend last saw it. 0: not read yet. It only grows, so an old value is
// only too careful. Exceptions: a forced reset lowers it, and a new relation may start lower. Then forget() or
// wal_ceiling::watch() sets 0 here.
int64 wal_until_us = 0;

// When a quarter of the window is left, ceilings are raised to a quarter above the window. So each is synced once per
// window, and no backend has to stop for it.
int64 window_us() { return int64{settings::durable_window_ms} * 1000; }
int64 margin_us() { return window_us() / 4; }

// The highest ceiling, unless the generator itself is already further ahead of the clock. A new life begins there.
// While ids are ahead of the clock, their ceilings rise in small steps (step_us()). Otherwise each life would begin a
// window above the last one, and frequent restarts would add up.
int64 ahead_us(int64 now_us) { return now_us + window_us() + margin_us(); }
int64 step_us() { return Min(margin_us(), int64{500000}); }
int64 target_us(const Generator& g, uint64 tick) {
    return Max(ahead_us(ledger::wall_us()), g.timeline.start_us(tick) + step_us());
}
// How much time must be left below a ceiling at `until_us`; if less is left, a backend begins to raise it.
int64 enough_us(int64 until_us) { return until_us > ahead_us(ledger::wall_us()) ? step_us() / 2 : margin_us(); }

uint64 to_ms(int64 us) {
    const int64 ms = us / 1000 + (us % 1000 != 0);
    return Min(static_cast<uint64>(Max(ms, int64{0})), ledger::max_ceiling_ms);
}

unsigned file_mode() { return static_cast<unsigned>(pg_file_create_mode); }

[[noreturn]] void raise_error(const ledger::CeilingResult& r) {
    const char* name = ledger::ceiling_file_name;
    errno = r.system_errno;
    switch (r.error) {
        case ledger::CeilingError::relinked:
            ereport(ERROR,
                    (errcode(ERRCODE_DATA_CORRUPTED), errmsg("ledger file \"%s\" was replaced", ledger::file_name),
                     errdetail("This session still uses the file that had the name before."),
                     errhint("Put the original file back, or restart the server.")));
            break;
        case ledger::CeilingError::damaged:
            ereport(ERROR, (errcode(ERRCODE_DATA_CORRUPTED), errmsg("ceiling file \"%s\" is damaged", name),
                            errdetail("The entry of slot %u is wrong, or the size is.", r.slot),
                            errhint("Ids drawn below a guessed ceiling could repeat. A superuser can name a floor with "
                                    "snowflake_ids_reset().")));
            break;
        case ledger::CeilingError::busy:
            ereport(ERROR, (errcode(ERRCODE_LOCK_NOT_AVAILABLE),
                            errmsg("gave up waiting for the lock on ceiling file \"%s\" after %d ms", name,
                                   settings::max_wait_ms),
                            errhint("Another session's sync of the file does not return: look at the server's "
                                    "storage. The limit of the wait is set by snowflake_ids.max_wait.")));
            break;
        case ledger::CeilingError::io:
        case ledger::CeilingError::none:
            break;
    }
    ereport(ERROR, (errcode_for_file_access(), errmsg("could not write ceiling file \"%s\": %m", name),
                    errdetail("No id is issued before the time up to which ids may exist is on disk."),
                    errhint("Make room on the disk, and let the server's user write to the file and the data "
                            "directory. Ids go on by themselves then.")));
    pg_unreachable();
}

// Calls `attempt` until its answer is not "busy". The process that has the lock usually needs it for one sync, but it
// may hang: so the wait is limited.
template <class Attempt>
void until_done(const Patience& patience, Attempt attempt) {
    for (Attempts attempts;; attempts.pause(patience)) {
        const ledger::CeilingResult r = attempt();
        if (r.error == ledger::CeilingError::none) return;
        if (r.error != ledger::CeilingError::busy || patience.left_us() <= 0) raise_error(r);
    }
}

ledger::LifeKey current_life() {
    static ledger::LifeKey key = {0, 0, 0};
    if (key.started == 0) {
        key.pid = static_cast<uint64>(PostmasterPid);
        errno = ledger::start_ticks_of(key.pid, key.start_ticks);
        if (errno != 0) {
            ereport(
                ERROR,
                (errcode_for_file_access(), errmsg("could not read file \"/proc/%d/stat\": %m", PostmasterPid),
                 errdetail("It tells whether the server was started anew since the last id."),
                 errhint(
                     "Most likely a limit on open files was met. Ids go on by themselves when there is room again.")));
        }
        // A stand-alone backend has no postmaster, so it is a life by itself.
        key.started = static_cast<uint64>(IsUnderPostmaster ? PgStartTime : MyStartTimestamp) | 1;
    }
    return key;
}

void begin_life(const ledger::Ledger& shared, const Patience& patience) {
    const ledger::LifeKey key = current_life();
    if (ledger::is_current(shared, key)) return;
    uint64 id = 0;
    while (id == 0) {
        if (!pg_strong_random(&id, sizeof id)) {
            ereport(ERROR, (errcode(ERRCODE_INTERNAL_ERROR), errmsg("could not generate random values"),
                            errhint("The operating system's random source failed. Try again when it is mended.")));
        }
    }
    until_done(patience, [&] {
        return ledger::begin_life(DataDir, file_mode(), shared, key, id, ceiling_ms(ledger::wall_us()), enableFsync);
    });
}

void enter_database(const ledger::Ledger& shared, const Patience& patience) {
    wal_ceiling::watch([] {
        wal_until_us = 0;
        settings::generation++;  // every generator is set up again
    });
    const wal_ceiling::InDatabase wal{patience};
    // Generators may already be at the time where the life began.
    const int64 target = ahead_us(ledger::wall_us()) + step_us();
    wal_until_us = ledger::enter_database(wal, shared.header->life_id.load(), target, [&](int64 us) {
        ledger::raise_floor(shared, to_ms(us));
        shared.header->epoch.fetch_add(1);  // ends leases below the floor
    });
}

void raise_wal_above(int64 wanted_us, int64 target_us, const Patience& patience) {
    const wal_ceiling::InDatabase wal{patience};
    wal_until_us = ledger::raise_wal_above(wal, shared_ledger().header->life_id.load(), wanted_us, target_us);
}

void raise_wal_ahead(int64 soon_us, int64 target_us) {
    const int64 until_us = wal_ceiling::raise_if_free(soon_us, {target_us, shared_ledger().header->life_id.load()});
    if (until_us != 0) wal_until_us = until_us;
}

ledger::CeilingResult raise_slot_ceiling(Generator& g, int64 until_us) {
    // A ceiling that is still ahead of the clock was raised within the last window: its generator is in use, so it is
    // raised along.
    const int64 now_us = ledger::wall_us();
    return ledger::raise_ceiling(DataDir, file_mode(), shared_ledger(), *g.slot, to_ms(until_us),
                                 {to_ms(now_us), ceiling_ms(now_us)}, enableFsync);
}

// One backend at a time raises ceilings early, because all others would wait for its flush. Its right expires by
// itself, in case the backend dies. It lasts longer than the slowest sync, or others would begin to wait for that
// sync. A backend that reaches the ceiling raises it without this right.
bool may_raise_ahead() {
    constexpr uint64 expiry_us = 10000000;
    ledger::Word& busy_until = shared_ledger().header->raising_until;
    uint64 seen = busy_until.load(std::memory_order_relaxed);
    const uint64 now = ledger::monotonic_us();
    // A value far ahead was written before the machine was restarted.
    if (seen > now && seen < now + 2 * expiry_us) return false;
    return busy_until.compare_exchange_strong(seen, now + expiry_us);
}

void end_raise_ahead() { shared_ledger().header->raising_until.store(0, std::memory_order_relaxed); }

}  // namespace

void enter(const ledger::Ledger& shared, bool in_recovery, const Patience& patience) {
    begin_life(shared, patience);
    if (!in_recovery && wal_until_us == 0) enter_database(shared, patience);
}

void forget() { wal_until_us = 0; }

void set_limit(Generator& g) {
    int64 until = static_cast<int64>(g.slot->ceiling.load()) * 1000;
    if (!g.in_recovery) until = Min(until, wal_until_us);
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
    until_done(patience, [&] {
        const bool covered = wanted < static_cast<int64>(g.slot->ceiling.load()) * 1000;
        return covered ? ledger::CeilingResult{} : raise_slot_ceiling(g, target_us(g, tick));
    });
    if (!g.in_recovery && wanted >= wal_until_us) raise_wal_above(wanted, target_us(g, tick), patience);
    set_limit(g);
}

void raise_ahead(Generator& g, uint64 tick) {
    const int64 soon = g.timeline.start_us(tick) + enough_us(target_us(g, tick));
    // Checked again here, because another backend may have raised them since.
    if (soon >= static_cast<int64>(g.slot->ceiling.load()) * 1000 || (!g.in_recovery && soon >= wal_until_us)) {
        if (!may_raise_ahead()) return;
        PG_TRY();
        {
            const int64 target = target_us(g, tick);
            // A failure here is no error yet: a draw that needs the ceiling will get the error.
            if (soon >= static_cast<int64>(g.slot->ceiling.load()) * 1000) (void) raise_slot_ceiling(g, target);
            if (!g.in_recovery && soon >= wal_until_us) raise_wal_ahead(soon, target);
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

uint64 ceiling_ms(int64 us) { return to_ms(ahead_us(us)); }

bool ceilings_damaged() {
    bool damaged = false;
    until_done({}, [&] {
        const ledger::CeilingResult r = ledger::check_ceilings(DataDir, file_mode(), shared_ledger(), enableFsync);
        damaged = r.error == ledger::CeilingError::damaged;
        return damaged ? ledger::CeilingResult{} : r;
    });
    return damaged;
}

void repair_ceilings(uint64 floor_ms) {
    until_done({},
               [&] { return ledger::repair_ceilings(DataDir, file_mode(), shared_ledger(), floor_ms, enableFsync); });
}

void apply(const ledger::Reset& reset) {
    until_done({}, [&] { return ledger::apply(DataDir, file_mode(), shared_ledger(), reset); });
}

}  // namespace snowflake_ids::durability
