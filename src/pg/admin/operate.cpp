// What an operator may do to a generator: observe an imported id, restore a snapshot, reset. Only a forced reset can
// move a generator back.
#include "pg/admin/operate.hpp"

extern "C" {
#include "access/xlog.h"
}

#include "core/automatic_machine_id.hpp"
#include "core/gid.hpp"
#include "ledger/floor.hpp"
#include "ledger/formats.hpp"
#include "ledger/reset.hpp"
#include "pg/datum.hpp"
#include "pg/errors.hpp"
#include "pg/generate/issue_limit.hpp"
#include "pg/generate/set_up.hpp"
#include "pg/generate/snowflake_generate.hpp"
#include "pg/server/ceiling_file.hpp"
#include "pg/server/life.hpp"
#include "pg/server/shared_ledger.hpp"
#include "pg/server/wal_ceiling.hpp"

namespace snowflake_ids::operate {

namespace {

// An imported id may be this far ahead of our clock, because the clocks of two servers differ. With more, users with
// the right to observe, to restore or to reset could put all ids into the future.
constexpr microseconds plausible_lead = std::chrono::minutes{1};

}  // namespace

void check_not_far_ahead(UnixTime id_time, const char* what) {
    const UnixTime now = ledger::wall_clock();
    if (id_time <= now + plausible_lead) return;
    ereport(ERROR, (errcode(ERRCODE_DATETIME_FIELD_OVERFLOW), errmsg("%s is too far ahead of the clock", what),
                    errdetail("Its time is %s, the clock says %s.", show_time(timestamptz(id_time)),
                              show_time(timestamptz(now))),
                    errhint("If later ids may really be ahead of the clock, let a superuser call this; observe "
                            "functions then need force => true.")));
}

void lift_past(Generator& g, uint64 tick) {
    // The durable ceiling first: the next life begins there.
    issue_limit::lift_above(g, tick + 1, Patience{.queues = true});
    ledger::lift_slot(*g.slot, tick, g.rules.has_toggle);
    // Ends leases of other backends at this tick.
    shared_ledger().header->epoch.fetch_add(1);
}

bool forced(FunctionCallInfo fcinfo, int n) {
    if (!PG_GETARG_BOOL(n)) return false;
    if (!superuser()) {
        ereport(ERROR, (errcode(ERRCODE_INSUFFICIENT_PRIVILEGE), errmsg("permission denied to force"),
                        errdetail("Only a superuser may lead ids back, or observe an id far ahead of the clock."),
                        errhint("Leave force out, or let a superuser call the function.")));
    }
    return true;
}

void observe(Generator& g, UnixTime id_time, bool force, const char* what) {
    if (!force) check_not_far_ahead(id_time, what);
    lift_past(g, ledger::clamped_tick(g.timeline, id_time));
}

}  // namespace snowflake_ids::operate

namespace snowflake_ids {

using operate::forced;
using operate::lift_past;
using operate::observe;

namespace {

ledger::Kind kind_argument(FunctionCallInfo fcinfo, int n) {
    const char* name = text_to_cstring(PG_GETARG_TEXT_PP(n));
    for (const ledger::Kind kind :
         {ledger::Kind::sno, ledger::Kind::mastic, ledger::Kind::snowflake_si, ledger::Kind::layout}) {
        if (strcmp(name, ledger::kind_name(kind)) == 0) return kind;
    }
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("unknown format \"%s\"", name),
                    errdetail("Formats with a shared generator are sno, mastic, snowflake_si and layout."),
                    errhint("Leave the format out for all of them.")));
    pg_unreachable();
}

// A new ceiling, when the operator has named this floor.
Ceiling ceiling_ahead(UnixTime floor, UnixTime now) {
    return ledger::ceiling_at(ceiling_file::ahead_of(Max(floor, now)));
}

// Lowers the WAL ceiling after a forced reset. It must stay above all ids of generators that were not reset; the
// ceilings of their slots give that bound.
//
// A session may be set up after the reset and before this call. It draws below the old WAL ceiling, maybe for long,
// because ALTER SEQUENCE can make us wait. So we lower the ceiling, lift the epoch again so that such sessions look
// again, and then lift the ceiling above what they drew.
void put_back_wal_ceiling(const ledger::Ledger& shared, UnixTime floor, const Patience& patience) {
    const uint64 life_id = shared.header->life_id.load();
    const auto ceiling_below = [&](Ceiling old) {
        const Ceiling least = ceiling_ahead(floor, ledger::wall_clock());
        return ledger::WalCeiling{Max(least, Min(old, ledger::highest_ceiling(shared))), life_id};
    };
    const Ceiling old = wal_ceiling::set(ceiling_below(wal_ceiling::read(patience).until), patience).until;
    shared.header->epoch.fetch_add(1);
    wal_ceiling::lift(ceiling_below(old), patience);
}

