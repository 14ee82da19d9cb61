#include "pg/generator.hpp"

#include <algorithm>

extern "C" {
#include "access/xact.h"
#include "access/xlog.h"
}

#include "core/sno_snapshot.hpp"
#include "ledger/file.hpp"
#include "ledger/freeze.hpp"
#include "ledger/life.hpp"
#include "pg/durability.hpp"
#include "pg/shared_ledger.hpp"
#include "pg/wait.hpp"

namespace snowflake_ids::generator {

Generator own_sno, own_sno_at, own_mastic, own_snowflake_si;

namespace {

// Explicit slots that the calls of one database may create: all slots are there for all.
constexpr uint32 max_owned_slots = 64;

// Generators of explicit partitions, found again by the partition's low bits.
Generator explicit_sno[64];

Generator* all = nullptr;  // every generator that was ever set up in this backend

void at_end_of_transaction(XactEvent, void*) { count_up_all(); }

// A standby has no say in what its primary issues.
void refuse_in_recovery(const char* name) {
    if (!RecoveryInProgress()) return;
    ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE), errmsg("cannot generate %s ids during recovery", name),
                    errdetail("The primary server uses the same machine id."),
                    errhint("Generate the id on the primary, or use gen_gid().")));
}

// Points `g` at its slot. What it drew from another one is added there first.
void bind(Generator& g, const char* name, const ledger::Key& key) {
    refuse_in_recovery(name);
    const ledger::Ledger& shared = shared_ledger();
    durability::enter(shared);
    ledger::Slot* slot = ledger::find_slot(shared, key, false);
    if (slot == nullptr && key.owner != 0 && ledger::slots_owned(shared, key.owner) >= max_owned_slots) {
        ereport(ERROR, (errcode(ERRCODE_CONFIGURATION_LIMIT_EXCEEDED), errmsg("too many explicit sno partitions in this database"),
                        errdetail("Explicit calls may use %u partitions that no setting names.", max_owned_slots),
                        errhint("Use partitions that were used before, or set snowflake_ids.machine_id.")));
    }
    if (slot == nullptr) slot = ledger::find_slot(shared, key);
    if (slot == nullptr) {
        ereport(ERROR, (errcode(ERRCODE_CONFIGURATION_LIMIT_EXCEEDED), errmsg("all %u slots of the ledger are in use", ledger::slot_count),
                        errdetail("Each format and machine id that this server ever used keeps one.")));
    }
    if (g.name == nullptr) {
        if (all == nullptr) RegisterXactCallback(at_end_of_transaction, nullptr);
        g.next = all;
        all = &g;
    }
    ledger::apply_floor(shared, *slot);
    count_up(g);
    g.name = name;
    g.slot = slot;
    g.node = key.node;
    g.counted_tick = 0;
}

Rules rules(uint32 min, uint32 max, uint64 max_tick, bool has_toggle) {
    return {.min = min,
            .max = max,
            .max_tick = Min(max_tick, ledger::max_tick(has_toggle)),
            .has_toggle = has_toggle,
            .on_regression = static_cast<OnRegression>(settings::clock_regression)};
}

void bind_sno(Generator& g, const ledger::Key& key) {
    const Result<sno::Bounds> bounds = sno::check_bounds(static_cast<uint32>(settings::sno_sequence_min),
                                                         static_cast<uint32>(settings::sno_sequence_max));
    if (!bounds) {
        ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("sno sequence bounds are too close"),
                        errdetail("snowflake_ids.sno_sequence_min is %d and snowflake_ids.sno_sequence_max is %d.",
                                  settings::sno_sequence_min, settings::sno_sequence_max),
                        errhint("Leave at least %u numbers between and including them.", sno::min_pool)));
    }
    bind(g, "sno", key);
    g.timeline = sno::timeline;
    g.rules = rules(bounds.value.min, bounds.value.max, sno::timeline.max_tick(), true);
    durability::set_limit(g);
    g.generation = settings::generation;
}

