// snowflake_ids.reset(): moves generators to a time that an operator names (a floor), and repairs a damaged WAL
// ceiling. Only a forced reset moves a generator back. ledger/reset.cpp decides which are moved.
#include "ledger/reset.hpp"

#include "core/automatic_machine_id.hpp"
#include "core/gid.hpp"
#include "ledger/formats.hpp"
#include "pg/admin/advance_generators.hpp"
#include "pg/ceilings/issue_limit.hpp"
#include "pg/datum.hpp"
#include "pg/errors.hpp"
#include "pg/pg.hpp"
#include "pg/server/shared_ledger.hpp"

namespace snowflake_ids {

namespace {

Ceiling ceiling_ahead(UnixTime floor, UnixTime now) {
    return ledger::ceiling_at(ledger::ahead_of(Max(floor, now), settings::durable_window()));
}

// After a forced reset. The WAL ceiling stays above all ids of generators that were not reset: not below the ceilings
// of their slots, or the old WAL ceiling if that is lower.
//
// A session that is set up between the reset and this call, which may wait for a lock, generates ids below the
// old ceiling. So this lowers the ceiling, raises the revision, so that such sessions look again, and then lifts the
// ceiling above their ids.
void lower_wal_ceiling(const ledger::Ledger& shared, UnixTime floor, const Deadline& deadline) {
    const uint64 life_id = shared.header->life_id.load();
    const auto ceiling_below = [&](Ceiling old) {
        const Ceiling least = ceiling_ahead(floor, ledger::wall_clock());
        return ledger::WalCeiling{Max(least, Min(old, ledger::highest_ceiling(shared))), life_id};
    };
    const Ceiling old = ceiling_in_wal::exchange(ceiling_below(ceiling_in_wal::read(deadline).until), deadline).until;
    shared.header->revision.fetch_add(1);
    ceiling_in_wal::lift(ceiling_below(old), deadline);
}

// A damaged WAL ceiling does not show which ids the database may have, so all generators are lifted to the floor. Ids
// that other sessions generate meanwhile are below the ceilings of their slots, and so below the new WAL ceiling.
void repair_wal_ceiling(const ledger::Ledger& shared, const ledger::Reset& reset, const Deadline& deadline) {
    // A database with a damaged ceiling cannot be entered.
    issue_limit::Host host(deadline);
    (void) ledger::begin_life(host);
    ledger::lift_floor(host, reset.floor);
    const Ceiling until = Max(reset.ceiling, ledger::highest_ceiling(shared));
    ceiling_in_wal::repair({until, shared.header->life_id.load()});
    shared.header->revision.fetch_add(1);
}

// Raises an error if this format (`none`: every format) cannot contain the machine id.
int node_argument(FunctionCallInfo fcinfo, int n, ledger::SqlFormat format) {
    if (format == ledger::SqlFormat::mastic) {
        ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("ids of format mastic have no machine id"),
                        errdetail("A server has a single generator for this format."),
                        errhint("Leave out the argument machine_id.")));
    }
    const int64 last =
        format == ledger::SqlFormat::snowflake_si ? snowflake_si::layout.max_node() : automatic_machine_id::max;
    return static_cast<int>(number_argument(fcinfo, n, "machine_id", last));
}

// Ids are at most 2.5 s ahead of the clock after a start, if nobody has moved them.
constexpr const char* later = "now() + interval '3 seconds'";

}  // namespace

// snowflake_ids.reset(floor, format, machine_id, force); null chooses all.
FUNCTION(snowflake_ids_reset) {
    PreventCommandDuringRecovery("snowflake_ids.reset()");
    if (PG_ARGISNULL(0) || PG_ARGISNULL(3)) {
        ereport(ERROR, (errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
                        errmsg("argument must not be null: %s", PG_ARGISNULL(0) ? "floor" : "force"),
                        PG_ARGISNULL(0) ? errhint("Name a time above every id, such as %s.", later)
                                        : errhint("Write true or false, or leave out the argument force.")));
    }
    const UnixTime floor = unix_time(PG_GETARG_TIMESTAMPTZ(0));
    if (floor < UnixTime{} || floor >= ledger::max_ceiling) {
        fail_time("floor", gid::timeline, PG_GETARG_TIMESTAMPTZ(0));
    }
    const UnixTime now = ledger::wall_clock();
    ledger::Reset reset{.floor = std::chrono::ceil<milliseconds>(floor),
                        .ceiling = ceiling_ahead(floor, now),
                        .force = force_argument(fcinfo, 3)};
    if (!PG_ARGISNULL(1)) reset.format = format_argument(fcinfo, 1);
    if (!PG_ARGISNULL(2)) reset.node = node_argument(fcinfo, 2, reset.format);
    if (!superuser()) check_not_far_ahead(floor, "floor");

    const ledger::Ledger& shared = shared_ledger();
    const Deadline deadline{.queues = true};
    // Before anything is changed.
    ceiling_in_file::check();
    const bool damaged = ceiling_in_wal::is_damaged();
    // In both cases nothing shows which ids were issued before.
    if (!reset.force && floor < now && (damaged || !ledger::has_begun(*shared.header))) {
        ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                        errmsg("floor is in the past, and the server does not know which ids were generated"),
                        errhint("Call snowflake_ids.reset() with a time above every id, such as %s.", later)));
    }
    const Floor highest = ledger::highest_issued(shared, reset);
    if (!reset.force && floor < highest) {
        ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("floor is below ids that have been generated"),
                        errdetail("Ids up to %s may exist.", show_time(timestamptz(highest))),
                        errhint("Choose a time later than that. With force => true, ids can repeat.")));
    }
    if (damaged) repair_wal_ceiling(shared, reset, deadline);
    issue_limit::Host host(deadline);
    (void) ledger::begin_life(host);
    ledger::enter(host);
    // If writing fails, slots in memory may have moved.
    ceiling_in_file::until_done({}, [&] { return ledger::apply_reset(ceiling_in_file::place(), shared, reset); });
    // Other databases keep their WAL ceilings, so an operator must force the reset in each.
    if (reset.force)
        lower_wal_ceiling(shared, floor, deadline);
    else
        ceiling_in_wal::lift({reset.ceiling, shared.header->life_id.load()}, deadline);
    ereport(LOG, (errmsg("snowflake_ids: generators were reset to floor %s%s", show_time(PG_GETARG_TIMESTAMPTZ(0)),
                         reset.force ? " with force => true" : "")));
    PG_RETURN_VOID();
}

}  // namespace snowflake_ids
