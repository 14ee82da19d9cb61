// The SQL function snowflake_ids.reset(): moves generators to a time that an operator names (a floor), and repairs a
// damaged WAL ceiling. Only a forced reset can move a generator back. ledger/reset.cpp decides which generators are
// moved.
#include "ledger/reset.hpp"

#include "pg/pg.hpp"

extern "C" {
#include "access/xlog.h"
}

#include "core/automatic_machine_id.hpp"
#include "core/gid.hpp"
#include "ledger/floor.hpp"
#include "ledger/formats.hpp"
#include "pg/admin/operate.hpp"
#include "pg/ceilings/begin_life.hpp"
#include "pg/ceilings/database_ceiling.hpp"
#include "pg/ceilings/durable_ceiling.hpp"
#include "pg/ceilings/issue_limit.hpp"
#include "pg/datum.hpp"
#include "pg/errors.hpp"
#include "pg/server/shared_ledger.hpp"

namespace snowflake_ids {

using operate::force_argument;
using operate::kind_argument;

namespace {

// The ceiling to write after the operator has named this floor. It is ahead of both the floor and the clock.
Ceiling ceiling_ahead(UnixTime floor, UnixTime now) {
    return ledger::ceiling_at(durable_ceiling::ahead_of(Max(floor, now)));
}

// Lowers the WAL ceiling of this database after a forced reset. It stays above all ids of generators that were not
// reset, because it is not lower than the ceilings of their slots, or than the old WAL ceiling if that is lower. Raises
// an error as the functions of wal_ceiling.hpp do.
//
// A session may be set up after the reset and before this call. It generates ids below the old WAL ceiling. This may
// last long, because this function waits if ALTER SEQUENCE has locked the sequence of the ceiling. So the function
// lowers the ceiling, and adds one to the revision, so that such sessions look again. Then it lifts the ceiling above
// the ids that they have generated.
void lower_wal_ceiling(const ledger::Ledger& shared, UnixTime floor, const Patience& patience) {
    const uint64 life_id = shared.header->life_id.load();
    const auto ceiling_below = [&](Ceiling old) {
        const Ceiling least = ceiling_ahead(floor, ledger::wall_clock());
        return ledger::WalCeiling{Max(least, Min(old, ledger::highest_ceiling(shared))), life_id};
    };
    const Ceiling old =
        database_ceiling::replace(ceiling_below(database_ceiling::read(patience).until), patience).until;
    shared.header->revision.fetch_add(1);
    database_ceiling::lift(ceiling_below(old), patience);
}

// Repairs this database's WAL ceiling if it is damaged. A damaged ceiling does not show which ids the database may
// have. So all generators are lifted to the floor, also those that are not reset. Other sessions may generate ids
// during this. Their ids are below the ceilings of their slots, and the new WAL ceiling is not lower than these. Not in
// recovery.
void repair_wal_ceiling(const ledger::Ledger& shared, const ledger::Reset& reset, const Patience& patience) {
    if (!database_ceiling::is_damaged(patience)) return;
    // This begins the life only, because a database with a damaged ceiling cannot be entered.
    (void) ledger_in_life(patience);
    ledger::lift_floor(shared, reset.floor);
    const Ceiling until = Max(reset.ceiling, ledger::highest_ceiling(shared));
    database_ceiling::repair({until, shared.header->life_id.load()}, patience);
    shared.header->revision.fetch_add(1);
}

// The node in argument `n`. Raises an error if ids of this kind cannot have it. If `kind` is none, a node is accepted
// if ids of at least one kind can have it.
int node_argument(FunctionCallInfo fcinfo, int n, ledger::Kind kind) {
    if (kind == ledger::Kind::mastic) {
        ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("ids of format mastic have no machine id"),
                        errdetail("A server has a single generator for this format."),
                        errhint("Leave out the argument machine_id.")));
    }
    const int64 last = kind == ledger::Kind::snowflake_si ? snowflake_si::layout.max_node() : automatic_machine_id::max;
    return static_cast<int>(number_argument(fcinfo, n, "machine_id", Error::node_range, last));
}

