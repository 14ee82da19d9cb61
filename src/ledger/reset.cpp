// The steps of an operator's reset.
#include "ledger/reset.hpp"

#include <algorithm>

#include "ledger/claim.hpp"
#include "ledger/formats.hpp"
#include "ledger/life.hpp"
#include "ledger/word.hpp"

namespace snowflake_ids::ledger {

namespace {

bool chosen(const Reset& reset, const Slot& slot) {
    const Key key = Key::unpack(slot.key.load());
    return has_time(key.format) && (reset.kind == Kind::none || reset.kind == kind_of(slot)) &&
           (reset.node < 0 || reset.node == key.node);
}

// True if the reset names exactly one generator. Then only its slot is raised. Otherwise the floor of future slots is
// raised too, because a generator that has no slot yet may be meant.
bool names_one(const Reset& reset) {
    return reset.kind == Kind::mastic ||
           (reset.node >= 0 && (reset.kind == Kind::sno || reset.kind == Kind::snowflake_si));
}

}  // namespace

std::uint64_t highest_ceiling_ms(const Ledger& ledger) {
    std::uint64_t highest = 0;
    for (std::uint32_t i = 0; i < slot_count; i++) highest = std::max(highest, ledger.slots[i].ceiling.load());
    return highest;
}

std::uint64_t highest_issued_ms(const Ledger& ledger, const Reset& reset) {
    std::uint64_t highest = 0;
    for (std::uint32_t i = 0; i < slot_count; i++) {
        const Slot& slot = ledger.slots[i];
        if (!chosen(reset, slot)) continue;
        const bool toggled_format = has_toggle(format_of(slot));
        const State state = unpack(slot.word.load(), slot.safe.load(), toggled_format);
        const std::uint64_t tick = std::max(state.tick, state.safe);
        if (tick == 0) continue;
        // A floor in the tick's first millisecond uses up the whole tick. If the tick begins inside a millisecond,
        // this is rounded down. That repeats no id, because without force the slot does not move back.
        const Timeline timeline = timeline_of(slot);
        highest = std::max(highest, static_cast<std::uint64_t>(timeline.start_us(tick) / 1000));
    }
    return highest;
}

namespace {

CeilingResult apply_locked(const Ledger& ledger, const Reset& reset, const LockedCeilings& file) {
    Header& header = *ledger.header;
    const auto at = slot_at(ledger);
    const bool all = reset.kind == Kind::none && reset.node < 0;
    bool found = false;
    for (std::uint32_t i = 0; i < slot_count; i++) found = found || chosen(reset, at(i));
    const bool raises_floor = !(reset.force && all) && (!found || !names_one(reset));

    const auto change = [&](Ceilings& c) {
        if (raises_floor) {
            raise_to(header.reset_floor_ms, reset.floor_ms);
            raise_to(header.floor_ms, reset.floor_ms);
        } else if (reset.force && all) {
            // The floor first: a slot that is created during the reset must not begin above the old one.
            header.reset_floor_ms.store(reset.floor_ms);
            header.floor_ms.store(reset.floor_ms);
        }
        if (reset.force && c.settled_ms > reset.ceiling_ms) {
            c.settled_ms = reset.ceiling_ms;
            header.settled_ms.store(c.settled_ms);
        }
        c.floor_ms = header.reset_floor_ms.load();
    };
    const auto move = [&](Slot& slot, CeilingEntry& entry) {
        if (!chosen(reset, slot)) return;
        const bool toggled_format = has_toggle(format_of(slot));
        const std::uint64_t tick = tick_of(slot, reset.floor_ms);
        if (reset.force) {
            put_slot(slot, tick, toggled_format);
            slot.passed.store(0);
            set_entry(entry, slot, reset.ceiling_ms);
        } else {
            raise_slot(slot, tick, toggled_format);
            // The next life begins there.
            if (entry.ceiling_ms < reset.floor_ms) set_entry(entry, slot, reset.floor_ms);
        }
    };
    const CeilingResult r = force_locked(header, slot_count, at, file, change, move);
    // The promise is not kept by ids that are drawn from now on. It goes back after the generators: a reader raises it
    // up to their last ids.
    if (reset.force && header.promise.load() > reset.floor_ms * 1000) header.promise.store(reset.floor_ms * 1000);
    return r;
}

}  // namespace

CeilingResult apply(const CeilingPlace& place, const Ledger& ledger, const Reset& reset) {
    LockedCeilings file(place);
    CeilingResult r = file.open();
    if (r.error != CeilingError::none) return r;
    r = apply_locked(ledger, reset, file);
    ledger.header->epoch.fetch_add(1);
    return r;
}

namespace {

CeilingResult look_at_ceilings(const CeilingPlace& place, const Ledger& ledger, bool lock) {
    LockedCeilings file(place);
    CeilingResult r = file.open(lock);
    Ceilings c;
    if (r.error == CeilingError::none) r = file.read(c);
    if (r.error == CeilingError::none && has_begun(*ledger.header) && supersedes(c.life, life_of(*ledger.header)))
        r.error = CeilingError::superseded;
    return r;
}

}  // namespace

// The lock only if it is needed: those who raise ceilings would wait for it.
CeilingResult check_ceilings(const CeilingPlace& place, const Ledger& ledger) {
    const CeilingResult r = look_at_ceilings(place, ledger, false);
    return r.error == CeilingError::none ? r : look_at_ceilings(place, ledger, true);
}

}  // namespace snowflake_ids::ledger
