// What is expected of each site: the weakest order with which no scene fails. A site that is not here is seen by no scene,
// whatever its order; for most of those a reason is known.
#pragma once

#include <atomic>

namespace snowflake_ids::weak_memory {

struct Expected {
    const char* site;
    std::memory_order needs;
};

inline constexpr Expected expectations[] = {
    // Each side writes before it reads (settled.hpp, steps 2 and 6): at least one of them sees the other.
    {"raise_to: promise.swap", std::memory_order_seq_cst},
    {"accepts: promise.load", std::memory_order_seq_cst},
    {"lower_to: low.swap", std::memory_order_seq_cst},
    {"limit_by: low.load", std::memory_order_seq_cst},
    // Who sees the word sees `safe`, and who sees the end of another floor sees the word.
    {"claim_by_step: word.load", std::memory_order_acquire},
    {"claim_by_step: word.swap", std::memory_order_release},
    {"raise_to: safe.swap", std::memory_order_release},
    {"raise_slot: word.swap", std::memory_order_release},
    {"put_slot: word.swap", std::memory_order_release},
    {"begin_slot: lead.load 1", std::memory_order_acquire},
    {"begin_slot: lead.swap 2", std::memory_order_release},
    // Who sees the epoch sees the lowered ceilings; who sees the life sees its slots.
    {"set_up: epoch.load", std::memory_order_acquire},
    {"force_locked: epoch.add", std::memory_order_release},
    {"has_begun: life_id.load", std::memory_order_acquire},
    {"begin_locked_life: life_id.store", std::memory_order_release},
    // Who sees that `low` is none sees the ring; who sees an entry of the table sees that it was used again, and its `low`.
    {"end_transaction: low.store", std::memory_order_release},
    {"read: prepared_reused.load 1", std::memory_order_acquire},
    {"limit_by_prepared: prepared.xid.load", std::memory_order_acquire},
    {"limit_by_prepared: prepared.low.load", std::memory_order_acquire},
    {"note_prepared: prepared.xid.swap", std::memory_order_release},
    {"note_prepared: prepared.low.store", std::memory_order_release},
    {"note_prepared: prepared_reused.add", std::memory_order_release},
};

// Why a weaker order does not matter. `sites`: how the names of the sites begin.
struct Reason {
    const char* sites;
    const char* why;
};

inline constexpr Reason reasons[] = {
    {"claim: word", "an old word makes the swap fail, and the swap continues the release of the swaps before"},
    {"begin_held_tick", "of all that see the tick used up, one swaps `begun`; an old value makes that swap fail"},
    {"claim_by_step: safe.load", "what it must see was stored before the word that was loaded"},
    {"claim_by_step: lead.load", "it decides the policy only, and the word that is loaded next brings the lead along"},
    {"end_lead", "it decides the policy only"},
    {"raise_slot: word.load", "an old word makes the swap fail"},
    {"raise_slot: safe.load", "what it must see was stored before the word that was loaded"},
    {"apply_floor: word.load", "an old word is lower, so the slot is raised once more"},
    {"put_slot: word.load", "an old word makes the swap fail"},
    {"put_slot: safe.store", "the swap of the word releases it"},
    {"raise_to: ceiling", "the number vouches for what is on disk, not for other words"},
    {"raise_to: settled_ms", "the number vouches for what is on disk, not for other words"},
    {"raise_to: promise.load", "the promise is loaded again before anything is looked at"},
    {"read_for_life", "under the lock of the file"},
    {"set_entry", "under the lock of the file"},
    {"raise: ceiling", "under the lock of the file"},
    {"force_locked: ceiling", "under the lock of the file; the epoch releases it"},
    {"begin_locked_life", "the store of life_id releases it"},
    {"set_limit", "an old ceiling is only too careful, and the epoch brings a lowered one along"},
    {"note_prepared: low.load", "its own process has written it, or waits for the workers that did"},
    {"draw: database", "the swap of `low` releases it"},
    {"draw: promise.load", "an old promise is refused once more"},
};

}  // namespace snowflake_ids::weak_memory
