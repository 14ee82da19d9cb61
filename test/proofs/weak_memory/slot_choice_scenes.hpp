// The choice of a slot, and floors during it.
#pragma once

#include "memory.hpp"

namespace snowflake_ids::weak_memory {

// Two generators of one layout each and one without choose slots. Earlier slots may be free in a life that begins
// with a file, and one of a killed process has a layout only.
struct SlotChosen : rl::test_suite<SlotChosen, 3> {
    static constexpr const char* name = "choice of a slot";
    static constexpr unsigned slots = 5, generators = 3;
    Header header;
    Slot slot[slots];
    Slot* of[generators] = {};
    unsigned first[generators];

    static ledger::Key key(unsigned g) {
        return {g == 0 ? ledger::Format::sno : ledger::Format::snowflake, 7, pick(2)};
    }
    void before() {
        for (unsigned& f : first) f = pick(2);
        const unsigned i = 1 + pick(2), g = pick(generators);
        switch (pick(3)) {
            case 0:
                slot[i].packed_layout.begin("packed_layout", g);
                slot[i].key.begin("key", key(g).pack());
                of[g] = &slot[i];
                break;
            case 1:
                slot[0].packed_layout.begin("packed_layout", g);
                break;
            default:
                break;
        }
    }
    void thread(unsigned) {
        for (unsigned n = 0; n < 2; n++) {
            const unsigned g = pick(generators);
            const auto at = [this](std::uint32_t i) -> Slot& { return slot[i]; };
            Slot* found = ledger::find_slot_from(first[g], slots, at, key(g), true, g);
            require(found != nullptr, "no slot although there is room");
            require(ledger::Key::unpack(found->key.last()).same_generator(key(g)) &&
                        (g == 0 || found->packed_layout.last() == g),
                    "the slot of another generator");
            require(of[g] == nullptr || of[g] == found, "two slots for a generator");
            of[g] = found;
        }
    }
};

struct NewSlotAndFloor : rl::test_suite<NewSlotAndFloor, 3> {
    static constexpr const char* name = "new slot and floor";
    static constexpr unsigned slots = 2;
    static constexpr Rules rules{.max = 1, .max_tick = 7};
    Header header;
    Slot slot[slots];
    Ids ids;

    // As SlotFormats::has_time().
    static bool has_generator(Slot& s) { return ledger::has_time(ledger::format_of(s)); }
    void thread(unsigned i) {
        const auto at = [this](std::uint32_t n) -> Slot& { return slot[n]; };
        const auto lift = [](Slot& s, Floor floor) { ledger::begin_slot(s, tick_at(floor), false); };
        if (i == 0) {
            ledger::lift_floor(header, slots, at, ceiling_at(3), [&](Slot& s, Floor floor) {
                if (has_generator(s)) lift(s, floor);
            });
            ids.cover(3);
            return;
        }
        const ledger::Key key{ledger::Format::snowflake, 7, 0};
        Slot& s = *ledger::find_slot_from(0, slots, at, key, true, 5);
        require(&s == &slot[0], "two slots for a generator");
        ledger::apply_floor(header, s, [&](Slot& found, Floor floor) {
            ledger::lift_unless_past(found, tick_at(floor), false,
                                     [&](Slot& low, Value tick, bool) { lift(low, ceiling_at(tick)); });
        });
        Clock clock{1, 4};
        for (unsigned n = 0; n < 2; n++) ids.issue(claim(s, clock, 1, rules), rules);
    }
};

}  // namespace snowflake_ids::weak_memory
