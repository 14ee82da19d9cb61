// Where the search for a slot begins, and what is counted.
#include "ledger/find_slot.hpp"

namespace snowflake_ids::ledger {

namespace {

template <class Meant>
std::uint32_t count_slots(const Ledger& ledger, Meant meant) {
    std::uint32_t n = 0;
    for (std::uint32_t i = 0; i < slot_count; i++) {
        const std::uint64_t key = ledger.slots[i].key.load();
        if (key != 0 && meant(Key::unpack(key), ledger.slots[i])) n++;
    }
    return n;
}

}  // namespace

Slot* find_slot(const Ledger& ledger, const Key& key, bool may_create, std::uint64_t packed_layout) {
    const std::uint64_t identity = Key{key.format, key.node, 0}.pack() ^ packed_layout;
    const std::uint64_t first = (identity * 0x9e3779b97f4a7c15 >> 54) % slot_count;
    return find_slot_from(static_cast<std::uint32_t>(first), slot_count, slot_at(ledger), key, may_create,
                          packed_layout);
}

bool layout_used(const Ledger& ledger, std::uint64_t packed_layout) {
    return count_slots(ledger, [&](const Key& key, const Slot& slot) {
               return key.format == Format::snowflake && slot.packed_layout.load() == packed_layout;
           }) != 0;
}

std::uint32_t slots_owned(const Ledger& ledger, std::uint32_t owner) {
    return count_slots(ledger,
                       [&](const Key& key, const Slot&) { return owner == 0 ? key.owner != 0 : key.owner == owner; });
}

}  // namespace snowflake_ids::ledger
