// The operator's way out: a damaged ledger, a frozen Snowflake-SI layout, a generator that a
// clock jump has put far ahead. It takes an explicit floor, because whatever could be
// derived is just what is in doubt.
#pragma once

#include <cstdint>

#include "ledger/ceiling.hpp"
#include "ledger/file.hpp"
#include "ledger/formats.hpp"
#include "ledger/word.hpp"

namespace snowflake_ids::ledger {

struct Reset {
    std::uint64_t floor_ms = 0;    // nothing at or before this time is issued again
    std::uint64_t ceiling_ms = 0;  // durable ceiling of what is lowered: beyond the clock and the floor
    Kind kind = Kind::none;        // none: all generators
    int node = -1;                 // -1: all nodes
    bool force = false;            // may put a generator back below ids it has issued
    bool unfreeze = false;         // forget the Snowflake-SI layout
    bool sync = true;
};

// Back or forward: to the tick, used up, and nothing below it in either toggle. `safe` first:
// a plain store after the swap could undo what a regression in between has raised.
template <class S>
void put_slot(S& slot, std::uint64_t tick, bool toggled_format) {
    if (tick > max_tick(toggled_format)) tick = max_tick(toggled_format);
    slot.safe.store(tick);
    std::uint64_t word = slot.word.load();
    State state;
    do {
        state = unpack(word, 0, toggled_format);
        state.tick = tick;
        state.next = used_up;
    } while (!slot.word.compare_exchange_weak(word, pack(state, toggled_format)));
}

// The steps of a forced reset, once `file` is locked. `put_back(slot, ms)` puts the word back of one that is chosen, and
// says in `ms` where its ceiling in the file shall be; it has to go down too, or the next life would go back up to it.
//
// What sessions know of the ceilings goes down before the file does, so at no point, and after no failure, does a
// ceiling that somebody relies on exceed the one on disk: first the published ones, then the epoch, after which no
// draw begins with an older view, then the file.
template <class H, class File, class SlotAt, class PutBack>
CeilingResult force_locked(H& header, std::uint32_t count, SlotAt slot, PutBack put_back, const File& file, bool sync) {
    typename File::Ceilings ms;
    CeilingResult r = file.read(ms);
    if (r.error != CeilingError::none) return r;
    for (std::uint32_t i = 0; i < count; i++) {
        auto& s = slot(i);
        put_back(s, ms[i]);
        if (s.ceiling.load() > ms[i]) s.ceiling.store(ms[i]);
    }
    header.epoch.fetch_add(1);
    r = file.write_all(ms, sync);
    for (std::uint32_t i = 0; i < count && r.error == CeilingError::none; i++) raise_to(slot(i).ceiling, ms[i]);
    return r;
}

// The highest time in Unix ms that a chosen generator has issued or may have issued: the
// floor must not be below it unless forced.
std::uint64_t highest_issued_ms(const Ledger& ledger, const Reset& reset);

// No id that any generator has issued, or may issue as its ceiling is now, is of this time or later.
std::uint64_t highest_ceiling_ms(const Ledger& ledger);

// Applies it under the ceiling file's lock. Every backend sets its generators up again
// afterwards (Header::epoch), also when it failed half-way.
CeilingResult apply(const char* dir, unsigned mode, const Ledger& ledger, const Reset& reset);

// Makes a ledger file usable again, in place: other processes may have it mapped. Slots with
// a possible key are kept and raised to the floor, the others are freed; the constants are
// written anew; damaged words of the ceiling file become the floor. `sync`: as the server's fsync setting.
Attached repair(const char* dir, const char* name, unsigned mode, std::uint64_t system_identifier,
                std::uint64_t floor_ms, bool sync);

// The same where only the ceiling file is damaged. check_ceilings() tells.
CeilingResult check_ceilings(const char* dir, unsigned mode, const Ledger& ledger, bool sync);
CeilingResult repair_ceilings(const char* dir, unsigned mode, const Ledger& ledger, std::uint64_t floor_ms, bool sync);

}  // namespace snowflake_ids::ledger