void set_up_64_bit(Generator& g, const Layout& layout) {
    g.layout = layout;
    g.timeline = layout.timeline;
    g.rules = rules(0, layout.max_sequence(), layout.timeline.max_tick(), false);
    durability::set_limit(g);
    g.generation = settings::generation;
}

[[noreturn]] void raise_outside_format(const Generator& g, ledger::Outcome outcome) {
    const bool early = outcome == ledger::Outcome::before_epoch;
    ereport(ERROR, (errcode(ERRCODE_DATETIME_FIELD_OVERFLOW),
                    errmsg("cannot generate %s ids: the clock is %s", g.name,
                           early ? "before the first time that they can hold" : "past the last time that they can hold"),
                    errdetail("Their time starts at %s.", timestamptz_to_str(timestamptz(g.timeline.epoch_us))),
                    errhint("Check the server's clock.")));
    pg_unreachable();
}

[[noreturn]] void raise_overflow(const Generator& g) {
    ereport(ERROR, (errcode(ERRCODE_SEQUENCE_GENERATOR_LIMIT_EXCEEDED), errmsg("%s sequence overflow", g.name),
                    errdetail("All %u ids of this tick have been issued.", g.rules.max - g.rules.min + 1),
                    errhint("Try again, or set snowflake_ids.overflow to \"wait\".")));
    pg_unreachable();
}

[[noreturn]] void raise_regression(const Generator& g, const ledger::Claim& c) {
    ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                    errmsg("cannot generate %s ids: the clock is behind the last id", g.name),
                    errdetail("The last id has the time %s.",
                              timestamptz_to_str(timestamptz(g.timeline.start_us(c.tick)))),
                    errhint("Correct the clock, or set snowflake_ids.clock_regression to \"hold\".")));
    pg_unreachable();
}

[[noreturn]] void raise_waited(const Generator& g, const ledger::Claim& c) {
    ereport(ERROR, (errcode(ERRCODE_LOCK_NOT_AVAILABLE),
                    errmsg("gave up waiting for a %s id after %d ms", g.name, settings::max_wait_ms),
                    c.outcome == ledger::Outcome::regression
                        ? errdetail("The clock is behind the last id, which has the time %s.",
                                    timestamptz_to_str(timestamptz(g.timeline.start_us(c.tick))))
                        : errdetail("More ids are asked for than the %u that a tick of %lld ms has.",
                                    g.rules.max - g.rules.min + 1, static_cast<long long>(g.timeline.tick_us / 1000)),
                    errhint("The limit is set by snowflake_ids.max_wait.")));
    pg_unreachable();
}

// Raises whatever waiting cannot or must not cure.
void raise_unless_worth_waiting(const Generator& g, const ledger::Claim& c) {
    switch (c.outcome) {
        case ledger::Outcome::before_epoch:
        case ledger::Outcome::ended:
            raise_outside_format(g, c.outcome);
        case ledger::Outcome::overflow:
            if (settings::overflow == static_cast<int>(settings::Overflow::error)) raise_overflow(g);
            break;
        case ledger::Outcome::regression:
            if (g.rules.on_regression == OnRegression::error) raise_regression(g, c);
            break;
        case ledger::Outcome::ceiling:
        case ledger::Outcome::issued:
            break;
    }
}

ledger::Claim wait_and_claim(Generator& g, ledger::Claim c, uint32 want, ClaimFunction claim, uint64 start) {
    while (c.outcome != ledger::Outcome::issued) {
        raise_unless_worth_waiting(g, c);
        const int64 left = int64{settings::max_wait_ms} * 1000 - static_cast<int64>(ledger::monotonic_us() - start);
        if (left <= 0) raise_waited(g, c);
        if (c.outcome == ledger::Outcome::ceiling) {
            durability::raise_above(g, c.tick);
        } else {
            nap(std::min(c.wait_us, left));
        }
        c = claim(g, want);
    }
    return c;
}

}  // namespace

