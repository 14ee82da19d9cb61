// Which backend writes which log line about waits and a clock that is behind, and when.
#include "pg/draw/occurrence.hpp"

#include "ledger/word.hpp"
#include "pg/datum.hpp"
#include "pg/errors.hpp"

namespace snowflake_ids::occurrence {

namespace {

constexpr uint64 pause_us = 1000000;
constexpr uint64 reminder_us = 60000000;
constexpr std::memory_order relaxed = std::memory_order_relaxed;

uint64 waiting(const ledger::Counters& c) { return c.waiting.load(relaxed); }

// A word that says when an occurrence began: monotonic microseconds, and in the low bits how many minutes have had a
// reminder.
constexpr unsigned minute_bits = 16;
constexpr uint64 last_minute = (uint64{1} << minute_bits) - 1;
constexpr uint64 began_us(uint64 word) { return word >> minute_bits; }

enum class Line : uint8 { none, begin, reminder };

// The time between `seen` and `now`. `seen` may be later, if another backend has stored it since we read the clock.
constexpr uint64 apart_us(uint64 seen, uint64 now) { return seen > now ? seen - now : now - seen; }

// Marks that the occurrence happens now. Returns which log line this backend must write.
Line mark_occurrence(ledger::Word& began, ledger::Occurrence& o, uint64 now) {
    // Store `seen` before `began`, or the occurrence would look as if it had ended long ago.
    if (apart_us(o.seen.load(relaxed), now) > 1000) o.seen.store(now, relaxed);
    uint64 word = began.load(relaxed);
    if (word == 0 && began.compare_exchange_strong(word, now << minute_bits)) return Line::begin;
    const uint64 minutes = Min((now - began_us(word)) / reminder_us, last_minute);
    if (now < began_us(word) || minutes <= (word & last_minute)) return Line::none;
    const bool mine = began.compare_exchange_strong(word, began_us(word) << minute_bits | minutes);
    return mine ? Line::reminder : Line::none;
}

// True for one backend only, which gets the word in `word`.
bool try_end(ledger::Word& began, uint64& word) {
    word = began.load(relaxed);
    return word != 0 && began.compare_exchange_strong(word, 0);
}

// True if the occurrence was last noticed more than a pause ago.
bool paused(uint64 seen, uint64 now, const Timeline& timeline) {
    return apart_us(seen, now) > pause_us + static_cast<uint64>(timeline.tick_us);
}
bool paused(const ledger::Occurrence& o, uint64 now, const Timeline& timeline) {
    return paused(o.seen.load(relaxed), now, timeline);
}

double ms(uint64 us) { return static_cast<double>(us) / 1000; }

// How long the occurrence has lasted, until it was last noticed.
uint64 duration(const ledger::Occurrence& o, uint64 word) {
    const uint64 seen = o.seen.load(relaxed);
    return seen > began_us(word) ? seen - began_us(word) : 0;
}

// When the occurrence began, by the present wall clock. The clock may have been changed since.
const char* beginning(uint64 word, uint64 now) {
    const uint64 ago = now > began_us(word) ? now - began_us(word) : 0;
    return show_time(timestamptz(ledger::wall_us() - static_cast<int64>(ago)));
}

uint64 ticks_of(const ledger::Occurrence& o, uint64 word, const Timeline& timeline) {
    return duration(o, word) / static_cast<uint64>(timeline.tick_us) + 1;
}

void log_overflow(const ledger::Counters& c, const Subject& s, uint64 word, uint64 calls, uint64 wait_us, bool over) {
    const uint64 us = duration(c.overflow, word);
    const char* began = beginning(word, ledger::monotonic_us());
    const char* figures = psprintf("calls=" UINT64_FORMAT ", waited=%.3f ms, lasted=%.3f ms, ticks=" UINT64_FORMAT,
                                   calls, ms(wait_us), ms(us), ticks_of(c.overflow, word, s.timeline));
    ereport(LOG_SERVER_ONLY, (errhidestmt(true), errhidecontext(true),
                              over ? errmsg("%s sequence overflow is over: %s", s.name, figures)
                                   : errmsg("%s sequence overflow continues: %s", s.name, figures),
                              over ? errdetail("Node %u: it began at %s.", s.node, began)
                                   : errdetail("Node %u: it began at %s. Calls that wait now: " UINT64_FORMAT ".",
                                               s.node, began, waiting(c))));
}

// How far the last id is ahead of the clock.
int64 lead_us(const ledger::Slot& slot, const Subject& s) {
    const State state = ledger::unpack(slot.word.load(), slot.safe.load(), s.has_toggle);
    return s.timeline.start_us(state.tick) - ledger::wall_us();
}

enum class Clock : uint8 { behind, caught_up, was_behind };

void log_behind(const ledger::Slot& slot, const Subject& s, uint64 word, uint64 calls, uint64 wait_us, uint64 ticks,
                Clock clock) {
    const ledger::Counters& c = slot.counters;
    const char* began = beginning(word, ledger::monotonic_us());
    const char* figures =
        psprintf("step=%.3f ms, lasted=%.3f ms, ticks=" UINT64_FORMAT ", calls=" UINT64_FORMAT ", waited=%.3f ms",
                 ms(c.behind_us.load(relaxed)), ms(duration(c.behind, word)), ticks, calls, ms(wait_us));
    ereport(
        LOG_SERVER_ONLY,
        (errhidestmt(true), errhidecontext(true),
         clock == Clock::caught_up ? errmsg("clock has caught up with %s ids of node %u: %s", s.name, s.node, figures)
         : clock == Clock::behind  ? errmsg("clock is still behind %s ids of node %u: %s", s.name, s.node, figures)
                                   : errmsg("clock was behind %s ids of node %u: %s", s.name, s.node, figures),
         clock != Clock::behind ? errdetail("It began at %s.", began)
                                : errdetail("It began at %s. The last id is %.3f ms ahead of the clock now.", began,
                                            static_cast<double>(lead_us(slot, s)) / 1000)));
}

void end_overflow(ledger::Counters& c, const Subject& s) {
    uint64 word;
    if (!try_end(c.overflow_began, word)) return;
    const uint64 calls = c.overflow.calls.exchange(0), wait_us = c.overflow.wait_us.exchange(0);
    if (calls == 0) return;
    log_overflow(c, s, word, calls, wait_us, true);
    c.last_overflow_calls.store(calls, relaxed);
    c.last_overflow_ticks.store(ticks_of(c.overflow, word, s.timeline), relaxed);
    const auto ago = static_cast<int64>(ledger::monotonic_us() - c.overflow.seen.load(relaxed));
    c.last_overflow_end.store(static_cast<uint64>(ledger::wall_us() - ago), relaxed);
}

void end_behind(ledger::Slot& slot, const Subject& s, Clock clock) {
    ledger::Counters& c = slot.counters;
    uint64 word;
    if (!try_end(c.behind_began, word)) return;
    const uint64 calls = c.behind.calls.exchange(0), wait_us = c.behind.wait_us.exchange(0);
    log_behind(slot, s, word, calls, wait_us, c.behind_ticks.exchange(0), clock);
}

void note_overflow(const Generator& g, uint64 now) {
    ledger::Counters& c = g.slot->counters;
    // An earlier occurrence, whose end no backend has noticed.
    if (waiting(c) == 0 && paused(c.overflow, now, g.timeline)) end_overflow(c, subject_of(g));
    switch (mark_occurrence(c.overflow_began, c.overflow, now)) {
        case Line::begin:
            ereport(LOG_SERVER_ONLY,
                    (errhidestmt(true), errhidecontext(true),
                     errmsg("%s sequence overflow: calls wait for the next tick", g.name),
                     errdetail("Node %u has %u ids per tick of %g ms.", g.node, g.rules.max - g.rules.min + 1,
                               static_cast<double>(g.timeline.tick_us) / 1000)));
            break;
        case Line::reminder:
            log_overflow(c, subject_of(g), c.overflow_began.load(relaxed), c.overflow.calls.load(relaxed),
                         c.overflow.wait_us.load(relaxed), false);
            break;
        case Line::none:
            break;
    }
}

// True if the noted occurrence is an earlier one, whose end no backend has noticed. The clock is behind now, but since
// then it would have caught up with the earlier one by itself.
bool is_another(const ledger::Counters& c, uint64 now, const Timeline& timeline) {
    const uint64 began = c.behind_began.load(relaxed);
    const uint64 seen = c.behind.seen.load(relaxed);
    if (began == 0 || waiting(c) != 0 || !paused(seen, now, timeline)) return false;
    const uint64 ahead_us =
        c.behind_us.load(relaxed) + c.behind_ticks.load(relaxed) * static_cast<uint64>(timeline.tick_us);
    // `now` may be earlier than `began`, if another backend has begun an occurrence since we read the clock.
    return now > began_us(began) && now - began_us(began) > ahead_us;
}

void note_behind(const Generator& g, uint64 now) {
    ledger::Counters& c = g.slot->counters;
    if (is_another(c, now, g.timeline)) end_behind(*g.slot, subject_of(g), Clock::was_behind);
    switch (mark_occurrence(c.behind_began, c.behind, now)) {
        case Line::begin: {
            const int64 lead = lead_us(*g.slot, subject_of(g));
            c.behind_us.store(lead > 0 ? static_cast<uint64>(lead) : 0, relaxed);
            const bool waits = g.rules.on_regression == OnRegression::wait;
            ereport(LOG_SERVER_ONLY,
                    (errhidestmt(true), errhidecontext(true),
                     waits ? errmsg("clock is behind: calls for %s ids of node %u wait for it", g.name, g.node)
                           : errmsg("clock is behind: %s ids of node %u continue ahead of it", g.name, g.node),
                     errdetail("The last id is %.3f ms ahead of the clock.", static_cast<double>(lead) / 1000)));
            break;
        }
        case Line::reminder:
            log_behind(*g.slot, subject_of(g), c.behind_began.load(relaxed), c.behind.calls.load(relaxed),
                       c.behind.wait_us.load(relaxed), c.behind_ticks.load(relaxed), Clock::behind);
            break;
        case Line::none:
            break;
    }
}

}  // namespace

Kind note_wait(const Generator& g, const ledger::Claim& failed, uint64 now) {
    ledger::Counters& c = g.slot->counters;
    // After a floor or a new life the tick is used up without an id. That is no overflow.
    const bool overflow = failed.outcome == ledger::Outcome::overflow && !failed.held;
    if (overflow) {
        c.overflow_waits.fetch_add(1, relaxed);
        note_overflow(g, now);
        c.overflow.calls.fetch_add(1, relaxed);
        return Kind::overflow;
    }
    if (failed.own_lead) return Kind::none;
    if (failed.outcome != ledger::Outcome::overflow && failed.outcome != ledger::Outcome::regression) return Kind::none;
    note_behind(g, now);
    c.behind.calls.fetch_add(1, relaxed);
    return Kind::behind;
}

void note_waiting(const Generator& g, Kind kind, uint64 now) {
    if (kind == Kind::overflow) note_overflow(g, now);
    if (kind == Kind::behind) note_behind(g, now);
}

void note_waited(ledger::Counters& c, Kind kind, uint64 since, uint64 now) {
    if (kind == Kind::none) return;
    ledger::Occurrence& o = kind == Kind::overflow ? c.overflow : c.behind;
    o.wait_us.fetch_add(now - since, relaxed);
    o.seen.store(now, relaxed);
}

void note_regression(Generator& g, const ledger::Claim& c) {
    ledger::Counters& counters = g.slot->counters;
    if (c.toggled) {
        const uint64 so_far = counters.regressions.fetch_add(1, relaxed) + 1;
        // `safe` is the tick that the clock went back from.
        const int64 step_us = g.timeline.start_us(g.slot->safe.load(relaxed)) - g.timeline.start_us(c.tick);
        ereport(LOG_SERVER_ONLY,
                (errhidestmt(true), errhidecontext(true),
                 errmsg("clock went back by %.3f ms: tick-tock bit of %s ids of node %u is now %u",
                        static_cast<double>(step_us) / 1000, g.name, g.node, c.toggle),
                 errdetail("Regressions so far: " UINT64_FORMAT ". New ids sort beside those of %s and later.", so_far,
                           show_time(timestamptz(g.timeline.start_us(c.tick))))));
        return;
    }
    if (c.own_lead) return;
    if (c.advanced) {
        counters.holds.fetch_add(1, relaxed);
        counters.behind_ticks.fetch_add(1, relaxed);
    }
    note_behind(g, ledger::monotonic_us());
}

uint64 overflow_ticks(const ledger::Counters& c, const Timeline& timeline) {
    const uint64 word = c.overflow_began.load(relaxed);
    return word == 0 ? 0 : ticks_of(c.overflow, word, timeline);
}

void end_what_is_over(ledger::Slot& slot, const Subject& subject) {
    ledger::Counters& c = slot.counters;
    if (waiting(c) != 0) return;
    const uint64 now = ledger::monotonic_us();
    if (c.overflow_began.load(relaxed) != 0 && paused(c.overflow, now, subject.timeline)) end_overflow(c, subject);
    if (c.behind_began.load(relaxed) != 0 && paused(c.behind, now, subject.timeline) && lead_us(slot, subject) <= 0)
        end_behind(slot, subject, Clock::caught_up);
}

void end_what_is_over(const Generator& g) { end_what_is_over(*g.slot, subject_of(g)); }

}  // namespace snowflake_ids::occurrence
