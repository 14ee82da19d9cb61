// What one session does to get ids, written once: PostgreSQL, the simulator (test/proofs/simulator) and the explorers
// (test/proofs/explorers/session.hpp) run these templates, and each supplies a Host.
//
// Stages. A draw goes from stage to stage (run()). Between two of them everything that it knows is in Session and Draw.
// These are plain values: an explorer stops there and continues later with a copy, and an error of PostgreSQL, which is
// a longjmp, skips no destructor. Code that runs while the ceiling file is locked raises no such error.
//
//   looking    was a generator reset, or a setting changed?     -> starting, drawing
//   starting   notes the revision, begins the life              -> entering
//   entering   compares the WAL ceiling with the life           -> binding
//   binding    finds the slot, applies the floor, sets limits   -> drawing
//   drawing    takes a number of the lease                      -> drawn, claiming
//   claiming   claims numbers below the limit                   -> drawn, waiting, lifting
//   waiting    sleeps until the next tick or for the clock      -> claiming
//   lifting    lifts the ceilings, the file first, as it has the fence   -> claiming
//
// One interleaving: why `starting` notes the revision before anything else is read. An operator's reset (reset.hpp)
// lowers a ceiling from tick 900 to tick 100.
//
//   session    starting: notes revision 7
//   session    binding: reads the ceiling, so its limit is 900
//   operator   lowers the ceiling to 100, raises the revision to 8, writes the file
//   session    claiming: issues an id of tick 500, as this draw began before the reset
//   session    looking: 7 is not 8, so it is set up again, with the limit 100
//
// If `binding` noted the revision, after the ceiling, it could note 8 with the limit 900. The session would issue ids
// of ticks up to 899, the next life would begin at the 100 of the file, and repeat them.
//
// A Host is a Steps, and a SlotFormats (formats.hpp) or its own, and has:
//   header(), count(), slots()              the shared memory; slots()(i) is the i-th of count()
//   wall(), window(), changes()             the clock, how far ahead a ceiling is lifted, what ends a set-up
//   random_id(), life_began()               a new life's id; called after it has begun
//   locked(done, work)                      work(file) once the ceiling file is locked, or nothing if done() is true
//                                           before. True if the CeilingResult is `none`; else false, or an error
//   locked_at_once(work)                    the same, but false if another process has the lock, and never an error
//   wal(), lift_wal_if_free(soon, wanted)   the Wal of wal_ceiling.hpp; the latter is 0 if somebody else has it
//   seen_wal()                              the WAL ceiling of the database as it was seen last; 0: not yet
//   find_slot(g)                            gives up the old slot and lease; sets slot, timeline and rules
//   view(), tick_now(g), same_view(g)       for the lease (lease.hpp)
//   gave_up(g, n)                           n claimed numbers are not issued
//   claim(g, want), wait(g, claim)          wait() returns false if the draw fails
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

#include "core/timeline.hpp"
#include "ledger/begin_life.hpp"
#include "ledger/lease.hpp"
#include "ledger/wal_ceiling.hpp"

