// Checks whether a generator may generate ids, and gives it its slot, its rules and its limit.
#include "pg/generate/set_up.hpp"

extern "C" {
#include "access/parallel.h"
#include "access/xlog.h"
#include "common/pg_prng.h"
}

#include "core/sno.hpp"
#include "ledger/begin_life.hpp"
#include "ledger/clock.hpp"
#include "ledger/find_slot.hpp"
#include "ledger/packed_layout.hpp"
#include "pg/ceilings/issue_limit.hpp"
#include "pg/errors.hpp"
#include "pg/server/machine_id.hpp"
#include "pg/server/refused_settings.hpp"
#include "pg/server/shared_ledger.hpp"

namespace snowflake_ids::generator {

Generator own_sno, own_sno_at, own_mastic, own_snowflake_si;

namespace {

// ---- whether ids may be generated

void check_may_generate(const char* name) {
    // So a generator never has a limit from before a promotion.
    if (RecoveryInProgress()) {
        ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                        errmsg("cannot generate %s ids during recovery", name),
                        errdetail("The primary generates ids with the same numbers."),
                        errhint("Generate the id on the primary, or use gen_gid() or gen_uuid7().")));
    }
    // The ids of a parallel worker belong to its leader's transaction, whose COMMIT would not know that it must wait
    // for standbys (pg/ceilings/issue_limit.hpp).
    if (IsParallelWorker()) {
        ereport(ERROR, (errcode(ERRCODE_INVALID_TRANSACTION_STATE),
                        errmsg("cannot generate %s ids in a parallel worker", name),
                        errdetail("A function that is declared PARALLEL SAFE generates the id."),
                        errhint("Run ALTER FUNCTION ... PARALLEL RESTRICTED for that function.")));
    }
    refused_settings::fail_if_any();
}

uint64 packed_layout_of(const char* name, const Layout& layout) {
    const Result<uint64> packed_layout = ledger::pack_layout(layout);
    if (!packed_layout) {
        ereport(
            ERROR,
            (errcode(ERRCODE_FEATURE_NOT_SUPPORTED), errmsg("cannot generate %s ids", name),
             packed_layout.error == Error::bad_tick
                 ? errdetail(
                       "To generate ids, the tick must be at most one second, and 1 to 127 times a power of ten in microseconds.")
                 : errdetail("To generate ids, the epoch must be a whole millisecond from 1970 to 2248."),
             errhint("You can decode ids of this layout. Generate ids with another layout.")));
    }
    return packed_layout.value;
}

uint32 choose_node(const char* name, const Layout& layout) {
    const uint32 node = layout.node_bits == 0 ? 0 : machine_id::of_server(layout.node_bits);
    if (node > layout.max_node()) {
        ereport(ERROR,
                (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("machine id %u does not fit a %s id", node, name),
                 errdetail("The layout has %u node bits, so its machine ids are 0 to %u.", layout.node_bits,
                           layout.max_node()),
                 errhint("Set a smaller snowflake_ids.machine_id, or use a layout with more node bits.")));
    }
    machine_id::warn_if_shared(layout.node_bits > 0 ? nullptr : name);
    return node;
}

// ---- the slot

// How many slots explicit calls (which name a sno partition or a created layout) may create: in one database, and in
// all together. The rest is kept for generators that the settings give.
constexpr uint32 max_owned_slots = 64;
constexpr uint32 max_all_owned_slots = ledger::slot_count - 64;

// `packed_layout` (ledger/packed_layout.hpp) is 0 except for 64-bit layouts.
ledger::Slot& find_or_create_slot(const ledger::Ledger& shared, const ledger::Key& key, uint64 packed_layout) {
    if (ledger::Slot* slot = ledger::find_slot(shared, key, false, packed_layout)) return *slot;
    if (key.owner != 0 && ledger::slots_owned(shared, key.owner) >= max_owned_slots) {
        ereport(ERROR,
                (errcode(ERRCODE_CONFIGURATION_LIMIT_EXCEEDED), errmsg("too many explicit generators in this database"),
                 errdetail("Explicit sno partitions and created layouts of a database may have %u generators.",
                           max_owned_slots),
                 errhint("Use a partition or a layout with which ids were already generated.")));
    }
    if (key.owner != 0 && ledger::slots_owned(shared, 0) >= max_all_owned_slots) {
        ereport(
            ERROR,
            (errcode(ERRCODE_CONFIGURATION_LIMIT_EXCEEDED), errmsg("too many explicit generators on this server"),
             errdetail("Explicit sno partitions and created layouts of all databases may have %u generators together.",
                       max_all_owned_slots),
             errhint("Use a partition or a layout with which ids were already generated.")));
    }
    ledger::Slot* slot = ledger::find_slot(shared, key, true, packed_layout);
    if (slot == nullptr) {
        ereport(
            ERROR,
            (errcode(ERRCODE_CONFIGURATION_LIMIT_EXCEEDED), errmsg("this server has no room for another generator"),
             errdetail(
                 "The server keeps a generator for each format, layout and machine id that it has used, and it has room for %u.",
                 ledger::slot_count),
             errhint(
                 "Use a machine id and a format that were used before. To make room, stop the server, move the file snowflake_ids.ceiling away, start the server, and generate an id in each database before clients connect.")));
    }
    return *slot;
}

