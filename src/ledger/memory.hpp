// The shared memory of the ledger as a process sees it: how it is made and checked, and how the slot of a generator is
// found in it.
#pragma once

#include <cstdint>
#include <type_traits>

#include "ledger/slot.hpp"

namespace snowflake_ids::ledger {

// Where the parts of the memory are in this process. A Ledger is true if it is not empty.
struct Ledger {
    Header* header = nullptr;
    Slot* slots = nullptr;
    Backend* backends = nullptr;  // of processes
    Backend* prepared = nullptr;  // of prepared transactions

    explicit operator bool() const { return header != nullptr; }
};

// The slots and the places of prepared transactions as functions of their index. The steps of the protocol take them in
// this form.
inline auto slot_at(const Ledger& ledger) {
    return [slots = ledger.slots](std::uint32_t i) -> Slot& { return slots[i]; };
}

inline auto prepared_at(const Ledger& ledger) {
    return [prepared = ledger.prepared](std::uint32_t i) -> Backend& { return prepared[i]; };
}

// Makes a ledger in memory_bytes(backend_count, prepared_count) bytes, which must be zeros. Its counters count from
// `now`.
Ledger make_ledger(void* memory, std::uint32_t backend_count, std::uint32_t prepared_count, UnixTime now);

// The ledger that another process has made in this memory of so many `bytes`. The result is empty if this library
// cannot use it, because another version of the library made it, or because the memory is smaller than the ledger's
// header says.
Ledger find_ledger(void* memory, std::size_t bytes);

// True if the slot is that of the generator with this key and numbering. `numbering` 0 means any numbering.
template <class S>
bool belongs_to(const S& slot, const Key& key, std::uint64_t numbering) {
    return Key::unpack(slot.key.load()).same_generator(key) && (numbering == 0 || slot.numbering.load() == numbering);
}

// The steps of find_slot(), from slot `i` of `count` on. They look at one slot after another. No slot becomes free
// during a life, so the first free slot would end the search. But a new life has only the slots that got into the
// ceiling file, so the generator's slot may lie behind a free one. Therefore all slots are looked at before a free one
// is taken. This is a template, like everything where the order matters, because the checkers run this very code.
template <class H, class SlotAt, class S = std::remove_reference_t<std::invoke_result_t<SlotAt, std::uint32_t>>>
S* find_slot_from(std::uint32_t i, H& header, std::uint32_t count, SlotAt slot, const Key& key, bool may_create,
                  std::uint64_t numbering) {
    for (std::uint32_t probes = 0; probes < count; probes++, i = (i + 1) % count) {
        S& s = slot(i);
        std::uint64_t seen = s.key.load();
        if (seen == 0) {
            for (std::uint32_t other = 0; other < count; other++) {
                if (belongs_to(slot(other), key, numbering)) return &slot(other);
            }
            if (!may_create) return nullptr;
            std::uint64_t n = 0;
            // Another creator may have set its numbering here. Then the slot cannot be taken for this one
            // (Slot::numbering).
            if (numbering != 0 && !s.numbering.compare_exchange_strong(n, numbering) && n != numbering) continue;
            if (s.key.compare_exchange_strong(seen, key.pack())) {
                header.slots_taken.fetch_add(1);
                return &s;
            }
        }
        if (belongs_to(s, key, numbering)) return &s;
    }
    return nullptr;
}

// The slot of a generator. If the generator has none yet, a free slot becomes its slot. Returns null if all slots are
// in use, or if the generator has none and `may_create` is false. `numbering` is what Slot::numbering says. For
// all other formats it is 0.
Slot* find_slot(const Ledger& ledger, const Key& key, bool may_create = true, std::uint64_t numbering = 0);

// True if any node has a slot with this numbering.
bool numbering_used(const Ledger& ledger, std::uint64_t numbering);

// How many slots explicit calls in the database `owner` have created (Key::owner). A call is explicit if it names a
// partition or a created layout.
std::uint32_t slots_owned(const Ledger& ledger, std::uint32_t owner);

// How many slots explicit calls in all databases have created.
std::uint32_t slots_owned(const Ledger& ledger);

}  // namespace snowflake_ids::ledger
