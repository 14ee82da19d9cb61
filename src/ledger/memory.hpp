// The shared memory of the ledger as a process sees it: made, checked, and the slot of a generator found in it.
#pragma once

#include <cstdint>

#include "ledger/slot.hpp"

namespace snowflake_ids::ledger {

struct Ledger {
    Header* header = nullptr;
    Slot* slots = nullptr;
    Backend* backends = nullptr;
    Prepared* prepared = nullptr;

    explicit operator bool() const { return header != nullptr; }
};

// The slots and prepared transactions as the steps of the protocol take them: functions of the index.
inline auto slot_at(const Ledger& ledger) {
    return [slots = ledger.slots](std::uint32_t i) -> Slot& { return slots[i]; };
}

inline auto prepared_at(const Ledger& ledger) {
    return [prepared = ledger.prepared](std::uint32_t i) -> Prepared& { return prepared[i]; };
}

// Makes a ledger of memory_bytes(backend_count, prepared_count) bytes of zeros. `now_us`: Unix microseconds.
Ledger make_ledger(void* memory, std::uint32_t backend_count, std::uint32_t prepared_count, std::int64_t now_us);

// The ledger that another process has made. Empty if this library cannot use it: it was made by another version of the
// library, or is not as large as it says.
Ledger find_ledger(void* memory, std::size_t bytes);

// The slot of a generator. If it has none yet, a free slot becomes its slot; null: all slots are in use. With
// `may_create` false: null if it has none. `numbering`: for Format::snowflake; 0 for all others.
Slot* find_slot(const Ledger& ledger, const Key& key, bool may_create = true, std::uint64_t numbering = 0);

// True if any node has a slot with this numbering.
bool numbering_used(const Ledger& ledger, std::uint64_t numbering);

// How many slots explicit calls of a database have created.
std::uint32_t slots_owned(const Ledger& ledger, std::uint32_t owner);

// How many slots explicit calls of all databases have created.
std::uint32_t slots_owned(const Ledger& ledger);

}  // namespace snowflake_ids::ledger
