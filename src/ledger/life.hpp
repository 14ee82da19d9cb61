// Server lives. A life is the time that one postmaster runs; what it left in the mapped
// file is exact for as long as it runs, crashes of backends included. A new life trusts the
// mapped file for nothing but what moves it forward: after a power loss it may be older than
// the ids that were issued, and a boot id cannot tell (containers share it, snapshots and
// volume moves keep it).
//
// Beginning a life, under the ceiling file's lock: write the ceilings anew and sync them (their
// last writer may have been killed before his sync, and what is published must be durable),
// raise every slot to its durable ceiling
// with its sequence used up and `safe` at the same tick, raise the floor for slots yet to
// come, then write the life's key, last. All steps only move forward: killed in between, the
// next process does them again.
//
// So ids run ahead of the clock for at most the durable window after a restart.
#pragma once

#include <cstdint>

#include "ledger/ceiling.hpp"
#include "ledger/claim.hpp"
#include "ledger/file.hpp"
#include "ledger/word.hpp"

namespace snowflake_ids::ledger {

struct LifeKey {
    std::uint64_t started;      // postmaster start time, never 0
    std::uint64_t pid;          // of the postmaster
    std::uint64_t start_ticks;  // of that process, from the kernel; tells a reused pid

    bool operator==(const LifeKey&) const = default;
};

// The kernel's start ticks of a process; 0 if it has none to tell, as where there is no /proc. Returns an errno if it
// would tell at another time, for want of a descriptor say: what one process takes for 0 then is a different life.
int start_ticks_of(std::uint64_t pid, std::uint64_t& ticks);

bool is_current(const Ledger& ledger, const LifeKey& key);

// Begins the life `key` if it is not the current one. `life_id` is a fresh random number;
// `sync`: as the server's fsync setting.
CeilingResult begin_life(const char* dir, unsigned mode, const Ledger& ledger, const LifeKey& key,
                         std::uint64_t life_id, bool sync);

// Nothing at or before `tick` is issued by this slot any more, in either toggle. Only ever
// forward; returns the tick it now stands at.
template <class S>
std::uint64_t raise_slot(S& slot, std::uint64_t tick, bool has_toggle) {
    // The word holds no more: a generator that is there has ended.
    if (tick > max_tick(has_toggle)) tick = max_tick(has_toggle);
    for (;;) {
        std::uint64_t word = slot.word.load();
        const State state = unpack(word, slot.safe.load(), has_toggle);
        // Without a toggle a slot that is past the tick never comes back to it. With one the
        // word must change even then: a claim under way may have read the old `safe`.
        if (!has_toggle && state.tick > tick) return state.tick;
        constexpr Rules any{.max = 65535};
        State up = raise(state, tick, any);
        // There already, by a claim of 65535 or by another floor: used up by one more, and
        // where the word has no room for that, a tick higher.
        if (up.tick == state.tick && up.next <= state.next) {
            up.next = state.next + 1;
            if (up.next > next_mask) up = raise(state, state.tick + 1, any);
        }
        raise_to(slot.safe, up.safe);
        if (slot.word.compare_exchange_strong(word, pack(up, has_toggle))) return up.tick;
    }
}

// A life is current when its whole key is there; `started` is written last.
template <class H>
bool is_current(const H& header, const LifeKey& key) {
    const auto& k = header.life_key;
    return key == LifeKey{k[0].load(), k[1].load(), k[2].load()};
}

// The steps of a new life, once `file` is locked. `slot(i)` is the i-th of `count`; `resume`
// takes one to its time in Unix ms, sequence used up.
template <class H, class File, class SlotAt, class Resume>
CeilingResult begin_locked_life(H& header, std::uint32_t count, SlotAt slot, Resume resume, const File& file,
                                const LifeKey& key, std::uint64_t life_id, bool sync) {
    if (is_current(header, key)) return {};
    typename File::Ceilings ceilings;
    CeilingResult r = file.read(ceilings);
    if (r.error == CeilingError::none) r = file.write_all(ceilings, sync);
    if (r.error != CeilingError::none) return r;

    // From here on no life is current until the key is complete again.
    header.life_key[0].store(0);
    std::uint64_t highest = 0;
    for (std::uint32_t i = 0; i < count; i++) {
        auto& s = slot(i);
        const std::uint64_t published = s.ceiling.load();
        // The file is ahead of what was published, or it is an older copy: the higher one
        // bounds what may have been issued, the file's alone is durable.
        const std::uint64_t bound = published > ceilings[i] ? published : ceilings[i];
        // A ledger that was made anew, or that is older than a slot, does not know it, but its ceiling speaks of it.
        if (s.key.load() == 0 && bound > highest) highest = bound;
        resume(s, bound);
        s.ceiling.store(ceilings[i]);
    }
    raise_to(header.floor_ms, highest);

    header.life_id.store(life_id);
    header.lives.fetch_add(1);
    header.life_key[1].store(key.pid);
    header.life_key[2].store(key.start_ticks);
    header.life_key[0].store(key.started);
    return {};
}

// The same for a slot that may be far above already: for whoever found it.
template <class S>
void apply_floor(S& slot, std::uint64_t tick, bool has_toggle) {
    if (unpack(slot.word.load(), 0, has_toggle).tick <= tick) raise_slot(slot, tick, has_toggle);
}

// Nothing at or before `ms` is issued by any slot any more. A slot that is being made at
// the same time is raised by its maker: it reads the floor after taking the slot.
void raise_floor(const Ledger& ledger, std::uint64_t ms);

// For the maker of a slot, and for whoever found it: raises it above the floor.
void apply_floor(const Ledger& ledger, Slot& slot);

}  // namespace snowflake_ids::ledger
