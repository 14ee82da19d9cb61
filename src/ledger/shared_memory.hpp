// The shared memory as a process sees it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "ledger/slot.hpp"

namespace snowflake_ids::ledger {

struct Ledger {
    Header* header = nullptr;
    Slot* slots = nullptr;
    Group* groups = nullptr;

    explicit operator bool() const { return header != nullptr; }
};

inline auto slot_at(const Ledger& ledger) {
    return [slots = ledger.slots](std::uint32_t i) -> Slot& { return slots[i]; };
}

// The memory must be memory_bytes zeros.
Ledger make_ledger(void* memory, UnixTime now);

// Empty (false) if another version made this memory, or if it is smaller than its header says.
Ledger find_ledger(void* memory, std::size_t bytes);

}  // namespace snowflake_ids::ledger
