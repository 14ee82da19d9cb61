// What happens after a claim that has issued nothing: waits and errors.
#include "pg/draw/claim.hpp"

#include <algorithm>

extern "C" {
#include "storage/ipc.h"
}

#include "ledger/life.hpp"
#include "pg/errors.hpp"
#include "pg/server/shared_ledger.hpp"
#include "pg/server/wait.hpp"

namespace snowflake_ids::generator {

namespace {

[[noreturn]] void raise_overflow(const Generator& g) {
    ereport(ERROR, (errcode(ERRCODE_SEQUENCE_GENERATOR_LIMIT_EXCEEDED), errmsg("%s sequence overflow", g.name),
                    errdetail("All %u ids of this tick have been issued.", g.rules.max - g.rules.min + 1),
                    errhint("Try again, or set snowflake_ids.overflow to \"wait\".")));
    pg_unreachable();
}

[[noreturn]] void raise_regression(const Generator& g, const ledger::Claim& c) {
    ereport(ERROR,
            (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
             errmsg("cannot generate %s ids: the clock is behind the last id", g.name),
             errdetail("The last id has the time %s.", show_time(timestamptz(g.timeline.start_us(c.tick)))),
             g.rules.on_regression == OnRegression::hold
                 ? errhint("Correct the clock, raise snowflake_ids.max_clock_lead, or see snowflake_ids_reset().")
                 : errhint("Correct the clock, set snowflake_ids.clock_regression to \"hold\", or see "
                           "snowflake_ids_reset().")));
    pg_unreachable();
}

[[noreturn]] void raise_waited(const Generator& g, const ledger::Claim& c) {
    ereport(ERROR, (errcode(ERRCODE_LOCK_NOT_AVAILABLE),
                    errmsg("gave up waiting for a %s id after %d ms", g.name, settings::max_wait_ms),
                    c.outcome == ledger::Outcome::regression
                        ? errdetail("The clock is behind the last id, which has the time %s.",
                                    show_time(timestamptz(g.timeline.start_us(c.tick))))
                        : errdetail("More ids are asked for than the %u that a tick of %g ms has.",
                                    g.rules.max - g.rules.min + 1, static_cast<double>(g.timeline.tick_us) / 1000),
                    c.outcome == ledger::Outcome::regression
                        ? errhint("Correct the clock, set snowflake_ids.clock_regression to \"hold\", or see "
                                  "snowflake_ids_reset(). The limit of the wait is set by snowflake_ids.max_wait.")
                        : errhint("The limit is set by snowflake_ids.max_wait.")));
    pg_unreachable();
}

// Raises an error if waiting cannot help, or if the settings do not allow it.
void raise_unless_worth_waiting(const Generator& g, const ledger::Claim& c) {
    switch (c.outcome) {
        case ledger::Outcome::before_epoch:
        case ledger::Outcome::ended:
            raise_outside_format(g.name, g.timeline, c.outcome);
        case ledger::Outcome::overflow:
            // A life begins at a tick that is used up, although nobody drew its numbers: that is no overflow.
            if (settings::overflow == static_cast<int>(settings::Overflow::error) && !c.own_lead) raise_overflow(g);
            break;
        case ledger::Outcome::regression:
            // Only "wait" waits. "hold" gets here when it is max_clock_lead ahead of the clock.
            if (g.rules.on_regression != OnRegression::wait) raise_regression(g, c);
            break;
        case ledger::Outcome::ceiling:
        case ledger::Outcome::issued:
            break;
    }
}

// A wait, which must be subtracted from the counters however it ends: also if the backend is terminated, because then
// no PG_FINALLY runs.
struct Waiting {
    ledger::Counters* counters;
    uint64 since;
    occurrence::Kind kind;
};

void stop_waiting(int, Datum arg) {
    const auto* w = reinterpret_cast<const Waiting*>(DatumGetPointer(arg));
    const uint64 now = ledger::monotonic_us();
    w->counters->wait_us.fetch_add(now - w->since, std::memory_order_relaxed);
    occurrence::note_waited(*w->counters, w->kind, w->since, now);
    w->counters->waiting.fetch_sub(1);
}

ledger::Claim wait_and_claim(Generator& g, ledger::Claim c, uint32 want, ClaimFunction claim, const Patience& patience,
                             occurrence::Kind kind) {
    while (c.outcome != ledger::Outcome::issued) {
        raise_unless_worth_waiting(g, c);
        occurrence::note_waiting(g, kind, ledger::monotonic_us());
        const int64 left = patience.left_us();
        if (left <= 0) raise_waited(g, c);
        if (c.outcome == ledger::Outcome::ceiling) {
            CHECK_FOR_INTERRUPTS();
            durability::raise_above(g, c.tick, patience);
        } else {
            nap(std::min(c.wait_us, left));
        }
        c = claim(g, want);
    }
    return c;
}

}  // namespace

ledger::Claim retry(Generator& g, ledger::Claim failed, uint32 want, ClaimFunction claim) {
    raise_unless_worth_waiting(g, failed);
    const Patience patience{ledger::monotonic_us() - g.set_up_us};
    g.set_up_us = 0;
    if (failed.outcome == ledger::Outcome::ceiling) {
        durability::raise_above(g, failed.tick, patience);
        failed = claim(g, want);
        if (failed.outcome == ledger::Outcome::issued) return failed;
        raise_unless_worth_waiting(g, failed);
    }

    ledger::Counters& counters = g.slot->counters;
    const uint64 start = ledger::monotonic_us();
    Waiting waiting{&counters, start, occurrence::note_wait(g, failed, start)};
    counters.waiting.fetch_add(1);

    ledger::Claim c = failed;
    PG_ENSURE_ERROR_CLEANUP(stop_waiting, PointerGetDatum(&waiting));
    { c = wait_and_claim(g, failed, want, claim, patience, waiting.kind); }
    PG_END_ENSURE_ERROR_CLEANUP(stop_waiting, PointerGetDatum(&waiting));
    stop_waiting(0, PointerGetDatum(&waiting));
    return c;
}

ledger::Claim draw_later(Generator& g, uint32 want, ClaimFunction claim) {
    const auto raise = [](ledger::Slot& slot, uint64 tick, bool toggle) { ledger::raise_slot(slot, tick, toggle); };
    for (;;) {
        CHECK_FOR_INTERRUPTS();
        // If the clock has gone back, only this brings the generator to the promise.
        const Result<uint64> first = g.timeline.ceil_tick(static_cast<int64>(shared_ledger().header->promise.load()));
        if (!first) raise_outside_format(g.name, g.timeline, ledger::Outcome::ended);
        if (first.value != 0) ledger::apply_floor(*g.slot, first.value - 1, g.rules.has_toggle, raise);
        ledger::Claim c = claim(g, want);
        if (c.outcome != ledger::Outcome::issued) c = retry(g, c, want, claim);
        if (unsettled::accepts(g.timeline.start_us(c.tick))) return c;
    }
}

}  // namespace snowflake_ids::generator