// Raises the error that a floor in the past is refused, because nothing shows which ids were generated before.
void fail_past_floor() {
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                    errmsg("floor is in the past, and the server does not know which ids were generated"),
                    errhint("Call snowflake_ids.reset() with a time above every id, such as now().")));
}

}  // namespace

// snowflake_ids.reset(floor, format, node, force): after this, the chosen generators issue nothing at or before the
// floor. If format or node is null, generators of all formats or nodes are chosen. Raises an error if the floor is
// below ids that may exist, unless `force` is true. Raises an error if floor or force is null.
FUNCTION(snowflake_ids_reset) {
    if (PG_ARGISNULL(0) || PG_ARGISNULL(3)) {
        ereport(ERROR, (errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
                        errmsg("argument must not be null: %s", PG_ARGISNULL(0) ? "floor" : "force"),
                        PG_ARGISNULL(0) ? errhint("Name a time above every id, such as now().")
                                        : errhint("Write true or false, or leave out the argument force.")));
    }
    const UnixTime floor = unix_time(PG_GETARG_TIMESTAMPTZ(0));
    if (floor < UnixTime{} || floor >= ledger::max_ceiling) {
        fail_time(floor < UnixTime{} ? Error::time_before_epoch : Error::time_after_end, "floor", gid::timeline,
                  PG_GETARG_TIMESTAMPTZ(0));
    }
    const UnixTime now = ledger::wall_clock();
    ledger::Reset reset{.floor = std::chrono::ceil<milliseconds>(floor),
                        .ceiling = ceiling_ahead(floor, now),
                        .force = force_argument(fcinfo, 3)};
    if (!PG_ARGISNULL(1)) reset.kind = kind_argument(fcinfo, 1);
    if (!PG_ARGISNULL(2)) reset.node = node_argument(fcinfo, 2, reset.kind);
    // Users who are not superusers may have the privilege to call this. They must not stop all generators by a floor in
    // the far future.
    if (!superuser()) operate::check_not_far_ahead(floor, "floor");

    const ledger::Ledger& shared = shared_ledger();
    const bool in_recovery = RecoveryInProgress();
    const Patience patience{.queues = true};
    const bool in_past = !reset.force && floor < now;
    // This raises an error if the file is damaged, foreign or superseded, before anything is changed.
    durable_ceiling::check();
    // If no life has begun, or if the WAL ceiling is damaged, nothing shows which ids were issued before.
    if (in_past && !ledger::has_begun(*shared.header)) fail_past_floor();
    if (in_past && !in_recovery && database_ceiling::is_damaged(patience)) fail_past_floor();
    const Floor highest = ledger::highest_issued(shared, reset);
    if (!reset.force && floor < highest) {
        ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("floor is below ids that have been generated"),
                        errdetail("Ids up to %s may exist.", show_time(timestamptz(highest))),
                        errhint("Choose a time later than that. With force => true, ids can repeat.")));
    }
    if (!in_recovery) repair_wal_ceiling(shared, reset, patience);
    (void) issue_limit::enter_life_and_database(in_recovery, patience);
    durable_ceiling::apply_reset(reset);
    if (!in_recovery) {
        // Other databases keep their WAL ceilings. So for a forced reset, an operator must call the function in each
        // database.
        if (reset.force)
            lower_wal_ceiling(shared, floor, patience);
        else
            database_ceiling::lift({reset.ceiling, shared.header->life_id.load()}, patience);
    }
    ereport(LOG, (errmsg("snowflake_ids: generators were reset to floor %s%s", show_time(PG_GETARG_TIMESTAMPTZ(0)),
                         reset.force ? " with force => true" : "")));
    PG_RETURN_VOID();
}

}  // namespace snowflake_ids
