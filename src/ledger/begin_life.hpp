// A life is the time that one piece of shared memory lasts: from a start of the server, or a crash of one of its
// processes, to the next. Its id is random, because start time and pid of the postmaster survive a crash of a process,
// and containers share a boot id. Its number is higher than that of every earlier life of the data directory
// (ceiling_file.hpp, "Fence").
//
// A life begins in these steps, under the lock of the ceiling file:
//   1. Read the file. Write it again with the number and the id of this life, and sync it: what is published must be
//      durable, and the last writer may have died before its sync.
//   2. Give every entry its slot, with its sequence used up at the ceiling, and `safe` at the same tick.
//   3. Lift the floor, for slots that are created later.
//   4. Store the id of the life. Until then no session generates ids.
// If the process ends before, the next does all steps again, as another life. A memory begins one life only: otherwise
// two servers on one data directory would take the file from each other in turn.
//
// The file may be that of another server (pg_rewind copies it) or a new one, and then does not know the ids generated
// here. So no slot begins below `at_least`, the clock plus 1.25 durable windows: a generator that was not far ahead of
// its clock had no higher ceiling. And a life's number is at least the Unix time in seconds, so even without the file
// it is the highest.
//
// So after a restart ids may be ahead of the clock (core/step.hpp, "Lead").
#pragma once

#include <cstdint>

#include "ledger/ceiling_file.hpp"
#include "ledger/floor.hpp"
#include "ledger/shared_memory.hpp"

namespace snowflake_ids::ledger {

// For the least number of a life.
constexpr std::uint64_t whole_seconds(UnixTime now) {
    return now > UnixTime{} ? static_cast<std::uint64_t>(number_of(std::chrono::floor<seconds>(now))) : 0;
}

// How far ahead of the clock the ids of a life may be: twice as far as its floor. The second half is for ceilings that
// a life lifts while its ids are ahead, if the next life begins at once.
constexpr microseconds allowed_lead(Floor at_least, UnixTime now) {
    const microseconds ahead = at_least - now;
    return ahead.count() > 0 ? 2 * ahead : microseconds{};
}

// Three ticks more, because the division rounds down, a floor at the slot's own tick may take the next (lift_slot()),
// and the first held tick (claim.hpp, "Hold") may begin at once.
constexpr std::uint64_t lead_ticks(microseconds lead, microseconds tick_length) {
    return static_cast<std::uint64_t>(lead / tick_length) + 3;
}

// Call it once `file` is locked. `resume(slot, floor)` lifts a slot, with its sequence used up. Errors: those of read()
// and write().
template <class H, class SlotAt, class Resume, class File>
CeilingResult begin_locked_life(H& header, std::uint32_t count, SlotAt slot, Resume resume, const File& file,
                                std::uint64_t id, Floor at_least, std::uint64_t least_number) {
    if (has_begun(header)) return {};
    typename File::Content c;
    CeilingResult r = file.read(c);
    if (r.error != CeilingError::none) return r;
    c.life = {std::max(c.life.number + 1, least_number), id};
    r = file.write(c);
    if (r.error != CeilingError::none) return r;

    for (std::uint32_t i = 0; i < count; i++) {
        const auto& entry = c.entries[i];
        if (entry.key == 0) continue;
        auto& s = slot(i);
        s.packed_layout.store(entry.packed_layout);
        s.key.store(entry.key);
        resume(s, std::max(entry.ceiling, at_least));
        s.ceiling.store(entry.ceiling);
    }
    header.reset_floor.store(c.floor);
    lift_to(header.floor, std::max(c.floor, at_least));
    header.life_number.store(c.life.number);
    header.life_id.store(id);
    return {};
}

}  // namespace snowflake_ids::ledger
