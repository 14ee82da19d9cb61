// Log lines about what may happen a thousand times a second, one when it begins and one with its figures when it is
// over; while it goes on a reminder a minute. What happens is in shared words, so of all backends one writes each line.
//
//   overflow   calls wait because the numbers of a tick are used up. Over when nobody waits, and none has for a second.
//   behind     the clock is behind the last id: ids go on ahead of it, or calls wait for it. Over when the clock has
//              caught up, and nobody has met it behind for a second.
//
// Nobody stays awake to see the end. The next draw of the generator finds it, or a look at the statistics: never the
// commit of a transaction, where an error would be a panic. The lines go to the server's log alone. A client that asks
// for messages of level LOG could not read each layout's name in its encoding.
//
// A lead that a new life of the server made (ledger/claim.hpp) is no occurrence: the clock is right.
#pragma once

#include "ledger/clock.hpp"
#include "ledger/slot.hpp"
#include "pg/draw/generator.hpp"
#include "pg/pg.hpp"

namespace snowflake_ids::occurrence {

enum class Kind : uint8 { none, overflow, behind };

// A generator, for the lines about it.
struct Subject {
    const char* name;
    uint32 node;
    Timeline timeline;
    bool has_toggle;
};

inline Subject subject_of(const Generator& g) { return {g.name, g.node, g.timeline, g.rules.has_toggle}; }

// A claim has failed and its caller is going to wait. Returns what that is part of, for the two below.
Kind note_wait(const Generator& g, const ledger::Claim& failed, uint64 now);

// It still waits.
void note_waiting(const Generator& g, Kind kind, uint64 now);

// It does so no longer, however that came.
void note_waited(ledger::Counters& c, Kind kind, uint64 since, uint64 now);

// A claim has toggled the tick-tock bit, which is an occurrence of its own, or issued ids while the clock is behind.
void note_regression(Generator& g, const ledger::Claim& c);

// For how many ticks the overflow that is under way has gone on; 0: none is.
uint64 overflow_ticks(const ledger::Counters& c, const Timeline& timeline);

// Logs the end of what no longer happens.
void end_what_is_over(const Generator& g);
void end_what_is_over(ledger::Slot& slot, const Subject& subject);

// Costs two loads while nothing goes on. `subject` is asked for only then.
template <class SubjectOf>
inline void end_what_is_over(ledger::Slot& slot, SubjectOf subject) {
    if (unlikely(slot.counters.anything_goes_on())) {
        const Subject s = subject();
        end_what_is_over(slot, s);
    }
}

}  // namespace snowflake_ids::occurrence
