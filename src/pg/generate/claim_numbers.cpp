// What follows a claim that issued nothing, or whose clock is behind.
#include "pg/generate/claim_numbers.hpp"

#include <algorithm>

extern "C" {
#include "storage/ipc.h"
}

#include "ledger/packed_state.hpp"
#include "pg/datum.hpp"
#include "pg/errors.hpp"
#include "pg/server/deadline.hpp"
#include "pg/server/shared_ledger.hpp"

namespace snowflake_ids::generator {

namespace {

[[noreturn]] void fail_regression(const Generator& g, const ledger::Claim& c) {
    ereport(
        ERROR,
        (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
         errmsg("cannot generate %s ids: the clock is behind the last id", g.name),
         errdetail("The last id has the time %s.", show_time(timestamptz(g.timeline.start(c.tick)))),
         errhint(
             "Wait until the clock has caught up, or set snowflake_ids.clock_regression to \"hold\". If ids are hours ahead of the clock, see snowflake_ids.reset().")));
}

[[noreturn]] void fail_waited(const Generator& g, const ledger::Claim& c) {
    ereport(
        ERROR,
        (errcode(ERRCODE_LOCK_NOT_AVAILABLE),
         errmsg("gave up waiting for a %s id after %d ms", g.name, settings::max_wait_ms),
         c.outcome == ledger::Outcome::regression
             ? errdetail("The clock is behind the last id, which has the time %s.",
                         show_time(timestamptz(g.timeline.start(c.tick))))
             : errdetail("Sessions asked for more than the %u ids that one tick (%g ms) has.",
                         g.rules.max - g.rules.min + 1, in_ms(g.timeline.tick_length)),
         c.outcome == ledger::Outcome::regression
             ? errhint(
                   "Wait until the clock has caught up, or set snowflake_ids.clock_regression to \"hold\". If ids are hours ahead of the clock, see snowflake_ids.reset(). The setting snowflake_ids.max_wait limits the wait.")
             : errhint("Set a longer snowflake_ids.max_wait, or use a format with more ids per second.")));
}

constexpr std::memory_order relaxed = std::memory_order_relaxed;

// True for one backend, once a minute. Otherwise an overflow could write thousands of lines a second.
bool take_turn_to_log(ledger::Holds<MonotonicTime>& logged) {
    const MonotonicTime now = ledger::monotonic_clock();
    MonotonicTime last = logged.load(relaxed);
    // `last` is later than `now` if another backend has stored it since.
    if (last != MonotonicTime{} && now - last < std::chrono::minutes{1}) return false;
    return logged.compare_exchange_strong(last, now);
}

// These lines go only to the server's log, because a client might not be able to read a layout's name in its encoding.
void count_and_log_overflow(const Generator& g) {
    ledger::Counters& c = g.slot->counters;
    const uint64 so_far = c.overflow_waits.fetch_add(1, relaxed) + 1;
    if (!take_turn_to_log(c.overflow_logged)) return;
    ereport(
        LOG_SERVER_ONLY,
        (errhidestmt(true), errhidecontext(true), errmsg("%s sequence overflow: calls wait for the next tick", g.name),
         errdetail("Machine id %u has %u ids in each tick (%g ms). Calls that have waited so far: " UINT64_FORMAT ".",
                   g.node, g.rules.max - g.rules.min + 1, in_ms(g.timeline.tick_length), so_far)));
}

void log_behind(const Generator& g) {
    if (!take_turn_to_log(g.slot->counters.regression_logged)) return;
    const State state = ledger::unpack(g.slot->word.load(), g.slot->safe.load(), g.rules.has_toggle);
    const microseconds ahead = g.timeline.start(state.tick) - ledger::wall_clock();
    ereport(LOG_SERVER_ONLY,
            (errhidestmt(true), errhidecontext(true),
             g.rules.on_regression == OnRegression::wait
                 ? errmsg("clock is behind the last id: calls for %s ids of machine id %u wait for the clock", g.name,
                          g.node)
                 : errmsg("clock is behind the last id: %s ids of machine id %u continue ahead of the clock", g.name,
                          g.node),
             errdetail("The last id is %.3f ms ahead of the clock.", in_ms(ahead))));
}

void count_and_log_toggled(const Generator& g, const ledger::Claim& c) {
    ledger::Counters& counters = g.slot->counters;
    const uint64 so_far = counters.regressions.fetch_add(1, relaxed) + 1;
    if (!take_turn_to_log(counters.regression_logged)) return;
    const microseconds step = g.timeline.start(g.slot->safe.load(relaxed)) - g.timeline.start(c.tick);
    ereport(LOG_SERVER_ONLY,
            (errhidestmt(true), errhidecontext(true),
             errmsg("clock went back by %.3f ms: tick-tock bit of %s ids of machine id %u is now %u", in_ms(step),
                    g.name, g.node, c.toggle),
             errdetail("Regressions so far: " UINT64_FORMAT ". New ids sort among the ids of %s and later.", so_far,
                       show_time(timestamptz(g.timeline.start(c.tick))))));
}

bool is_lead_of_start(const ledger::Claim& c) {
    const ledger::Header& header = *shared_ledger().header;
    return c.standing.own_lead && ledger::wall_clock() < header.life_began.load() + header.lead.load();
}

// PG_ENSURE_ERROR_CLEANUP ends it with stop_waiting() also when the backend is terminated, where no PG_FINALLY runs.
struct Waiting {
    ledger::Counters* counters;
    MonotonicTime since;
};

void stop_waiting(int, Datum arg) {
    const auto* w = reinterpret_cast<const Waiting*>(DatumGetPointer(arg));
    w->counters->waited.fetch_add(ledger::monotonic_clock() - w->since, relaxed);
    w->counters->waiting.fetch_sub(1);
}

struct Host : issue_limit::Host {
    ClaimFunction claim;
    bool noted = false;

