// Makes and checks the shared memory of the ledger, and finds the slot of a generator in it.
#include "ledger/shared_memory.hpp"

namespace snowflake_ids::ledger {

namespace {

Ledger ledger_in(void* memory) {
    auto* slots = reinterpret_cast<Slot*>(static_cast<char*>(memory) + header_bytes);
    return {static_cast<Header*>(memory), slots, reinterpret_cast<Group*>(slots + slot_count)};
}

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

Ledger make_ledger(void* memory, UnixTime now) {
    const Ledger ledger = ledger_in(memory);
    Header& h = *ledger.header;
    h.magic = magic;
    h.version = memory_version;
    h.slot_bytes = sizeof(Slot);
    h.slot_count = slot_count;
    h.group_count = group_count;
    h.bytes = memory_bytes;
    h.stats_since.store(now);
    return ledger;
}

Ledger find_ledger(void* memory, std::size_t bytes) {
    const Header& h = *static_cast<const Header*>(memory);
    const bool known = bytes >= memory_bytes && h.magic == magic && h.version == memory_version &&
                       h.slot_bytes == sizeof(Slot) && h.slot_count == slot_count && h.group_count == group_count &&
                       h.bytes == memory_bytes;
    return known ? ledger_in(memory) : Ledger{};
}

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
