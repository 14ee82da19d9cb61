// What a session does: the steps between the ledger's templates, as src/pg/generate has them.
#pragma once

#include "core/timeline.hpp"
#include "ledger/lease.hpp"
#include "ledger/life.hpp"
#include "simulator/judge.hpp"

namespace snowflake_ids::simulator {

struct Generator {
    Rules rules;
    Timeline timeline;
};

struct World {
    Generator generators[generator_count];
    microseconds window = 2s;
    Wrong wrong;
    Judge judge;
    Value life_ids = 0, lives = 0;
    Value fenced = 0;
};

struct Clock {
    const Site& site;
    const Timeline& timeline;

    Result<Value> tick() const {
        scheduler->step();
        return timeline.floor_tick(site.wall());
    }
    MonotonicTime monotonic() const {
        scheduler->step();
        return scheduler->now + 1s;
    }
    microseconds until(Value tick) const { return timeline.start(tick) - site.wall(); }
    microseconds tick_length() const { return timeline.tick_length; }
};

struct Drawn {
    bool ok = false;
    Value tick = 0, toggle = 0;
    std::uint32_t number = 0;
};

class Session {
public:
    // Its server is gone, and it does not know. Nothing that it commits counts.
    bool orphaned = false;
    bool fenced = false;
    bool thrown_away = false;
    const std::uint32_t database;

    Session(World& world, Site& of, std::uint32_t number)
        : database(number % database_count), w(world), site(of), memory(of.memory), m(*memory) {}

    Drawn draw(std::uint32_t g) {
        const Drawn d = draw_one(g);
        if (d.ok && !orphaned && !thrown_away && !w.generators[g].rules.has_toggle)
            w.judge.drew(g, d.tick, d.toggle, d.number, seen[g]);
        return d;
    }

    void begin() { new_statement(); }
    void new_statement() {
        statement++;
        look();
    }
    void look() {
        if (!orphaned) std::copy(std::begin(w.judge.seen), std::end(w.judge.seen), seen);
    }
    void insert(std::uint32_t g, const Drawn& d) { drawn[g] = std::max(drawn[g], Judge::order(d.tick, d.number)); }
    void end(bool commit) {
        scheduler->step();
        if (orphaned) return;
        w.judge.ended++;
        if (commit) {
            w.judge.commits++;
            for (std::uint32_t g = 0; g < generator_count; g++) w.judge.seen[g] = std::max(w.judge.seen[g], drawn[g]);
        }
        std::fill(std::begin(drawn), std::end(drawn), 0);
    }

    bool observe(std::uint32_t g, UnixTime t) {
        const Timeline& timeline = w.generators[g].timeline;
        const Value tick = timeline.floor_tick(t).value;
        if (!set_up(g) || !lift_above(g, tick + 1)) return false;
        begin_slot(g, tick);
        m.header.revision.fetch_add(1);
        return true;
    }

private:
    struct State {
        bool bound = false;
        Value revision = 0, limit = 0;
        ledger::Lease lease;
        Value statement = 0, ended = 0;
    };

    UnixTime ahead() const { return site.wall() + w.window + w.window / 4; }
    microseconds step() const {
        const microseconds most = std::min<microseconds>(w.window / 4, 500ms);
        const microseconds lasted = site.wall() - m.began;
        return lasted < 0s ? most : std::min(std::max<microseconds>(lasted, 10ms), most);
    }
    Ceiling target(std::uint32_t g, Value tick) const {
        return ledger::ceiling_at(std::max(ahead(), w.generators[g].timeline.start(tick) + step()));
    }
    Slot& slot(std::uint32_t g) { return m.slots[g]; }
    auto slots() {
        return [this](std::uint32_t i) -> Slot& { return m.slots[i]; };
    }
    CeilingFile file() { return {site, w.wrong, m.header.life_number.peek()}; }

    void begin_slot(std::uint32_t g, Value tick) {
        ledger::begin_slot(slot(g), tick, w.generators[g].rules.has_toggle);
    }
    Value tick_of(std::uint32_t g, UnixTime t) const { return w.generators[g].timeline.last_tick_at(t).value; }

    // If another process has the lock, waits, but not for ever.
    template <class Do>
    ledger::CeilingResult locked(Do work) {
        const CeilingFile f = file();
        for (int i = 0; !f.lock(); i++) {
            if (i == 200) return {ledger::CeilingError::busy, 0, -1};
            scheduler->sleep(1ms);
        }
        const ledger::CeilingResult r = work(f);
        f.unlock();
        if (r.error == ledger::CeilingError::superseded) {
            w.fenced++;
            fenced = true;
        }
        if (r.error == ledger::CeilingError::damaged) w.judge.blame("the ceiling file is damaged");
        return r;
    }

    bool begin_life() {
        if (ledger::has_begun(m.header)) return true;
        const Value id = ++w.life_ids;
        const ledger::CeilingResult r = locked([&](const CeilingFile& f) {
            if (ledger::has_begun(m.header)) return ledger::CeilingResult{};
            if (orphaned) return ledger::CeilingResult{ledger::CeilingError::superseded, 0, -1};
            const UnixTime now = site.wall();
            const Floor at_least = w.wrong.begin_too_low ? Floor{} : ledger::ceiling_at(ahead());
            const auto resume = [&](Slot& s, Floor floor) {
                if (w.wrong.begin_too_low) return;
                const auto g = static_cast<std::uint32_t>(&s - m.slots);
                begin_slot(g, tick_of(g, floor));
            };
            m.began = now;
            return ledger::begin_locked_life(m.header, generator_count, slots(), resume, f, id, at_least,
                                             static_cast<Value>(now.time_since_epoch() / 1s));
        });
        if (m.header.life_id.peek() == id) w.lives++;
        return r.error == ledger::CeilingError::none && ledger::has_begun(m.header);
    }