    Host(const Deadline& deadline, ClaimFunction claim) : issue_limit::Host(deadline), claim(claim) {}
    // Naps once, or raises an error; never returns false.
    bool wait(const Generator& g, const ledger::Claim& c) {
        if (c.outcome == ledger::Outcome::before_epoch || c.outcome == ledger::Outcome::ended)
            fail_outside_format(g.name, g.timeline, c.outcome);
        if (c.outcome == ledger::Outcome::regression && g.rules.on_regression != OnRegression::wait)
            fail_regression(g, c);
        const microseconds left = deadline.left();
        if (left.count() <= 0) fail_waited(g, c);
        if (!noted) note_late(g, c);
        noted = true;
        nap(std::min(c.wait, left));
        return true;
    }
};

}  // namespace

ledger::Claim claim_after_wait(Generator& g, ledger::Claim failed, uint32 want, ClaimFunction claim) {
    Deadline deadline;
    deadline.until -= g.set_up_time;
    g.set_up_time = {};
    ledger::Counters& counters = g.slot->counters;
    Waiting waiting{&counters, ledger::monotonic_clock()};
    counters.waiting.fetch_add(1);

    Host host(deadline, claim);
    ledger::Draw d{.stage = ledger::after(failed), .want = want, .claim = failed};
    PG_ENSURE_ERROR_CLEANUP(stop_waiting, PointerGetDatum(&waiting));
    {
        for (; d.stage != ledger::Stage::drawn; ledger::run_claim(host, g, d)) CHECK_FOR_INTERRUPTS();
    }
    PG_END_ENSURE_ERROR_CLEANUP(stop_waiting, PointerGetDatum(&waiting));
    stop_waiting(0, PointerGetDatum(&waiting));
    return d.claim;
}

void lift_ahead(Generator& g, uint64 tick) {
    const Deadline none;
    issue_limit::Host host(none);
    ledger::lift_ahead(host, g, tick);
}

void note_late(const Generator& g, const ledger::Claim& c) {
    if (is_lead_of_start(c)) return;
    if (c.standing.toggled) return count_and_log_toggled(g, c);
    // A generator that holds continues although the clock is behind, so then the clock is why its tick is used up.
    if (c.outcome == ledger::Outcome::overflow && !c.standing.held) return count_and_log_overflow(g);
    if (c.standing.begun) g.slot->counters.holds.fetch_add(1, relaxed);
    log_behind(g);
}

}  // namespace snowflake_ids::generator
