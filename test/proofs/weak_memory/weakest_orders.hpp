// The weakest order of each site with which no scene fails. No scene sees a site that is not here; its reason is below.
#pragma once

#include <atomic>

namespace snowflake_ids::weak_memory {

struct Expected {
    const char* site;
    std::memory_order needs;
};

inline constexpr Expected expectations[] = {
    // The floor, then the keys; the key, then the floor (begin_life.hpp).
    {"lift_to: floor.swap", std::memory_order_seq_cst},
    {"format_of: key.load", std::memory_order_seq_cst},
    {"find_slot_from: key.swap", std::memory_order_seq_cst},
    {"apply_floor: floor.load", std::memory_order_seq_cst},
    // Who sees the word sees `safe`.
    {"claim_by_step: word.load", std::memory_order_acquire},
    {"claim_by_step: word.swap", std::memory_order_release},
    {"lift_slot: word.swap", std::memory_order_release},
    {"put_slot: word.swap", std::memory_order_release},
    // Who sees the revision sees the lowered ceilings; who sees the life sees its slots.
    {"set_up: revision.load", std::memory_order_acquire},
    {"run_locked_reset: revision.add", std::memory_order_release},
    {"has_begun: life_id.load", std::memory_order_acquire},
    {"begin_locked_life: life_id.store", std::memory_order_release},
};

// `sites`: beginnings of names. The first that fits counts.
struct Reason {
    const char* sites;
    const char* why;
};

// Why a weaker order does not matter.
inline constexpr Reason reasons[] = {
    {"claim: word", "an old word makes the swap fail, and the swap continues the release of the swaps before"},
    {"begin_held_tick: word", "an old word costs a wait of one more tick"},
    {"begin_held_tick", "of all that see the tick used up, one swaps `begun`; an old value makes that swap fail"},
    {"claim_by_step: safe.load", "what it must see was stored before the word that was loaded"},
    {"lift_to: safe.load",
     "an old value is lower, so the swap is tried and fails; only a forced reset makes it higher"},
    {"lift_to: safe.swap", "who sees the word sees of `safe` what the process that swapped it has seen"},
    {"lift_slot: word.load", "an old word makes the swap fail"},
    {"lift_slot: safe.load", "it is only lifted, so an old value does not lower it"},
    {"lift_unless_past: word.load", "an old word is lower, so the slot is lifted once more"},
    {"begin_slot: word.load", "an old word is lower: then `begun` is written although the slot was there already"},
    {"begin_slot: begun.store", "an old value costs a wait of one tick"},
    {"put_slot: word.load", "an old word makes the swap fail"},
    {"put_slot: safe.store", "the swap of the word releases it"},
    {"find_slot_from: key.load", "belongs_to() loads it again"},
    {"find_slot_from: packed_layout.swap", "the swap of the key releases it"},
    {"belongs_to",
     "the load before it, or the swap that has failed, has acquired the key; slots behind a free one are old"},
    {"lift_to: floor.load", "an old floor makes the swap fail; one that is high enough is seen in this database"},
    {"lift_to: ceiling", "the number vouches for what is on disk, not for other words"},
    {"life_of", "under the lock of the file, by a process that has seen the life begun"},
    {"read_for_life", "under the lock of the file"},
    {"set_entry", "under the lock of the file"},
    {"lift: ceiling", "under the lock of the file"},
    {"run_locked_reset: ceiling", "under the lock of the file; the revision releases it"},
    {"begin_locked_life", "the store of life_id releases it"},
    {"set_limit", "an old ceiling is only too careful, and the revision brings a lowered one along"},
    {"count_and_wake: count.add", "what it must follow was stored before the server's lock was released"},
    {"look: count.load", "the list has a lock, and so has what the server shows after it"},
    {"thread: revision.add", "who must see the floor sees it by the word, or by the server's locks"},
    {"thread: ", "the scene's own look"},
    {"set_up: key.load", "the scene's own look"},
};

}  // namespace snowflake_ids::weak_memory