// Indexed by the lowest six bits of the partition. Of partitions with the same bits, only the last one used has a
// generator here.
Generator* explicit_sno[64];

Rules rules_of(uint32 min, uint32 max, const Timeline& timeline, bool has_toggle) {
    // The first tick that no ceiling can be above.
    const Result<uint64> beyond = timeline.ceil_tick(ledger::max_ceiling);
    const uint64 last = beyond ? beyond.value - 1 : timeline.max_tick();
    return {.min = min,
            .max = max,
            .max_tick = Min(last, ledger::max_tick(has_toggle)),
            .has_toggle = has_toggle,
            .on_regression = static_cast<OnRegression>(settings::clock_regression),
            .lead = ledger::lead_ticks(shared_ledger().header->lead.load(), timeline.tick_length)};
}

struct Wanted {
    const char* name;
    ledger::Key key;
    uint64 packed_layout;  // 0 except for 64-bit layouts
    Timeline timeline;
    uint32 min, max;
};

struct Host : issue_limit::Host {
    const Wanted& wanted;

    Host(const Deadline& deadline, const Wanted& wanted) : issue_limit::Host(deadline), wanted(wanted) {}
    static uint64 changes() { return settings::changes; }
    void find_slot(Generator& g) const {
        ledger::Slot& slot = find_or_create_slot(shared_ledger(), wanted.key, wanted.packed_layout);
        if (g.name == nullptr) add_to_all(g);
        // The former slot's counters get the ids issued there.
        end_lease(g);
        count_up(g);
        g.name = wanted.name;
        g.slot = &slot;
        g.node = wanted.key.node;
        g.counted_tick = 0;
        g.set_up_time = settings::max_wait() - deadline.left();
        g.timeline = wanted.timeline;
        g.rules = rules_of(wanted.min, wanted.max, wanted.timeline, has_toggle(slot));
    }
};

void set_up(Generator& g, const Wanted& wanted) {
    const Deadline deadline;
    header = shared_ledger().header;
    Host host(deadline, wanted);
    ledger::Draw d{.stage = ledger::Stage::starting};
    while (d.stage != ledger::Stage::drawing) ledger::run_set_up(host, g, d);
}

}  // namespace

void set_up_sno(Generator& g, ledger::Format format, int partition) {
    check_may_generate("sno");
    const bool explicitly = partition != own_partition;
    if (!explicitly) machine_id::warn_if_shared();
    const uint32 node = explicitly ? static_cast<uint32>(partition) : machine_id::of_server(machine_id::sno_bits);
    const Result<sno::Bounds> bounds = sno::check_bounds(static_cast<uint32>(settings::sno_sequence_min),
                                                         static_cast<uint32>(settings::sno_sequence_max));
    if (!bounds) {
        ereport(
            ERROR,
            (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("sno sequence bounds are too close"),
             errdetail("snowflake_ids.sno_sequence_min is %d and snowflake_ids.sno_sequence_max is %d.",
                       settings::sno_sequence_min, settings::sno_sequence_max),
             errhint(
                 "Change snowflake_ids.sno_sequence_min or snowflake_ids.sno_sequence_max, so that the range contains at least %u numbers.",
                 sno::least_numbers)));
    }
    set_up(g, {"sno",
               {format, static_cast<uint16>(node), explicitly ? MyDatabaseId : InvalidOid},
               0,
               sno::timeline,
               bounds.value.min,
               bounds.value.max});
    // The word of sno_at contains only the next number. If it began at the lowest one in each life, calls after a
    // restart would repeat ids of earlier calls with the same times. A word other than 0 has begun already.
    if (uint64 word = 0; format == ledger::Format::sno_at)
        g.slot->word.compare_exchange_strong(word, pg_prng_uint32(&pg_global_prng_state) & 0xffff);
}

void set_up_snowflake(Generator& g, const char* name, const Layout& layout, Oid owner) {
    check_may_generate(name);
    const uint64 packed_layout = packed_layout_of(name, layout);
    const uint32 node = choose_node(name, layout);
    // Check this before the generator gets a slot, because a layout with a slot cannot be dropped. So one with a wrong
    // epoch still can.
    const Result<uint64> now = layout.timeline.floor_tick(ledger::wall_clock());
    if (!now) fail_outside_format(name, layout.timeline, ledger::outside(now.error));
    // A slot's word has room for 65,536 numbers per tick.
    set_up(g, {name,
               {ledger::Format::snowflake, static_cast<uint16>(node), owner},
               packed_layout,
               layout.timeline,
               0,
               Min(layout.max_sequence(), 65535u)});
}

Generator& sno_of_partition(uint32 partition) {
    Generator& g = get_or_make(explicit_sno[partition % lengthof(explicit_sno)]);
    if (is_stale(g) || g.node != partition) {
        g.changes = 0;  // if this fails, the next call must set it up again
        set_up_sno(g, ledger::Format::sno, static_cast<int>(partition));
    }
    return g;
}

bool is_partition_in_use(uint32 partition) {
    return ledger::find_slot(shared_ledger(), {ledger::Format::sno, static_cast<uint16>(partition), MyDatabaseId},
                             false) != nullptr;
}

}  // namespace snowflake_ids::generator
