// Several servers: what distinguishes this one from others, and whether an id may be one of its own.
#include "pg/pg.hpp"

extern "C" {
#include "access/xlog.h"
}

#include "ledger/formats.hpp"
#include "pg/datum.hpp"
#include "pg/draw/durability.hpp"
#include "pg/server/ceiling_file.hpp"
#include "pg/server/machine_id.hpp"
#include "pg/server/not_accepted.hpp"
#include "pg/server/settings.hpp"

namespace snowflake_ids {

namespace {

// An id, split into the values that the ledger uses.
struct Drawn {
    ledger::Key key;
    unsigned node_bits;
    Timeline timeline;
    uint64 tick;
    uint32 toggle;
    uint32 sequence;
};

// standby_machine_id does not count here: ids below the floor were drawn by primaries.
uint32 primary_node(unsigned node_bits) {
    not_accepted::check(not_accepted::bit(not_accepted::machine_id));
    return node_bits == 0 ? 0 : machine_id::of_primary(node_bits);
}

// False: no generator of this server has drawn the id. True means only "maybe": the ledger keeps how far a generator
// has come, not which ids it issued, and it passes ids that it does not know. `slot`: of the id's generator, null if
// that has none.
bool may_be_mine(const ledger::Ledger& shared, const Drawn& id, const ledger::Slot* slot) {
    // Entering the database puts the ledger above ids that only its ceiling knows of.
    (void) durability::enter(RecoveryInProgress(), Patience{});
    const bool has_toggle = ledger::has_toggle(id.key.format);
    // At or below the floor there may be ids of an earlier ledger, or of a primary whose standby this server was.
    if (slot != nullptr || id.key.node == primary_node(id.node_bits)) {
        const int64 floor_us = static_cast<int64>(shared.header->floor_ms.load()) * 1000;
        if (floor_us > 0 && id.tick <= ledger::clamped_tick(id.timeline, floor_us)) return true;
    }
    if (slot == nullptr) return false;
    // Load `safe` after the word, because a regression raises `safe` first.
    const uint64 word = slot->word.load();
    const State state = ledger::unpack(word, slot->safe.load(), has_toggle);
    if (id.tick <= state.safe) return true;
    if (id.tick > state.tick || (has_toggle && id.toggle != state.toggle())) return false;
    return id.tick < state.tick || id.sequence < state.next;
}

// An id of a 64-bit layout. `slot`: only this generator is asked; null: the one that the id names.
bool may_be_mine(const ledger::Ledger& shared, const Layout& layout, uint64 numbering, uint64 id,
                 const ledger::Slot* slot) {
    const Result<Layout::Fields> fields = layout.split(id);
    if (!fields) return false;
    const ledger::Key key{ledger::Format::snowflake, static_cast<uint16>(fields.value.node), InvalidOid};
    if (slot == nullptr)
        slot = ledger::find_slot(shared, key, false, numbering);
    else if (!ledger::Key::unpack(slot->key.load()).same_generator(key))
        return false;
    return may_be_mine(shared, {key, layout.node_bits, layout.timeline, fields.value.tick, 0, fields.value.sequence},
                       slot);
}

}  // namespace

FUNCTION(snowflake_ids_sno_may_be_mine) {
    const sno::Fields id = sno::split(id_argument<sno::Id>(fcinfo, 0));
    const auto partition = static_cast<uint16>(id.partition);
    const ledger::Ledger& shared = ceiling_file::ledger_in_life();
    // gen_sno_at() issues ids of any time.
    if (id.ticktock == 0 &&
        ledger::find_slot(shared, {ledger::Format::sno_at, partition, InvalidOid}, false) != nullptr)
        PG_RETURN_BOOL(true);
    const ledger::Key key{ledger::Format::sno, partition, InvalidOid};
    PG_RETURN_BOOL(may_be_mine(shared, {key, machine_id::sno_bits, sno::timeline, id.units, id.ticktock, id.sequence},
                               ledger::find_slot(shared, key, false)));
}

FUNCTION(snowflake_ids_mastic_may_be_mine) {
    const auto id = static_cast<uint64>(PG_GETARG_INT64(0));
    PG_RETURN_BOOL(may_be_mine(ceiling_file::ledger_in_life(), mastic::layout, ledger::mastic_numbering, id, nullptr));
}

FUNCTION(snowflake_ids_snowflake_si_may_be_mine) {
    const auto id = static_cast<uint64>(PG_GETARG_INT64(0));
    const ledger::Ledger& shared = ceiling_file::ledger_in_life();
    // The layout of the first id counts, not the present settings.
    const uint64 frozen = shared.header->si_layout.load();
    const Result<Layout> in_force =
        frozen != 0 ? ledger::snowflake_si_layout(frozen) : Result<Layout>(settings::snowflake_si_layout());
    const Result<uint64> numbering = in_force ? ledger::pack_numbering(in_force.value) : in_force.error;
    if (numbering && may_be_mine(shared, in_force.value, numbering.value, id, nullptr)) PG_RETURN_BOOL(true);
    // An id does not say by which layout it was drawn. After a change of the layout, the slots of the old one still
    // exist.
    for (uint32 i = 0; i < ledger::slot_count; i++) {
        const ledger::Slot& slot = shared.slots[i];
        if (ledger::format_of(slot) != ledger::Format::snowflake) continue;
        const uint64 own = slot.numbering.load();
        const Result<Layout> layout = ledger::snowflake_si_layout(own);
        if (layout && may_be_mine(shared, layout.value, own, id, &slot)) PG_RETURN_BOOL(true);
    }
    PG_RETURN_BOOL(false);
}

namespace {

// -1: none.
int32 node_now(unsigned node_bits) {
    return RecoveryInProgress() ? settings::standby_machine_id : static_cast<int32>(machine_id::of_primary(node_bits));
}

}  // namespace

// snowflake_ids_issuer(): the numbers under which this server issues ids now. machine_id is -1 in recovery without
// standby_machine_id.
FUNCTION(snowflake_ids_issuer) {
    not_accepted::check(not_accepted::any);
    const Layout si = settings::snowflake_si_layout();
    Datum values[] = {
        Int64GetDatum(static_cast<int64>(GetSystemIdentifier())),
        Int32GetDatum(node_now(machine_id::sno_bits)),
        Int32GetDatum(node_now(0)),
        Int32GetDatum(settings::sno_sequence_min),
        Int32GetDatum(settings::sno_sequence_max),
        TimestampTzGetDatum(timestamptz(si.timeline.epoch_us)),
        Int32GetDatum(static_cast<int32>(si.node_bits)),
    };
    PG_RETURN_DATUM(record(fcinfo, values, lengthof(values)));
}

}  // namespace snowflake_ids
