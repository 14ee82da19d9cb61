// Finds the slot of a generator in the shared memory, and counts slots.
#pragma once

#include <cstdint>
#include <type_traits>

#include "ledger/shared_memory.hpp"

namespace snowflake_ids::ledger {

// `packed_layout` 0 means any.
template <class S>
bool belongs_to(const S& slot, const Key& key, std::uint64_t packed_layout) {
    return Key::unpack(slot.key.load()).same_generator(key) &&
           (packed_layout == 0 || slot.packed_layout.load() == packed_layout);
}

// A new life has only the slots of the ceiling file, so the generator's slot may lie behind a free one, and all are
// looked at before a free one is taken.
template <class SlotAt, class S = std::remove_reference_t<std::invoke_result_t<SlotAt, std::uint32_t>>>
S* find_slot_from(std::uint32_t i, std::uint32_t count, SlotAt slot, const Key& key, bool may_create,
                  std::uint64_t packed_layout) {
    for (std::uint32_t probes = 0; probes < count; probes++, i = (i + 1) % count) {
        S& s = slot(i);
        std::uint64_t seen = s.key.load();
        if (seen == 0) {
            for (std::uint32_t other = 0; other < count; other++) {
                if (belongs_to(slot(other), key, packed_layout)) return &slot(other);
            }
            if (!may_create) return nullptr;
            std::uint64_t n = 0;
            // Another creator has set its layout here (Slot::packed_layout).
            if (packed_layout != 0 && !s.packed_layout.compare_exchange_strong(n, packed_layout) && n != packed_layout)
                continue;
            if (s.key.compare_exchange_strong(seen, key.pack())) return &s;
        }
        if (belongs_to(s, key, packed_layout)) return &s;
    }
    return nullptr;
}

// Null if all slots are in use, or if the generator has none and `may_create` is false.
Slot* find_slot(const Ledger& ledger, const Key& key, bool may_create = true, std::uint64_t packed_layout = 0);

// True if any node has a generator of the layout.
bool layout_used(const Ledger& ledger, std::uint64_t packed_layout);

// How many slots have this Key::owner; 0: any database.
std::uint32_t slots_owned(const Ledger& ledger, std::uint32_t owner);

}  // namespace snowflake_ids::ledger