    void lift_floor(Floor floor) {
        ledger::lift_to(m.header.floor, floor);
        for (std::uint32_t g = 0; g < generator_count; g++) {
            if (slot(g).key.load() != 0) begin_slot(g, tick_of(g, floor));
        }
    }

    // issue_limit::enter()
    bool enter() {
        if (!begin_life()) return false;
        if (wal_until != Ceiling{}) return true;
        Wal wal{site.wal[database]};
        const Ceiling target = ledger::ceiling_at(ahead() + step());
        wal_until = ledger::enter_database(wal, m.header.life_id.load(), target, [&](Floor floor) {
            if (w.wrong.wal_unread) return;
            lift_floor(floor);
            m.header.revision.fetch_add(1);
        });
        return true;
    }

    bool set_up(std::uint32_t g) {
        State& s = states[g];
        s.revision = m.header.revision.load();
        if (!enter()) return false;
        Value key = slot(g).key.load();
        if (key == 0) slot(g).key.compare_exchange_strong(key, g + 1);
        if (const Floor floor = m.header.floor.load(); floor != Floor{}) {
            ledger::lift_unless_past(slot(g), tick_of(g, floor), w.generators[g].rules.has_toggle,
                                     [&](Slot&, Value tick, bool) { begin_slot(g, tick); });
        }
        s.lease = {};
        s.statement = 0;
        s.bound = true;
        set_limit(g);
        return true;
    }
    void set_limit(std::uint32_t g) {
        const Ceiling until = std::min(slot(g).ceiling.load(), wal_until);
        states[g].limit = w.generators[g].timeline.ceil_tick(until).value;
    }
    bool lift_above(std::uint32_t g, Value tick) {
        const UnixTime wanted = w.generators[g].timeline.start(tick);
        while (wanted >= slot(g).ceiling.load()) {
            if (!lift_file(g, target(g, tick))) return false;
        }
        if (wanted >= wal_until) {
            Wal wal{site.wal[database]};
            wal_until = ledger::lift_wal_above(wal, m.header.life_id.load(), wanted, target(g, tick));
        }
        set_limit(g);
        return true;
    }
    bool lift_file(std::uint32_t own, Ceiling least) {
        return locked([&](const CeilingFile& f) {
                   if (slot(own).ceiling.load() >= least) return ledger::CeilingResult{};
                   const Ceiling from = ledger::ceiling_at(site.wall()),
                                 to = std::min(least, ledger::ceiling_at(ahead()));
                   const auto wanted = [&](std::uint32_t i) {
                       if (i == own) return least;
                       return slot(i).ceiling.load() > from ? to : Ceiling{};
                   };
                   return ledger::lift_locked_ceilings(m.header, generator_count, slots(), f, wanted);
               }).error == ledger::CeilingError::none;
    }

    Drawn draw_one(std::uint32_t g) {
        State& s = states[g];
        const Generator& generator = w.generators[g];
        const Clock clock{site, generator.timeline};
        std::uint32_t want = 1;
        for (int tries = 0; tries < 1000; tries++) {
            if (!s.bound || m.header.revision.load() != s.revision) {
                if (!set_up(g)) return {};
            }
            const Value ended = w.judge.ended;
            const bool same_view = s.statement == statement && (s.ended == ended || w.wrong.lease_too_long);
            if (ledger::serves(
                    s.lease, [&] { return clock.tick().value; }, [&] { return same_view; })) {
                s.lease.used++;
                return {true, s.lease.tick, s.lease.toggle, s.lease.next++};
            }
            want = ledger::lease_size(s.lease, same_view, generator.rules.max - generator.rules.min + 1);
            s.lease.next = s.lease.end;
            const ledger::Claim c = generator.rules.has_toggle
                                        ? ledger::claim<true>(slot(g), clock, want, generator.rules, s.limit)
                                        : ledger::claim<false>(slot(g), clock, want, generator.rules, s.limit);
            switch (c.outcome) {
                case ledger::Outcome::issued:
                    if (!thrown_away) w.judge.claimed(g, c);
                    judge_ceiling(g, c.tick);
                    ledger::begin_lease(s.lease, c, want);
                    s.statement = statement;
                    s.ended = ended;
                    return {true, c.tick, c.toggle, c.first};
                case ledger::Outcome::overflow:
                case ledger::Outcome::regression:
                    scheduler->sleep(std::clamp<microseconds>(c.wait, 1us, 100ms));
                    break;
                case ledger::Outcome::ceiling:
                    if (!lift_above(g, c.tick)) return {};
                    break;
                default:
                    return {};
            }
        }
        return {};
    }

    void judge_ceiling(std::uint32_t g, Value tick) {
        if (!orphaned && w.generators[g].timeline.start(tick) >= site.disk.durable_ceiling(g))
            w.judge.blame("issued beyond the ceiling on disk");
    }

    World& w;
    Site& site;
    const std::shared_ptr<Memory> memory;
    Memory& m;
    State states[generator_count];
    Ceiling wal_until{};
    Value statement = 0;
    Value seen[generator_count] = {}, drawn[generator_count] = {};
};

}  // namespace snowflake_ids::simulator
