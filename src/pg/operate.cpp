// What an operator may do to a generator: observe an imported id, restore a snapshot, reset.
// All but a forced reset only move forward.
#include "core/sno_snapshot.hpp"
#include "ledger/ceiling.hpp"
#include "ledger/formats.hpp"
#include "ledger/life.hpp"
#include "pg/datum.hpp"
#include "pg/durability.hpp"
#include "pg/errors.hpp"
#include "pg/generator.hpp"
#include "pg/operate.hpp"
#include "pg/shared_ledger.hpp"

namespace snowflake_ids::operate {

namespace {

// An imported id may be this far ahead of our clock: two servers' clocks differ. More would
// let whoever may observe put everybody's ids into the future.
constexpr int64 plausible_lead_us = int64{60} * 1000000;

}  // namespace

void refuse_far_ahead(int64 id_us, const char* what) {
    const int64 now_us = ledger::wall_us();
    if (id_us <= now_us + plausible_lead_us) return;
    ereport(ERROR, (errcode(ERRCODE_DATETIME_FIELD_OVERFLOW), errmsg("%s is too far ahead of the clock", what),
                    errdetail("Its time is %s, the clock says %s.", show_time(timestamptz(id_us)), show_time(timestamptz(now_us))),
                    errhint("A superuser can force it, if new ids may really run ahead of the clock from now on.")));
}

void never_again(Generator& g, uint64 tick) {
    // Durable first: after a power loss the mapped file may have forgotten.
    durability::raise_above(g, tick + 1);
    ledger::raise_slot(*g.slot, tick, g.rules.has_toggle);
}

}  // namespace snowflake_ids::operate

namespace snowflake_ids {

namespace {

// Forcing needs more than the right to call the function: a superuser.
bool forced(FunctionCallInfo fcinfo, int n) {
    if (!PG_GETARG_BOOL(n)) return false;
    if (!superuser()) {
        ereport(ERROR, (errcode(ERRCODE_INSUFFICIENT_PRIVILEGE), errmsg("permission denied to force"),
                        errdetail("Only a superuser may put ids far ahead of the clock.")));
    }
    return true;
}

void observe(Generator& g, int64 id_us, bool force, const char* what) {
    if (!force) operate::refuse_far_ahead(id_us, what);
    operate::never_again(g, ledger::clamped_tick(g.timeline, id_us));
}

}  // namespace

// sno_observe(id, force). An id of another partition is none of this server's.
FUNCTION(sno_observe) {
    const auto& id = id_argument<sno::Id>(fcinfo, 0);
    const bool force = forced(fcinfo, 1);
    Generator& g = generator::ready_sno();
    if (sno::split(id).partition == g.node) observe(g, sno::time_us(id), force, "sno");
    PG_RETURN_VOID();
}

// mastic_observe(id, force)
FUNCTION(mastic_observe) {
    const auto id = static_cast<uint64>(PG_GETARG_INT64(0));
    const bool force = forced(fcinfo, 1);
    observe(generator::ready_mastic(), mastic::layout.time_us(id), force, "Mastic id");
    PG_RETURN_VOID();
}

// snowflake_si_observe(id, force)
FUNCTION(snowflake_si_observe) {
    const int64 id = PG_GETARG_INT64(0);
    const bool force = forced(fcinfo, 1);
    Generator& g = generator::ready_snowflake_si();
    const Result<Layout::Fields> fields = g.layout.split(static_cast<uint64>(id));
    if (!fields) report_range(fields.error, "Snowflake-SI id", id, 0, static_cast<int64>(g.layout.max_id()));
    if (fields.value.node == g.node) observe(g, g.layout.time_us(static_cast<uint64>(id)), force, "Snowflake-SI id");
    PG_RETURN_VOID();
}

}  // namespace snowflake_ids
