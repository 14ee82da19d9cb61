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
// The files may be another server's (pg_rewind brings those of its source), or made a moment
// ago in place of ones that were removed. They do not tell, and then know nothing of ids that
// were drawn here. So no slot begins below `at_least`, where the clock is now and 1.25 durable
// windows: no generator that was not far ahead of its clock has had a ceiling beyond that.
//
// So ids run ahead of the clock for 1.25 durable windows after a restart. That lead is the life's
// own doing and no regression of the clock: begin_slot() notes it for the claim.
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
// `at_least_ms`: see above; `sync`: as the server's fsync setting.
CeilingResult begin_life(const char* dir, unsigned mode, const Ledger& ledger, const LifeKey& key,
                         std::uint64_t life_id, std::uint64_t at_least_ms, bool sync);

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

// The most that one floor of a life can put a slot ahead of where it was: 1.25 of the longest durable window.
inline constexpr std::int64_t longest_lead_us = std::int64_t{3600} * 1000000 * 5 / 4;

// Raises a slot to the tick where it begins: in a new life, above the ceiling of a database that enters one, or because
// it is new. How far that puts it ahead of the clock, whose tick is `now`, is its lead (claim.hpp). A slot that was
// ahead of the clock before keeps the lead that it had, and no more: what its clock had gone back by stays a regression.
// `most`: longest_lead_us in ticks, for a slot that does not know where it was.
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
        // One tick for a floor that was there already (raise_slot), one for the first held tick, which may begin at once.
        constexpr std::uint64_t rounding = 2;
        const std::uint64_t own = had + gained + (gained != 0 ? rounding : 0), ahead = up - now + rounding;
        ticks = own < ahead ? own : ahead;
    }
    if (ticks == 0 && (before & 0xffff'ffff'ffff'0001) == 0) {
        raise_slot(slot, tick, has_toggle);
        return;
    }
    // Before the word, or a claim would find it ahead of the clock without a lead; and after it, when a claim may end it.
    while (!slot.lead.compare_exchange_strong(before, detail::pack_lead(ticks, before, true))) {}
    raise_slot(slot, tick, has_toggle);
    before = slot.lead.load();
    for (;;) {
        // Of another floor that was raised at the same time, if that is higher.
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

// The steps of a new life, once `file` is locked. `slot(i)` is the i-th of `count`; `resume`
// takes one to its time in Unix ms, sequence used up.
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
        // The file is ahead of what was published, or it is an older copy: the higher one
        // bounds what may have been issued, the file's alone is durable.
        const std::uint64_t bound = published > ceilings[i] ? published : ceilings[i];
        // A ledger that was made anew, or that is older than a slot, does not know it, but its ceiling speaks of it.
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

// For a slot that may be far above the floor already. `raise`: begin_slot() or raise_slot().
template <class S, class Raise>
void apply_floor(S& slot, std::uint64_t tick, bool has_toggle, Raise raise) {
    if (unpack(slot.word.load(), 0, has_toggle).tick <= tick) raise(slot, tick, has_toggle);
}

// Nothing at or before `ms` is issued by any slot any more. A slot that is being made at
// the same time is raised by its maker: it reads the floor after taking the slot.
void raise_floor(const Ledger& ledger, std::uint64_t ms);

// For the maker of a slot, and for whoever found it: raises it above the floor.
void apply_floor(const Ledger& ledger, Slot& slot);

}  // namespace snowflake_ids::ledger
