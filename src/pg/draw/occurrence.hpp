// Log lines about occurrences. An occurrence is an overflow, or a clock that is behind, from its first call until it
// is over. It may cover thousands of calls a second, so it is logged when it begins, once a minute while it lasts, and
// with its figures when it is over. Its state is in shared words, so of all backends one writes each line.
//
//   overflow   calls wait because the numbers of a tick are used up. Over when nobody has waited for a second.
//   behind     the clock is behind the last id: ids run ahead of it, or calls wait for it. Over when the clock has
//              caught up, and no call has found it behind for a second.
//
// No process watches for the end. The next draw of the generator notices it, or a call for the statistics, but never
// the commit of a transaction, where an error would be a panic. The lines go only to the server's log: a client that
// asks for messages of level LOG might not be able to read a layout's name in its encoding.
//
// A lead that a new server life made (ledger/claim.hpp) is no occurrence: the clock is right.
#pragma once

#include "ledger/clock.hpp"
#include "ledger/slot.hpp"
#include "pg/draw/generator.hpp"
#include "pg/pg.hpp"

namespace snowflake_ids::occurrence {

enum class Kind : uint8 { none, overflow, behind };

// What the log lines say about a generator.
struct Subject {
    const char* name;
    uint32 node;
    Timeline timeline;
    bool has_toggle;
};

inline Subject subject_of(const Generator& g) { return {g.name, g.node, g.timeline, g.rules.has_toggle}; }

// A claim has failed, and its caller is going to wait. Returns the kind of occurrence, for the next two functions.
Kind note_wait(const Generator& g, const ledger::Claim& failed, uint64 now);

// The caller still waits.
void note_waiting(const Generator& g, Kind kind, uint64 now);

// The wait has ended, with an id, an error or the backend's end.
void note_waited(ledger::Counters& c, Kind kind, uint64 since, uint64 now);

// Called after a claim that has toggled the tick-tock bit, or that has issued ids while the clock is behind. A toggle
// gets one log line of its own. Otherwise this is the occurrence "behind", unless the slot is ahead only by its lead.
void note_regression(Generator& g, const ledger::Claim& c);

// The number of ticks that the present overflow has lasted; 0 if there is none.
uint64 overflow_ticks(const ledger::Counters& c, const Timeline& timeline);

// Logs the end of occurrences that are over.
void end_what_is_over(const Generator& g);
void end_what_is_over(ledger::Slot& slot, const Subject& subject);

// Costs two loads while there is no occurrence. `subject` is called only if there is one.
template <class SubjectOf>
inline void end_what_is_over(ledger::Slot& slot, SubjectOf subject) {
    if (unlikely(slot.counters.anything_goes_on())) {
        const Subject s = subject();
        end_what_is_over(slot, s);
    }
}

}  // namespace snowflake_ids::occurrence
