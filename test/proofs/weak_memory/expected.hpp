// The weakest order of each site with which no scene fails. No scene sees a site that is not here; its reason is below.
#pragma once

#include <atomic>

namespace snowflake_ids::weak_memory {

struct Expected {
    const char* site;
    std::memory_order needs;
};

inline constexpr Expected expectations[] = {
    // Each side writes before it reads (settling.hpp, steps 2 and 6): at least one sees the other.
    {"lift_to: promise.swap", std::memory_order_seq_cst},
    {"admit: promise.load 2", std::memory_order_seq_cst},
    {"admit: low.store", std::memory_order_seq_cst},
    {"limit_by: low.load", std::memory_order_seq_cst},
    // Step 0, and the reader of a table.
    {"note_table: promise.load", std::memory_order_seq_cst},
    {"note_table: table_count.store", std::memory_order_seq_cst},
    {"note_table: every_table.store", std::memory_order_seq_cst},
    {"has_noted: table_count.load", std::memory_order_seq_cst},
    {"has_noted: every_table.load", std::memory_order_seq_cst},
    // Who sees the count sees in its place that a transaction was prepared (waiting.hpp, steps 1 and 3).
    {"count_up: count.add", std::memory_order_release},
    {"look: count.load", std::memory_order_acquire},
    // The floor, then the keys; the key, then the floor (life.hpp).
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
    // Who sees that `low` is none sees the ring.
    {"end_transaction: low.store", std::memory_order_release},
    // Who sees that a table no longer counts sees the ring.
    {"clear_tables: table_count.store", std::memory_order_release},
    {"clear_tables: every_table.store", std::memory_order_release},
    {"note_table: tables.store", std::memory_order_release},
    {"has_noted: tables.load", std::memory_order_acquire},
    {"limit_by: ended.load", std::memory_order_acquire},
    {"note_ended: ended.store", std::memory_order_release},
    {"limit_by: prepared.ended.load", std::memory_order_acquire},
    {"note_ended: prepared.ended.store", std::memory_order_release},
    // Who sees another database or `low` finds what was there before in the ring.
    {"limit_by: database.load", std::memory_order_acquire},
    {"draw: database.store", std::memory_order_release},
    {"limit_by: prepared.low.load", std::memory_order_acquire},
    {"note_prepared: prepared.low.store", std::memory_order_release},
    // Who sees an overwritten entry sees the old one in the place below.
    {"limit_by: ring.low.load", std::memory_order_acquire},
    {"put: ring.low.store", std::memory_order_release},
};

// `sites`: beginnings of names. The first that fits counts.
struct Reason {
    const char* sites;
    const char* why;
};

// Needed, but seen by no scene. In Relacy a seq_cst load answers with the last seq_cst store that ran, so no scene
// shows that it overtakes an earlier weak load. A reader that stands still while a whole ring is written is too rare.
inline constexpr Reason needed[] = {
    {"read: promise.load", "another reader may have lifted it: `low` must be loaded after that was seen"},
    {"read_table: promise.load", "another reader may have lifted it: `low` must be loaded after that was seen"},
    {"limit_by: prepared.database.load", "who sees another database must see in the ring what was there before"},
    {"note_prepared: prepared.database.store", "who sees another database must see in the ring what was there before"},
    {"note_prepared: prepared.tables.store",
     "who sees the tables of another transaction must see in the ring what was there before"},
    {"note_prepared: prepared.every_table.store",
     "who sees the tables of another transaction must see in the ring what was there before"},
    {"note_prepared: prepared.table_count.store",
     "who sees the tables of another transaction must see in the ring what was there before"},
    {"has_noted: prepared", "who sees the tables of another transaction must see in the ring what was there before"},
    {"limit_by: ring", "who sees an entry that is written over another one must see that one in the place below"},
    {"put: ring", "who sees an entry that is written over another one must see that one in the place below"},
    {"find_slot_from: slots_taken.add",
     "a reader looks for new slots only when it has changed, and must find them then"},
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
    {"lift_to: settled_ceiling", "the number vouches for what is on disk, not for other words"},
    {"lift_to: promise.load", "the promise is loaded again before anything is looked at"},
    {"life_of", "under the lock of the file, by a process that has seen the life begun"},
    {"read_for_life", "under the lock of the file"},
    {"set_entry", "under the lock of the file"},
    {"lift: ceiling", "under the lock of the file"},
    {"run_locked_reset: ceiling", "under the lock of the file; the revision releases it"},
    {"begin_locked_life", "the store of life_id releases it"},
    {"set_limit", "an old ceiling is only too careful, and the revision brings a lowered one along"},
    {"limit_by: xid.load", "of a process it is always 0"},
    {"limit_by: prepared.xid.load", "a transaction that has the place later has ended later"},
    {"note_ended: ring", "who sees that `low` is none sees the entry; who does not counts `low`"},
    {"note_prepared: low.load", "its own process has written it"},
    {"note_prepared: database.load", "its own process has written it"},
    {"note_prepared: prepared.xid.swap", "of all that want the place one gets it"},
    {"note_prepared: prepared.database.load", "over() takes the server's lock under which the transaction has ended"},
    {"note_prepared: prepared.xid.load", "over() takes the server's lock under which the transaction has ended"},
    {"note_prepared: prepared.low.load", "over() takes the server's lock under which the transaction has ended"},
    {"note_prepared: prepared.xid.store", "who sees that `low` is none sees the entry; who does not counts `low`"},
    {"draw: database.load", "its own process has written it, or one that was there before it"},
    {"draw: promise.load", "an old promise is refused once more"},
    {"look: prepared", "what it must see was stored before the count that was loaded"},
    {"thread: revision.add", "who must see the floor sees it by the word, or by the server's locks"},
    {"thread: ", "the scene's own look"},
    {"set_up: key.load", "the scene's own look"},
};

}  // namespace snowflake_ids::weak_memory