// Repairs this database's WAL ceiling if it is damaged. It no longer tells which ids the database may have: then the
// floor rises for all generators, also for those that are not reset. Other sessions may draw meanwhile: their ids are
// below their slots' ceilings, and the new WAL ceiling is not lower.
void repair_wal_ceiling(const ledger::Ledger& shared, const ledger::Reset& reset, const Patience& patience) {
    if (!wal_ceiling::is_damaged(patience)) return;
    // Only the life: the database cannot be entered.
    (void) ledger_in_life(patience);
    ledger::lift_floor(shared, reset.floor);
    const Ceiling until = Max(reset.ceiling, ledger::highest_ceiling(shared));
    wal_ceiling::repair({until, shared.header->life_id.load()}, patience);
    shared.header->epoch.fetch_add(1);
}

// The node that a reset is for: of any format if `kind` is none.
int node_argument(FunctionCallInfo fcinfo, int n, ledger::Kind kind) {
    if (kind == ledger::Kind::mastic) {
        ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("ids of format mastic have no node"),
                        errdetail("A server has one generator of them."), errhint("Leave the node out.")));
    }
    const int64 last = kind == ledger::Kind::snowflake_si ? snowflake_si::layout.max_node() : automatic_machine_id::max;
    return static_cast<int>(number_argument(fcinfo, n, "node", Error::node_range, last));
}

void fail_past_floor() {
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                    errmsg("floor is in the past, and the ledger cannot tell which ids were issued"),
                    errhint("Choose a floor above every id, or force it.")));
}

}  // namespace

// sno_observe(id, force). Ignores an id of a partition in which this server does not draw.
FUNCTION(snowflake_ids_sno_observe) {
    const auto& id = id_argument<sno::Id>(fcinfo, 0);
    const bool force = forced(fcinfo, 1);
    const uint32 partition = sno::split(id).partition;
    Generator& own = generator::ready_sno();
    if (partition == own.node) {
        observe(own, sno::time_of(id), force, "sno");
    } else if (generator::draws_sno_of(partition)) {
        observe(generator::sno_of_partition(partition), sno::time_of(id), force, "sno");
    }
    PG_RETURN_VOID();
}

// mastic_observe(id, force)
FUNCTION(snowflake_ids_mastic_observe) {
    const auto id = static_cast<uint64>(PG_GETARG_INT64(0));
    const bool force = forced(fcinfo, 1);
    observe(generator::ready_mastic(), mastic::layout.time_of(id), force, "Mastic id");
    PG_RETURN_VOID();
}

// snowflake_si_observe(id, force)
FUNCTION(snowflake_ids_snowflake_si_observe) {
    const int64 id = PG_GETARG_INT64(0);
    const bool force = forced(fcinfo, 1);
    Generator& g = generator::ready_snowflake_si();
    constexpr Layout layout = snowflake_si::layout;
    const Result<Layout::Fields> fields = layout.split(static_cast<uint64>(id));
    if (!fields) fail_range(fields.error, "Snowflake-SI id", id, 0, static_cast<int64>(layout.max_id()));
    if (fields.value.node == g.node) observe(g, layout.time_of(static_cast<uint64>(id)), force, "Snowflake-SI id");
    PG_RETURN_VOID();
}

// snowflake_observe(layout, id, force). Ignores an id of another node.
FUNCTION(snowflake_ids_snowflake_observe) {
    NamedLayout& named = layouts::argument(fcinfo, 0);
    const int64 id = PG_GETARG_INT64(1);
    const bool force = forced(fcinfo, 2);
    const Result<Layout::Fields> fields = named.layout.split(static_cast<uint64>(id));
    if (!fields) fail_range(fields.error, "id", id, 0, static_cast<int64>(named.layout.max_id()));
    Generator& g = generator::ready_snowflake(named);
    if (fields.value.node == g.node) observe(g, named.layout.time_of(static_cast<uint64>(id)), force, named.name);
    PG_RETURN_VOID();
}