namespace snowflake_ids::ledger {

template <class S>
struct Session {
    S* slot = nullptr;
    Timeline timeline{};
    Rules rules{};
    std::uint64_t limit = 0;      // ticks from here on need a higher ceiling first
    std::uint64_t lift_from = 0;  // a claim of a tick from here on lifts the ceilings early
    std::uint64_t revision = 0;   // Header::revision at the set-up
    std::uint64_t changes = 0;    // Host::changes() at the set-up; 0: it must be set up again
    Lease lease{};
};

enum class Stage : std::uint8_t {
    looking,
    starting,
    entering,
    binding,
    drawing,
    claiming,
    waiting,
    lifting,
    drawn,
    failed
};

struct Draw {
    Stage stage = Stage::looking;
    std::uint32_t want = 0;
    std::uint64_t revision = 0;
    View view{};
    Claim claim{};
    Number number{};  // once the stage is `drawn`
};

// A stale session is set up again before its next number.
template <class H, class S>
bool is_stale(const H& header, const Session<S>& g, std::uint64_t changes) {
    return g.changes != changes || g.revision != header.revision.load(std::memory_order_relaxed);
}

// A Host may override them, so that tests can replace a step by a faulty one.
struct Steps {
    template <class... Args>
    static CeilingResult begin_locked_life(Args&&... args) {
        return ledger::begin_locked_life(std::forward<Args>(args)...);
    }
    template <class... Args>
    static CeilingResult lift_locked_ceilings(Args&&... args) {
        return ledger::lift_locked_ceilings(std::forward<Args>(args)...);
    }
    template <class... Args>
    static Ceiling enter_database(Args&&... args) {
        return ledger::enter_database(std::forward<Args>(args)...);
    }
    template <class... Args>
    static Ceiling lift_wal_above(Args&&... args) {
        return ledger::lift_wal_above(std::forward<Args>(args)...);
    }
    template <class Now, class SameView>
    [[gnu::always_inline]] static bool serves(const Lease& l, Now now, SameView same_view) {
        return ledger::serves(l, now, same_view);
    }
    static std::uint32_t lease_size(const Lease& l, bool same_view, std::uint32_t per_tick) {
        return ledger::lease_size(l, same_view, per_tick);
    }
    static std::uint32_t begin_lease(Lease& l, const Claim& c, std::uint32_t want) {
        return ledger::begin_lease(l, c, want);
    }
    static void new_lease(Lease& l) { l = {}; }
    template <class H, class G>
    static bool is_stale(const H& header, const G& g, std::uint64_t changes) {
        return ledger::is_stale(header, g, changes);
    }
    template <class S>
    static Ceiling file_until(const S& slot) {
        return slot.ceiling.load();
    }
};

// ---- how far ceilings are lifted

// With less than this left below it, a ceiling is lifted to ahead_of(): once per window, and usually before a session
// must wait for the sync.
constexpr microseconds margin(microseconds window) { return window / 4; }

// How far a ceiling is lifted if its ids are not ahead of the clock. The ids of a new life begin here or later.
constexpr UnixTime ahead_of(UnixTime now, microseconds window) { return now + window + margin(window); }

// How far a ceiling is lifted above an id that is ahead of the clock: at most the age of the life (at least 10 ms). So
// the clock gains on the ids even if the server crashes several times a second.
template <class Host>
microseconds lift_step(Host& host, UnixTime now) {
    constexpr microseconds least = milliseconds{10}, highest = milliseconds{500};
    const microseconds most = std::min(margin(host.window()), highest);
    const microseconds lasted = now - host.header().life_began.load();
    // negative: the clock has gone back since the life began
    return lasted.count() < 0 ? most : std::min(std::max(lasted, least), most);
}

template <class Host, class S>
UnixTime wanted_ceiling(Host& host, const Session<S>& g, std::uint64_t tick, UnixTime now) {
    return std::max(ahead_of(now, host.window()), g.timeline.start(tick) + lift_step(host, now));
}

// Like margin(), but a ceiling above ahead_of() was lifted by a small step, so half a step is enough.
template <class Host>
microseconds least_left(Host& host, UnixTime until, UnixTime now) {
    return until > ahead_of(now, host.window()) ? lift_step(host, now) / 2 : margin(host.window());
}

// An old seen_wal() is only too careful, because ceilings grow. What lowers one sets it to 0.
template <class Host, class S>
void set_limit(Host& host, Session<S>& g) {
    const Ceiling until = std::min(host.file_until(*g.slot), host.seen_wal());
    g.limit = g.timeline.next_tick(until);
    g.lift_from = g.timeline.next_tick(until - least_left(host, until, host.wall()));
}

// ---- lives and databases

// False if there is an error. Does nothing if the life has begun.
template <class Host>
bool begin_life(Host& host) {
    auto& header = host.header();
    const auto others_began = [&] { return has_begun(header); };
    if (others_began()) return true;
    const std::uint64_t id = host.random_id();
    bool began = false;
    const bool done = host.locked(others_began, [&](const auto& file) {
        if (others_began()) return CeilingResult{};
        const UnixTime now = host.wall();
        const Floor at_least = ceiling_at(ahead_of(now, host.window()));
        header.life_began.store(now);
        header.lead.store(allowed_lead(at_least, now));
        const auto resume = [&](auto& slot, Floor floor) { lift_to_floor(host, slot, floor); };
        const CeilingResult r =
            host.begin_locked_life(header, host.count(), host.slots(), resume, file, id, at_least, whole_seconds(now));
        began = r.error == CeilingError::none;
        return r;
    });
    if (began) host.life_began();
    return done;
}

// Lifts all generators. Leases below the floor end only when the caller adds one to Header::revision.
template <class Host>
void lift_floor(Host& host, Floor floor) {
    lift_floor(host.header(), host.count(), host.slots(), floor,
               [&](auto& slot, Floor to) { lift_to_floor(host, slot, to); });
}

// A process calls it for a slot that it has created or found, before using it.
template <class Host, class S>
void apply_floor(Host& host, S& slot) {
    apply_floor(host.header(), slot, [&](S& found, Floor floor) { lift_to_floor_if_behind(host, found, floor); });
}

// Call it in a life, before the session finds its first slot in the database. Does nothing if the session has entered
// the database already.
template <class Host>
void enter(Host& host) {
    if (host.seen_wal() != Ceiling{}) return;
    auto& header = host.header();
    const UnixTime now = host.wall();
    // Without the step, the first id of a life could already be at the target.
    const Ceiling target = ceiling_at(ahead_of(now, host.window()) + lift_step(host, now));
    const auto lift = [&](Floor floor) {
        lift_floor(host, floor);
        header.revision.fetch_add(1);
    };
    auto&& wal = host.wal();
    host.seen_wal() = host.enter_database(wal, header.life_id.load(), target, lift);
}

// ---- ceilings

// Call it once `file` is locked. Other generators in use share the sync: a ceiling ahead of the clock was lifted within
// the last window.
template <class Host, class S, class File>
CeilingResult lift_locked(Host& host, const Session<S>& g, std::uint64_t tick, const File& file) {
    const UnixTime now = host.wall();
    const Along along{ceiling_at(now), ceiling_at(ahead_of(now, host.window()))};
    return lift_ceiling(host, *g.slot, ceiling_at(wanted_ceiling(host, g, tick, now)), along, file);
}

// Lifts those ceilings that are not above `tick`, and sets the limit.
template <class Host, class S>
bool lift_above(Host& host, Session<S>& g, std::uint64_t tick) {
    const UnixTime wanted = g.timeline.start(tick);
    // Another process may lift it while this one waits for the lock.
    if (!host.locked([&] { return wanted < host.file_until(*g.slot); },
                     [&](const auto& file) { return lift_locked(host, g, tick, file); }))
        return false;
    if (wanted >= host.seen_wal()) {
        const Ceiling target = ceiling_at(wanted_ceiling(host, g, tick, host.wall()));
        auto&& wal = host.wal();
        host.seen_wal() = host.lift_wal_above(wal, host.header().life_id.load(), wanted, target);
    }
    set_limit(host, g);
    return true;
}

// Lifts the ceilings early; `tick` is that of the last claim. Never waits for another process. If the file cannot be
// written, the old ceilings remain.
template <class Host, class S>
void lift_ahead(Host& host, Session<S>& g, std::uint64_t tick) {
    const UnixTime now = host.wall(), least = wanted_ceiling(host, g, tick, now);
    const UnixTime soon = g.timeline.start(tick) + least_left(host, least, now);
    // Another session may have lifted the ceilings since g.lift_from was set. Any error of the file is left to the
    // claim that needs the ceiling.
    const bool lifted = soon < host.file_until(*g.slot) ||
                        host.locked_at_once([&](const auto& file) { return lift_locked(host, g, tick, file); });
    if (lifted && soon >= host.seen_wal()) {
        const Ceiling until = host.lift_wal_if_free(soon, {ceiling_at(least), host.header().life_id.load()});
        if (until != Ceiling{}) host.seen_wal() = until;
    }
    set_limit(host, g);
}

// Nothing at or before `tick` is issued any more. The ceilings come first, because the next life begins there.
template <class Host, class S>
bool lift_past(Host& host, Session<S>& g, std::uint64_t tick) {
    if (!lift_above(host, g, tick + 1)) return false;
    lift_slot(*g.slot, tick, g.rules.has_toggle);
    // Ends the leases of other sessions, which could contain numbers up to this tick.
    host.header().revision.fetch_add(1);
    return true;
}

// ---- a draw

template <class Host, class G>
void bind(Host& host, G& g, const Draw& d) {
    host.find_slot(g);
    host.new_lease(g.lease);
    apply_floor(host, *g.slot);
    g.revision = d.revision;
    g.changes = host.changes();
    set_limit(host, g);
}

// The next number of the lease, if it serves (lease.hpp).
template <class Host, class G>
[[gnu::always_inline]] inline bool take(Host& host, G& g, Number& number) {
    Lease& l = g.lease;
    if (!host.serves(
            l, [&] { return host.tick_now(g); }, [&] { return host.same_view(g); }))
        return false;
    l.used++;
    number = {l.tick, l.toggle, l.next++};
    return true;
}

// Ends the lease. Returns how many numbers to claim.
template <class Host, class G>
[[gnu::always_inline]] inline std::uint32_t end_lease_and_size_next(Host& host, G& g, const View& view) {
    const std::uint32_t want = host.lease_size(g.lease, g.lease.view == view, g.rules.max - g.rules.min + 1);
    host.gave_up(g, end_lease(g.lease));
    return want;
}

// `view` was taken before the claim: a transaction that ends later changes it, and so ends the lease. One that ended
// earlier has only ids below the claim.
template <class Host, class G>
[[gnu::always_inline]] inline Number begin_lease(Host& host, G& g, const Claim& c, std::uint32_t want,
                                                 const View& view) {
    host.gave_up(g, host.begin_lease(g.lease, c, want));
    g.lease.view = view;
    return {c.tick, c.toggle, c.first};
}

constexpr Stage after(const Claim& c) {
    return c.outcome == Outcome::issued    ? Stage::drawn
           : c.outcome == Outcome::ceiling ? Stage::lifting
                                           : Stage::waiting;
}

// These run one stage, and set the next.

template <class Host, class G>
void run_set_up(Host& host, G& g, Draw& d) {
    switch (d.stage) {
        case Stage::starting:
            d.revision = host.header().revision.load();
            if (g.revision != d.revision) host.seen_wal() = {};  // a reset may have lowered it
            d.stage = begin_life(host) ? Stage::entering : Stage::failed;
            return;
        case Stage::entering:
            enter(host);
            d.stage = Stage::binding;
            return;
        default:
            bind(host, g, d);
            d.stage = Stage::drawing;
    }
}

template <class Host, class G>
void run_claim(Host& host, G& g, Draw& d) {
    if (d.stage == Stage::claiming) {
        d.claim = host.claim(g, d.want);
        d.stage = after(d.claim);
    } else {
        const bool done = d.stage == Stage::waiting ? host.wait(g, d.claim) : lift_above(host, g, d.claim.tick);
        d.stage = done ? Stage::claiming : Stage::failed;
    }
}

template <class Host, class G>
void run(Host& host, G& g, Draw& d) {
    switch (d.stage) {
        case Stage::looking:
            d.stage = host.is_stale(host.header(), g, host.changes()) ? Stage::starting : Stage::drawing;
            return;
        case Stage::starting:
        case Stage::entering:
        case Stage::binding:
            return run_set_up(host, g, d);
        case Stage::drawing:
            d.stage = take(host, g, d.number) ? Stage::drawn : Stage::claiming;
            if (d.stage == Stage::drawn) return;
            d.view = host.view();
            d.want = end_lease_and_size_next(host, g, d.view);
            return;
        case Stage::claiming:
        case Stage::waiting:
        case Stage::lifting:
            run_claim(host, g, d);
            if (d.stage != Stage::drawn) return;
            if (d.claim.tick >= g.lift_from) lift_ahead(host, g, d.claim.tick);
            d.number = begin_lease(host, g, d.claim, d.want, d.view);
            return;
        case Stage::drawn:
        case Stage::failed:
            return;
    }
}

}  // namespace snowflake_ids::ledger
