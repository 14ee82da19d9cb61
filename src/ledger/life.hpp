// Server life: the time that one postmaster runs. (doc/design.md explains this and the other words.) During a life the
// mapped file is exact, even if backends crash. A new life trusts the mapped file only to move forward: after a power
// loss the file may be older than the ids that were issued. A boot id cannot tell, because containers share it, and
// snapshots and volume moves keep it.
//
// A life begins in these steps, under the lock of the ceiling file:
//   1. Rewrite the ceilings and sync them: what is published must be durable, and the last writer may have died before
//      its sync.
//   2. Raise every slot to its durable ceiling, with its sequence used up and `safe` at the same tick.
//   3. Raise the floor, for slots that are created later.
//   4. Write the key of the life.
// No step moves a slot back. If the process is killed, the next one does all steps again.
//
// The files may belong to another server (pg_rewind copies them), or be new ones after somebody removed the old.
// Nothing in them shows that, and they do not know the ids that were drawn here. So no slot begins below `at_least`:
// the clock plus 1.25 durable windows. A generator that was not far ahead of its clock had no ceiling above that.
//
// So after a restart ids may be ahead of the clock by 1.25 durable windows. The life made this lead, the clock did not
// go back. begin_slot() notes it for the claim.
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
    std::uint64_t start_ticks;  // of that process, from the kernel; differs if the pid is used again

    bool operator==(const LifeKey&) const = default;
};

// The kernel's start time of a process, in ticks; 0 if the kernel never tells, for example without /proc. Returns an
// errno if only this attempt failed, for example because no file descriptor was free. A 0 in that case would look like
// another life.
int start_ticks_of(std::uint64_t pid, std::uint64_t& ticks);

bool is_current(const Ledger& ledger, const LifeKey& key);

// Begins the life `key` if it is not the current one. `life_id` is a fresh random number;
// `at_least_ms`: see above; `sync`: as the server's fsync setting.
CeilingResult begin_life(const char* dir, unsigned mode, const Ledger& ledger, const LifeKey& key,
                         std::uint64_t life_id, std::uint64_t at_least_ms, bool sync);

// Nothing at or before `tick` is issued by this slot any more, in either toggle. The slot never moves back. Returns
// the tick where it now is.
template <class S>
std::uint64_t raise_slot(S& slot, std::uint64_t tick, bool has_toggle) {
    // The word has no room for a later tick: a generator that gets there has ended.
    if (tick > max_tick(has_toggle)) tick = max_tick(has_toggle);
    for (;;) {
        std::uint64_t word = slot.word.load();
        const State state = unpack(word, slot.safe.load(), has_toggle);
        // Without a toggle, a slot that is past the tick never comes back to it. With a toggle the word must change
        // even then: a claim may be running that has read the old `safe`.
        if (!has_toggle && state.tick > tick) return state.tick;
        constexpr Rules any{.max = 65535};
        State up = raise(state, tick, any);
        // The slot is used up at this tick already, by a claim of number 65535 or by another floor. The word must
        // change all the same: add one to `next`, or take the next tick if `next` has no room.
        if (up.tick == state.tick && up.next <= state.next) {
            up.next = state.next + 1;
            if (up.next > next_mask) up = raise(state, state.tick + 1, any);
        }
        raise_to(slot.safe, up.safe);
        if (slot.word.compare_exchange_strong(word, pack(up, has_toggle))) return up.tick;
    }
}

// The most that one floor of a life can put a slot ahead of where it was: 1.25 of the longest durable window.
inline constexpr std::int64_t longest_lead_us = std::int64_t{3600} * 1000000 * 5 / 4;