namespace {

// A pass takes the rest of a tick from all sessions, and each of them sets its generator up again. Anyone may ask for
// one, so the server has one in this time, whoever asks. The callers wait for it; those of one generator share it.
constexpr milliseconds between_passes{50};

using Ready = Generator& (*) ();

void pass(Ready ready, UnixTime until) {
    for (;;) {
        // Again after each wait: a reset may have been forced.
        Generator& g = ready();
        if (g.slot->passed.load() >= until) return;
        auto& next_pass = shared_ledger().header->next_pass;
        const MonotonicTime now = ledger::monotonic_clock();
        MonotonicTime next = next_pass.load();
        if (now < next) {
            nap(next - now);
        } else if (next_pass.compare_exchange_strong(next, now + between_passes)) {
            const UnixTime passed = Max(ledger::wall_clock(), until);
            lift_past(g, ledger::clamped_tick(g.timeline, passed));
            ledger::lift_to(g.slot->passed, passed);
        }
    }
}

Ready ready_argument(FunctionCallInfo fcinfo, int n) {
    switch (kind_argument(fcinfo, n)) {
        case ledger::Kind::sno:
            return generator::ready_sno;
        case ledger::Kind::mastic:
            return generator::ready_mastic;
        case ledger::Kind::snowflake_si:
            return generator::ready_snowflake_si;
        default:
            ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("layouts have generators of their own"),
                            errhint("Name one of the formats sno, mastic and snowflake_si.")));
            pg_unreachable();
    }
}

}  // namespace

// snowflake_ids.pass_now(format): returns the present time. No id that is drawn later has this time or an earlier one.
// It needs no privilege: this is the clock's own time.
FUNCTION(snowflake_ids_pass_now) {
    const TimestampTz now = GetCurrentTimestamp();
    pass(ready_argument(fcinfo, 0), unix_time(now));
    PG_RETURN_TIMESTAMPTZ(now);
}

// snowflake_ids.reset(floor, format, node, force)
FUNCTION(snowflake_ids_reset) {
    if (PG_ARGISNULL(0) || PG_ARGISNULL(3)) {
        ereport(ERROR, (errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
                        errmsg("argument must not be null: %s", PG_ARGISNULL(0) ? "floor" : "force"),
                        PG_ARGISNULL(0) ? errhint("Name a floor above every id, such as now().")
                                        : errhint("Write true or false, or leave force out.")));
    }
    const UnixTime floor = unix_time(PG_GETARG_TIMESTAMPTZ(0));
    if (floor < UnixTime{} || floor >= ledger::max_ceiling) {
        fail_time(floor < UnixTime{} ? Error::time_before_epoch : Error::time_after_end, "floor", gid::timeline,
                  PG_GETARG_TIMESTAMPTZ(0));
    }
    const UnixTime now = ledger::wall_clock();
    ledger::Reset reset{.floor = std::chrono::ceil<milliseconds>(floor),
                        .ceiling = ceiling_ahead(floor, now),
                        .force = forced(fcinfo, 3)};
    if (!PG_ARGISNULL(1)) reset.kind = kind_argument(fcinfo, 1);
    if (!PG_ARGISNULL(2)) reset.node = node_argument(fcinfo, 2, reset.kind);
    // Users with the privilege to call this must not stop all generators by a floor in the far future.
    if (!superuser()) operate::check_not_far_ahead(floor, "floor");

    const ledger::Ledger& shared = shared_ledger();
    const bool in_recovery = RecoveryInProgress();
    const Patience patience{.queues = true};
    const bool in_past = !reset.force && floor < now;
    // Before anything is changed.
    ceiling_file::check();
    // Before a life begins, memory is empty.
    if (in_past && !ledger::has_begun(*shared.header)) fail_past_floor();
    if (in_past && !in_recovery && wal_ceiling::is_damaged(patience)) fail_past_floor();
    const Floor highest = ledger::highest_issued(shared, reset);
    if (!reset.force && floor < highest) {
        ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("floor is below ids that have been issued"),
                        errdetail("Ids up to %s may exist.", show_time(timestamptz(highest))),
                        errhint("Choose a later floor. Ids repeat if a floor is forced below them.")));
    }
    if (!in_recovery) repair_wal_ceiling(shared, reset, patience);
    (void) issue_limit::enter(in_recovery, patience);
    ceiling_file::apply(reset);
    if (!in_recovery) {
        // Other databases keep their WAL ceilings: for a forced reset, the function must be called in each of them.
        if (reset.force)
            put_back_wal_ceiling(shared, floor, patience);
        else
            wal_ceiling::lift({reset.ceiling, shared.header->life_id.load()}, patience);
    }
    ereport(LOG, (errmsg("snowflake_ids: generators reset to floor %s%s", show_time(PG_GETARG_TIMESTAMPTZ(0)),
                         reset.force ? " by force" : "")));
    PG_RETURN_VOID();
}

}  // namespace snowflake_ids