void set_up_sno(Generator& g, uint32 partition, bool explicit_partition) {
    bind_sno(g, {ledger::Format::sno, static_cast<uint16>(partition), explicit_partition ? MyDatabaseId : InvalidOid});
}

void set_up_sno_at(Generator& g) {
    bind_sno(g, {ledger::Format::sno_at, static_cast<uint16>(settings::machine_id), 0});
}

void set_up_mastic(Generator& g) {
    bind(g, "Mastic", {ledger::Format::mastic, 0, 0});
    set_up_64_bit(g, mastic::layout);
}

void set_up_snowflake_si(Generator& g) {
    const Layout layout = settings::snowflake_si_layout();
    if (static_cast<uint32>(settings::machine_id) > layout.max_node()) {
        ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("machine id %d does not fit a Snowflake-SI id", settings::machine_id),
                        errdetail("snowflake_ids.si_machine_bits is %u: machine ids run from 0 to %u.", layout.node_bits, layout.max_node()),
                        errhint("Choose a smaller snowflake_ids.machine_id, or a larger snowflake_ids.si_machine_bits before the first id.")));
    }
    refuse_in_recovery("Snowflake-SI");
    uint64 frozen;
    if (!ledger::freeze_layout(shared_ledger().header->si_layout, layout, frozen)) {
        ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE), errmsg("Snowflake-SI base clock or machine bits differ from those of the first id"),
                        errdetail("This server's ids use base clock %s and %u machine bits.",
                                  timestamptz_to_str(timestamptz(ledger::frozen_base_clock_us(frozen))),
                                  ledger::frozen_machine_bits(frozen)),
                        errhint("Set snowflake_ids.si_base_clock and snowflake_ids.si_machine_bits back to these values.")));
    }
    bind(g, "Snowflake-SI", {ledger::Format::snowflake_si, static_cast<uint16>(settings::machine_id), 0});
    set_up_64_bit(g, layout);
}

Generator& sno_of_partition(uint32 partition) {
    Generator& g = explicit_sno[partition % lengthof(explicit_sno)];
    if (g.generation != settings::generation || g.node != partition) {
        g.generation = 0;  // stays unusable if this fails
        set_up_sno(g, partition, true);
    }
    return g;
}

void count_up(Generator& g) {
    if (g.uncounted == 0) return;
    g.slot->counters.issued.fetch_add(g.uncounted, std::memory_order_relaxed);
    g.uncounted = 0;
}

void count_up_all() {
    for (Generator* g = all; g != nullptr; g = g->next) count_up(*g);
}

ledger::Claim retry(Generator& g, ledger::Claim failed, uint32 want, ClaimFunction claim) {
    raise_unless_worth_waiting(g, failed);
    if (failed.outcome == ledger::Outcome::ceiling) {
        durability::raise_above(g, failed.tick);
        failed = claim(g, want);
        if (failed.outcome == ledger::Outcome::issued) return failed;
        raise_unless_worth_waiting(g, failed);
    }

    ledger::Counters& counters = g.slot->counters;
    const uint64 start = ledger::monotonic_us();
    if (failed.outcome == ledger::Outcome::overflow) counters.overflow_waits.fetch_add(1, std::memory_order_relaxed);
    counters.waiting.fetch_add(1, std::memory_order_relaxed);

    ledger::Claim c = failed;
    PG_TRY();
    {
        c = wait_and_claim(g, failed, want, claim, start);
    }
    PG_FINALLY();
    {
        counters.waiting.fetch_sub(1, std::memory_order_relaxed);
        counters.wait_us.fetch_add(ledger::monotonic_us() - start, std::memory_order_relaxed);
    }
    PG_END_TRY();
    return c;
}

}  // namespace snowflake_ids::generator
