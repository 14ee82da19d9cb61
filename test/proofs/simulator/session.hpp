// A session on a virtual server: the Host of ledger/session.hpp, which has the steps. What is here is the site, what a
// session has seen, the judge, and what can be wrong on purpose.
#pragma once

#include <optional>

#include "ledger/session.hpp"
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

using Drawn = std::optional<ledger::Number>;

class Session : public ledger::Steps {
public:
    using Of = ledger::Session<Slot>;

    // Its server is gone, and it does not know. Nothing that it commits counts.
    bool orphaned = false;
    bool fenced = false;
    bool thrown_away = false;
    const std::uint32_t database;

    Session(World& world, Site& of, std::uint32_t number)
        : database(number % database_count), w(world), site(of), memory(of.memory), m(*memory) {}

    Drawn draw(std::uint32_t g) {
        ledger::Draw d;
        tries_ = 1000;
        while (d.stage != ledger::Stage::drawn && d.stage != ledger::Stage::failed)
            ledger::run(*this, generators[g], d);
        if (d.stage == ledger::Stage::failed) return {};
        if (!orphaned && !thrown_away && !w.generators[g].rules.has_toggle)
            w.judge.drew(g, d.number.tick, d.number.toggle, d.number.sequence, seen[g]);
        return d.number;
    }
    bool observe(std::uint32_t g, UnixTime t) {
        ledger::Draw d{.stage = ledger::Stage::starting};
        while (d.stage != ledger::Stage::drawing && d.stage != ledger::Stage::failed)
            ledger::run_set_up(*this, generators[g], d);
        return d.stage == ledger::Stage::drawing &&
               ledger::lift_past(*this, generators[g], w.generators[g].timeline.floor_tick(t).value);
    }

    void begin() { new_statement(); }
    void new_statement() {
        statement++;
        look();
    }
    void look() {
        if (!orphaned) std::copy(std::begin(w.judge.seen), std::end(w.judge.seen), seen);
    }
    void insert(std::uint32_t g, const ledger::Number& n) {
        drawn[g] = std::max(drawn[g], Judge::order(n.tick, n.sequence));
    }
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

    // ---- the Host

    Header& header() { return m.header; }
    static std::uint32_t count() { return generator_count; }
    auto slots() {
        return [this](std::uint32_t i) -> Slot& { return m.slots[i]; };
    }
    static bool has_time(const Slot&) { return true; }
    bool has_toggle(const Slot& s) const { return of(s).rules.has_toggle; }
    Value tick_of(const Slot& s, UnixTime t) const { return of(s).timeline.last_tick_at(t).value; }
    static void begin(Slot& s, Value tick, bool has_toggle) { ledger::begin_slot(s, tick, has_toggle); }

    UnixTime wall() const { return site.wall(); }
    microseconds window() const { return w.window; }
    static Value changes() { return 1; }
    Value random_id() { return ++w.life_ids; }
    void life_began() { w.lives++; }

    template <class Done, class Work>
    bool locked(Done done, Work work) {
        for (int i = 0; !done(); i++) {
            if (file().lock()) return unlock(work(file()));
            if (i == 200) return false;
            scheduler->sleep(1ms);
        }
        return true;
    }
    template <class Work>
    bool locked_at_once(Work work) {
        return file().lock() && unlock(work(file()));
    }
    template <class H, class SlotAt, class Resume, class File>
    ledger::CeilingResult begin_locked_life(H& header, std::uint32_t n, SlotAt slot, Resume resume, const File& f,
                                            Value id, Floor at_least, Value least_number) {
        if (orphaned) return {ledger::CeilingError::superseded, 0, -1};
        const auto lift = [&](Slot& s, Floor floor) {
            if (!w.wrong.begin_too_low) resume(s, floor);
        };
        if (w.wrong.begin_too_low) at_least = {};
        return Steps::begin_locked_life(header, n, slot, lift, f, id, at_least, least_number);
    }
    template <class LiftFloor>
    Ceiling enter_database(const Wal& wal, Value life_id, Ceiling target, LiftFloor lift_floor) const {
        return Steps::enter_database(wal, life_id, target, [&](Floor floor) {
            if (!w.wrong.wal_unread) lift_floor(floor);
        });
    }
    Wal wal() { return {site.wal[database]}; }
    Ceiling lift_wal_if_free(UnixTime soon, const ledger::WalCeiling& wanted) {
        return wal().lift_if_free(soon, wanted);
    }
    Ceiling& seen_wal() { return seen_wal_; }

    void find_slot(Of& g) {
        const auto i = static_cast<std::uint32_t>(&g - generators);
        g.slot = &m.slots[i];
        Value key = g.slot->key.load();
        if (key == 0) g.slot->key.compare_exchange_strong(key, i + 1);
        g.timeline = w.generators[i].timeline;
        g.rules = w.generators[i].rules;
        g.rules.lead = ledger::lead_ticks(m.header.lead.load(), g.timeline.tick_length);
    }
    ledger::View view() const {
        return {static_cast<std::int64_t>(statement), w.wrong.lease_too_long ? 0 : w.judge.ended};
    }
    bool same_view(const Of& g) const { return g.lease.view == view(); }
    Value tick_now(const Of& g) const { return Clock{site, g.timeline}.tick().value; }
    static void gave_up(Of&, std::uint32_t) {}
    ledger::Claim claim(Of& g, std::uint32_t want) {
        const Clock clock{site, g.timeline};
        const ledger::Claim c = g.rules.has_toggle ? ledger::claim<true>(*g.slot, clock, want, g.rules, g.limit)
                                                   : ledger::claim<false>(*g.slot, clock, want, g.rules, g.limit);
        const auto i = static_cast<std::uint32_t>(&g - generators);
        if (c.outcome != ledger::Outcome::issued) return c;
        if (!thrown_away) w.judge.claimed(i, c);
        if (!orphaned && g.timeline.start(c.tick) >= site.disk.durable_ceiling(i))
            w.judge.blame("issued beyond the ceiling on disk");
        return c;
    }
    bool wait(const Of&, const ledger::Claim& c) {
        if (c.outcome == ledger::Outcome::ended || c.outcome == ledger::Outcome::before_epoch || --tries_ == 0)
            return false;
        scheduler->sleep(std::clamp<microseconds>(c.wait, 1us, 100ms));
        return true;
    }

private:
    const Generator& of(const Slot& s) const { return w.generators[&s - m.slots]; }
    CeilingFile file() const { return {site, w.wrong, m.header.life_number.peek()}; }
    bool unlock(const ledger::CeilingResult& r) {
        file().unlock();
        if (r.error == ledger::CeilingError::superseded) {
            w.fenced++;
            fenced = true;
        }
        if (r.error == ledger::CeilingError::damaged) w.judge.blame("the ceiling file is damaged");
        return r.error == ledger::CeilingError::none;
    }

    World& w;
    Site& site;
    const std::shared_ptr<Memory> memory;
    Memory& m;
    Of generators[generator_count];
    Ceiling seen_wal_{};
    int tries_ = 0;
    Value statement = 0;
    Value seen[generator_count] = {}, drawn[generator_count] = {};
};

}  // namespace snowflake_ids::simulator