// Raises a slot to `tick`, its starting point, in one of three cases: a new life begins; this life uses a database for
// the first time, and the slot must be above its ceiling; the slot is new. `now`: the clock's tick. `most`:
// longest_lead_us in ticks.
//
// Also writes the slot's lead (claim.hpp), which is how far floors have put it ahead of the clock: the old lead plus
// this raise, but no more than its distance from the clock, with two ticks for rounding. If the clock went back before,
// that part is no lead; it stays a regression. One raise adds `most` at most: a new slot stood at tick 0.
template <class S>
void begin_slot(S& slot, std::uint64_t tick, bool has_toggle, std::uint64_t now, std::uint64_t most) {
    if (tick > max_tick(has_toggle)) tick = max_tick(has_toggle);
    const State was = unpack(slot.word.load(), slot.safe.load(), has_toggle);
    const std::uint64_t up = raise(was, tick, Rules{}).tick;
    std::uint64_t before = slot.lead.load();
    std::uint64_t ticks = 0;
    if (up > now) {
        const std::uint64_t had = was.tick > now ? detail::lead_ticks(before) : 0;
        const std::uint64_t gained = up - was.tick < most ? up - was.tick : most;
        // One tick for a floor at the same tick (raise_slot), and one for the first held tick, which may begin at
        // once.
        constexpr std::uint64_t rounding = 2;
        const std::uint64_t own = had + gained + (gained != 0 ? rounding : 0), ahead = up - now + rounding;
        ticks = own < ahead ? own : ahead;
    }
    if (ticks == 0 && (before & 0xffff'ffff'ffff'0001) == 0) {
        raise_slot(slot, tick, has_toggle);
        return;
    }
    // Write the lead before the word, or a claim would find the word ahead of the clock without a lead. Write it again
    // after the word, without the bit floor_under_way: from then on a claim may end it.
    while (!slot.lead.compare_exchange_strong(before, detail::pack_lead(ticks, before, true))) {}
    raise_slot(slot, tick, has_toggle);
    before = slot.lead.load();
    for (;;) {
        // Another floor may have been raised at the same time: keep the higher lead.
        const std::uint64_t theirs = detail::lead_ticks(before), higher = ticks > theirs ? ticks : theirs;
        if (slot.lead.compare_exchange_strong(before, detail::pack_lead(higher, before, false))) return;
    }
}

// A life is current when its whole key is there; `started` is written last.
template <class H>
bool is_current(const H& header, const LifeKey& key) {
    const auto& k = header.life_key;
    return key == LifeKey{k[0].load(), k[1].load(), k[2].load()};
}

// The steps of a new life, once `file` is locked. `slot(i)` is the i-th of `count`. `resume` raises a slot to a time
// in Unix ms, with its sequence used up.
template <class H, class File, class SlotAt, class Resume>
CeilingResult begin_locked_life(H& header, std::uint32_t count, SlotAt slot, Resume resume, const File& file,
                                const LifeKey& key, std::uint64_t life_id, std::uint64_t at_least, bool sync) {
    if (is_current(header, key)) return {};
    typename File::Ceilings ceilings;
    CeilingResult r = file.read(ceilings);
    if (r.error == CeilingError::none) r = file.write_all(ceilings, sync);
    if (r.error != CeilingError::none) return r;

    // From here on no life is current until the key is complete again.
    header.life_key[0].store(0);
    std::uint64_t highest = at_least;
    for (std::uint32_t i = 0; i < count; i++) {
        auto& s = slot(i);
        const std::uint64_t published = s.ceiling.load();
        // The two can differ: the file is ahead (a raise was cut off), or it is an older copy. Ids may exist up to the
        // higher of the two. Only the file's is durable, so that one becomes the slot's ceiling.
        const std::uint64_t bound = published > ceilings[i] ? published : ceilings[i];
        // The slot is free in this ledger, yet it has a ceiling: the ledger is new, or a copy from before the slot was
        // taken. Its next owner must begin above that ceiling, so the floor is raised to it after the loop.
        if (s.key.load() == 0 && bound > highest) highest = bound;
        resume(s, bound > at_least ? bound : at_least);
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

// Raises the slot unless it is above the floor already. `raise`: begin_slot() or raise_slot().
template <class S, class Raise>
void apply_floor(S& slot, std::uint64_t tick, bool has_toggle, Raise raise) {
    if (unpack(slot.word.load(), 0, has_toggle).tick <= tick) raise(slot, tick, has_toggle);
}

// Nothing at or before `ms` is issued by any slot any more. A slot that is created at the same time is raised by its
// creator, which reads the floor after it has taken the slot.
void raise_floor(const Ledger& ledger, std::uint64_t ms);

// Raises a slot above the floor. For the process that created it, and for each that finds it.
void apply_floor(const Ledger& ledger, Slot& slot);

}  // namespace snowflake_ids::ledger
