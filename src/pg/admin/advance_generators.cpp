// Moves generators forward: past an imported id (observe), and past the present time (pass_now).
#include "pg/admin/advance_generators.hpp"

#include "pg/ceilings/issue_limit.hpp"
#include "pg/datum.hpp"
#include "pg/errors.hpp"
#include "pg/generate/layout_generate.hpp"
#include "pg/generate/set_up.hpp"
#include "pg/server/shared_ledger.hpp"

namespace snowflake_ids {

void check_not_far_ahead(UnixTime id_time, const char* what) {
    // Clocks of two servers differ. If more were allowed, users with the privilege to observe or reset could put all
    // ids into the future.
    constexpr microseconds plausible_lead = std::chrono::minutes{1};
    const UnixTime now = ledger::wall_clock();
    if (id_time <= now + plausible_lead) return;
    ereport(
        ERROR,
        (errcode(ERRCODE_DATETIME_FIELD_OVERFLOW), errmsg("%s is too far ahead of the clock", what),
         errdetail("Its time is %s, but the clock shows %s.", show_time(timestamptz(id_time)),
                   show_time(timestamptz(now))),
         errhint("To accept it anyway, call this function as a superuser. For observe functions, add force => true.")));
}

bool force_argument(FunctionCallInfo fcinfo, int n) {
    if (!PG_GETARG_BOOL(n)) return false;
    if (!superuser()) {
        ereport(
            ERROR,
            (errcode(ERRCODE_INSUFFICIENT_PRIVILEGE), errmsg("permission denied to use force => true"),
             errdetail("Only a superuser may reset ids to an earlier time, or observe an id far ahead of the clock."),
             errhint("Leave out force => true, or call the function as a superuser.")));
    }
    return true;
}

ledger::SqlFormat format_argument(FunctionCallInfo fcinfo, int n) {
    const char* name = text_to_cstring(PG_GETARG_TEXT_PP(n));
    for (const ledger::SqlFormat format : {ledger::SqlFormat::sno, ledger::SqlFormat::mastic,
                                           ledger::SqlFormat::snowflake_si, ledger::SqlFormat::layout}) {
        if (strcmp(name, ledger::sql_format_name(format)) == 0) return format;
    }
    ereport(ERROR,
            (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("unknown format \"%s\"", name),
             errdetail("This function accepts the formats sno, mastic, snowflake_si and layout."),
             errhint("Name one of these formats. To reset all of them, call snowflake_ids.reset() without a format.")));
}

namespace {

// After this the generator issues nothing at or before `tick`, also after a crash. Waits for the lock of a relation
// without a limit. Raises an error if a ceiling cannot be lifted.
void lift_past(Generator& g, uint64 tick) {
    const Deadline deadline{.queues = true};
    issue_limit::Host host(deadline);
    (void) ledger::lift_past(host, g, tick);
}

// After this the generator issues nothing at or before the time of an imported id. Raises an error if the time is more
// than a minute ahead of the clock, unless `force`.
void observe(Generator& g, UnixTime id_time, bool force, const char* what) {
    if (!force) check_not_far_ahead(id_time, what);
    lift_past(g, ledger::clamped_tick(g.timeline, id_time));
}

using Ready = Generator& (*) ();

Ready ready_argument(FunctionCallInfo fcinfo, int n) {
    const ledger::SqlFormat format = format_argument(fcinfo, n);
    if (format == ledger::SqlFormat::layout) {
        ereport(
            ERROR,
            (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("layouts have generators of their own"),
             errhint(
                 "Name one of the formats sno, mastic and snowflake_si. For a layout, call snowflake_observe() with its largest id.")));
    }
    return format == ledger::SqlFormat::sno      ? generator::ready_sno
           : format == ledger::SqlFormat::mastic ? generator::ready_mastic
                                                 : generator::ready_snowflake_si;
}

}  // namespace

// sno_observe(id, force) ignores partitions in which this server generates no ids.
FUNCTION(snowflake_ids_sno_observe) {
    const auto& id = id_argument<sno::Id>(fcinfo, 0);
    const bool force = force_argument(fcinfo, 1);
    const uint32 partition = sno::split(id).partition;
    Generator& own = generator::ready_sno();
    if (partition == own.node) {
        observe(own, sno::time_of(id), force, "sno");
    } else if (generator::is_partition_in_use(partition)) {
        observe(generator::sno_of_partition(partition), sno::time_of(id), force, "sno");
    }
    PG_RETURN_VOID();
}

namespace {

// Arguments `n` and `n` + 1 are the id and `force`. Ignores ids of another machine id.
Datum observe_id(FunctionCallInfo fcinfo, int n, Generator& g, const Layout& layout, const char* what) {
    const int64 id = PG_GETARG_INT64(n);
    const bool force = force_argument(fcinfo, n + 1);
    if (split_id(layout, id, what).node == g.node) observe(g, layout.time_of(static_cast<uint64>(id)), force, what);
    PG_RETURN_VOID();
}

}  // namespace

FUNCTION(snowflake_ids_mastic_observe) {
    return observe_id(fcinfo, 0, generator::ready_mastic(), mastic::layout, "Mastic id");
}

FUNCTION(snowflake_ids_snowflake_si_observe) {
    return observe_id(fcinfo, 0, generator::ready_snowflake_si(), snowflake_si::layout, "Snowflake-SI id");
}

FUNCTION(snowflake_ids_snowflake_observe) {
    NamedLayout& named = layouts::argument(fcinfo, 0);
    return observe_id(fcinfo, 1, generator::ready_snowflake(named), named.layout, psprintf("%s id", named.name));
}

// snowflake_ids.pass_now(format) returns the present time, once the server's own generator of the format has passed it.
// It needs no privilege, because this is the clock's own time.
FUNCTION(snowflake_ids_pass_now) {
    const TimestampTz asked_at = GetCurrentTimestamp();
    const UnixTime until = unix_time(asked_at);
    const Ready ready = ready_argument(fcinfo, 0);
    // Passing takes the rest of a tick from all sessions, which then set their generators up again, and any user may do
    // it. So a tick is passed at most once in 50 ms, for all callers that wait for the same generator.
    constexpr milliseconds between_passes{50};
    for (;;) {
        // It must be set up again after a reset.
        Generator& g = ready();
        if (g.slot->passed.load() >= until) PG_RETURN_TIMESTAMPTZ(asked_at);
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

}  // namespace snowflake_ids
