// Makes and checks the shared memory of the ledger.
#include "ledger/shared_memory.hpp"

namespace snowflake_ids::ledger {

namespace {

Ledger ledger_in(void* memory) {
    auto* slots = reinterpret_cast<Slot*>(static_cast<char*>(memory) + header_bytes);
    return {static_cast<Header*>(memory), slots, reinterpret_cast<Group*>(slots + slot_count)};
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

}  // namespace snowflake_ids::ledger
