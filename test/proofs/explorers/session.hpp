// For the explorer: a session on the server of server.hpp. It is the Host of ledger/session.hpp. After each stage it
// keeps what the session knows, as numbers, and continues with these.
#pragma once

#include <type_traits>
#include <utility>

#include "explorers/server.hpp"
#include "ledger/reset.hpp"
#include "ledger/session.hpp"

namespace snowflake_ids::test {

struct RightSteps : ledger::Steps {
    template <bool has_toggle, class... Args>
    static ledger::Claim claim(Args&&... args) {
        return ledger::claim<has_toggle>(std::forward<Args>(args)...);
    }
    template <class... Args>
    static ledger::CeilingResult force(Args&&... args) {
        return ledger::run_locked_reset(std::forward<Args>(args)...);
    }
    static void unlock(World& w, const ledger::CeilingResult&) { w.unlock(); }
    static std::uint32_t toggle_of(const ledger::Number& n, World&) { return n.toggle; }
};

struct Server {
    static constexpr Value last_time = 15;

    Rules rules{.min = 0, .max = 1, .max_tick = 15};
    bool with_file = true, with_wal = true;
    bool with_leases = false;                      // some session has them, or looks for a floor
    std::uint32_t lease_share = 4;                 // how many numbers one may have
    bool commits = false, clock_has_time = false;  // some session commits; the clock never goes back
    bool with_begun = false;                       // the first held tick of a life begins at once
    bool two_lives = false;                        // a life may begin while processes of another one go on
    bool may_lose_files = false;                   // a life may find others than the last one left
    Value second = 0;                              // in which all lives begin; 0: each begins in a later one
    static constexpr Value by_server = 2;          // a session's memory: that of the server that runs

    mutable std::size_t fenced = 0;  // refused lifts

    // Ids as they follow each other inside a toggle; never 0.
    static Value order(Value tick, Value sequence) { return (tick << 3 | sequence) + 1; }
};

template <class Steps>
class Session : public Steps {
public:
    using Of = ledger::Session<WatchedSlot>;

    Session(World& world, const Server& server, Value memory = Server::by_server)
        : w(world), s(server), memory_(known_memory(world, server, memory)) {
        if (!w.locals.empty()) remember();
    }

    // Each of the queries has its own snapshot.
    ledger::Claim draw(Value draws, bool commits) {
        draws_ = draws;
        if (d_.stage == Stage::looking) {
            if (done_ == draws) {
                if (commits) commit();
                return nothing;
            }
            if (s.commits) view_ = w.load(as_cell(view_cell));
            if (s.clock_has_time) since_ = w.tick().value;
        }
        // A session that has asked for nothing yet loses nothing in a crash, so it goes on to its first access. With
        // leases there would be too many states.
        if (w.locals.empty() && !s.with_leases) ledger::run(*this, g_, d_);
        const Stage stage = d_.stage;
        ledger::run(*this, g_, d_);
        if (d_.stage == Stage::failed) return nothing;
        if (d_.stage == Stage::drawn) drew(stage == Stage::drawing);
        go_on();
    }

    // Nothing at or before `tick` is issued any more. Done: "ended", and marked as toggled.
    ledger::Claim floor(Value tick) {
        if (!set_up() || !ledger::lift_past(*this, g_, tick)) return nothing;
        return {.outcome = ledger::Outcome::ended, .standing = {.toggled = true}, .tick = tick};
    }

    ledger::Claim force(Value tick) {
        if (!set_up()) return nothing;
        const Ceiling ceiling = ledger::ceiling_at(std::max(ledger::ahead_of(wall(), window()), time_of(tick + 1)));
        const auto put_back = [&](WatchedSlot& chosen, ledger::CeilingEntry& entry) {
            ledger::put_slot(chosen, tick, s.rules.has_toggle);
            ledger::set_entry(entry, chosen, ceiling);
        };
        const bool locked = w.lock();
        if (!locked) return nothing;
        const ledger::CeilingResult r = Steps::force(
            header_, 1u, slots(), file_, [](auto&) {}, put_back);
        Steps::unlock(w, r);
        header_.revision.fetch_add(1);
        if (r.error != ledger::CeilingError::none) return nothing;
        return {.outcome = ledger::Outcome::ended, .standing = {.toggled = true}, .tick = tick};
    }

    // ---- the Host

    WatchedHeader& header() { return header_; }
    static std::uint32_t count() { return 1; }
    auto slots() {
        return [this](std::uint32_t) -> WatchedSlot& { return slot_; };
    }
    static bool has_time(const WatchedSlot& found) { return found.key.load() != 0; }
    bool has_toggle(const WatchedSlot&) const { return s.rules.has_toggle; }
    static Value tick_of(const WatchedSlot&, UnixTime t) { return tick_at(std::chrono::ceil<milliseconds>(t)); }
    // Saves states.
    void begin(WatchedSlot& lifted, Value tick, bool has_toggle) const {
        if (s.with_begun)
            ledger::begin_slot(lifted, tick, has_toggle);
        else
            ledger::lift_slot(lifted, tick, has_toggle);
    }
    // Read once a stage, and only if something here depends on it.
    UnixTime wall() {
        const bool depends = d_.stage == Stage::starting   ? s.may_lose_files
                             : d_.stage == Stage::entering ? s.with_wal
                                                           : d_.stage != Stage::binding && d_.stage != Stage::claiming;
        if (depends && now_ == UnixTime{}) now_ = time_of(w.tick().value);
        return now_;
    }
    // A new ceiling is one tick above the clock.
    static microseconds window() { return microseconds{600}; }
    static Value changes() { return 1; }
    Value random_id() {
        const Value id = w.load(as_cell(ids_cell)) + 1;
        w.store(as_cell(ids_cell), id);
        return id;
    }
    static void life_began() {}
    template <class Done, class Work>
    bool locked(Done done, Work work) {
        if (done()) return true;
        if (!w.lock()) return false;
        const ledger::CeilingResult r = work(file_);
        Steps::unlock(w, r);
        s.fenced += r.error == ledger::CeilingError::superseded;
        return r.error == ledger::CeilingError::none;
    }
    // Nothing is lifted early, because a ceiling is no more than a tick ahead.
    template <class Work>
    static bool locked_at_once(Work) {
        return false;
    }
    static Ceiling lift_wal_if_free(UnixTime, const ledger::WalCeiling&) { return {}; }
    // Elsewhere the file is what this server left, and suffices.
    template <class SlotAt, class Resume, class File>
    ledger::CeilingResult begin_locked_life(WatchedHeader& header, std::uint32_t n, SlotAt slot, Resume resume,
                                            const File& file, Value id, Floor at_least, Value) const {
        return Steps::begin_locked_life(header, n, slot, resume, file, id, s.may_lose_files ? at_least : Floor{},
                                        s.second != 0 ? s.second : id);
    }
    WatchedWal wal() const { return {&w}; }
    template <class LiftFloor>
    Ceiling enter_database(WatchedWal& wal, Value life_id, Ceiling target, LiftFloor lift_floor) const {
        return s.with_wal ? Steps::enter_database(wal, life_id, target, lift_floor) : ceiling_at(s.last_time);
    }
    Ceiling file_until(const WatchedSlot& slot) const {
        return s.with_file ? slot.ceiling.load() : ceiling_at(s.last_time);
    }
    Ceiling& seen_wal() { return seen_wal_; }
    void find_slot(Of& g) {
        Value key = slot_.key.load();
        if (key == 0) slot_.key.compare_exchange_strong(key, 1);
        g.slot = &slot_;
        g.timeline = timeline;
        g.rules = s.rules;
    }
    ledger::View view() const { return {1, view_}; }
    bool same_view(const Of& g) const { return g.lease.view == view(); }
    Value tick_now(const Of&) { return w.tick().value; }
    static void gave_up(Of&, std::uint32_t) {}
    std::uint32_t lease_size(const ledger::Lease& l, bool same_view, std::uint32_t) const {
        return Steps::lease_size(l, same_view, (s.with_leases ? s.lease_share : 1) * ledger::leases_per_tick);
    }
    ledger::Claim claim(Of& g, std::uint32_t want) {
        return s.rules.has_toggle ? Steps::template claim<true>(slot_, w.clock, want, s.rules, g.limit)
                                  : Steps::template claim<false>(slot_, w.clock, want, s.rules, g.limit);
    }
    bool wait(const Of&, const ledger::Claim& c) { return c.outcome != ledger::Outcome::ended && ++done_ < draws_; }

private:
    using Stage = ledger::Stage;
    static constexpr ledger::Claim nothing{.outcome = ledger::Outcome::before_epoch};
    static constexpr Timeline timeline{UnixTime{}, milliseconds{1}, 40};
    static UnixTime time_of(Value tick) { return timeline.start(tick); }

    // What a session knows between two stages. All leases that are used up are one state, as is what the next stage does
    // not ask.
    template <class Visit>
    void each(Visit visit) {
        ledger::Lease& l = g_.lease;
        visit(d_.stage), visit(d_.want), visit(d_.revision), visit(d_.view.ended);
        visit(d_.view.statement), visit(d_.claim.tick), visit(g_.limit), visit(g_.revision);
        visit(g_.changes), visit(l.tick), visit(l.toggle), visit(l.next), visit(l.end), visit(l.want), visit(l.used);
        visit(l.view.ended), visit(l.view.statement), visit(bound_), visit(until_), visit(done_);
        visit(view_), visit(since_), visit(held_), visit(last_);
    }
    void remember() {
        std::size_t at = 1;
        each([&](auto& value) { value = static_cast<std::remove_reference_t<decltype(value)>>(w.locals[at++]); });
        seen_wal_ = ceiling_at(until_);
        g_.lift_from = g_.limit;
        g_.timeline = timeline;
        g_.rules = s.rules;
        if (bound_ != 0) g_.slot = &slot_;
    }
    [[noreturn]] void go_on() {
        if (g_.lease.next >= g_.lease.end) g_.lease = {.want = g_.lease.want, .view = g_.lease.view};
        if (d_.stage != Stage::lifting) d_.claim.tick = 0;
        until_ = tick_at(seen_wal_);
        bound_ = g_.slot != nullptr;
        std::vector<Value> known{memory_};
        each([&](const auto& value) { known.push_back(static_cast<Value>(value)); });
        w.go_on_with(std::move(known));
    }

    bool set_up() {
        if (d_.stage == Stage::drawing) return true;
        if (d_.stage == Stage::looking) {
            d_.stage = Stage::starting;
            go_on();
        }
        ledger::run_set_up(*this, g_, d_);
        if (d_.stage != Stage::failed) go_on();
        return false;
    }
    void drew(bool by_lease) {
        IssuedClaim i;
        if (!by_lease) static_cast<ledger::Claim&>(i) = d_.claim;
        i.tick = d_.number.tick;
        i.first = d_.number.sequence;
        i.toggle = by_lease ? Steps::toggle_of(d_.number, w) : d_.number.toggle;
        i.claimed = by_lease ? 0 : d_.claim.count;
        i.count = 1;
        i.held_before = !by_lease && held_;
        if (!by_lease) held_ = d_.claim.standing.held;
        i.seen = view_ & 0xffffffff;
        i.since = since_;
        i.revision = g_.revision;
        i.memory = memory_;
        w.issue(i);
        if (s.commits) last_ = s.order(i.tick, i.first);
        done_++;
        view_ = since_ = 0;
        d_ = {};
    }
    void commit() {
        Value seen = w.load(as_cell(view_cell)), next;
        do {
            next = (seen >> 32) + 1;
            next = next << 32 | std::max(seen & 0xffffffff, last_);
        } while (!w.swap(as_cell(view_cell), seen, next));
    }

    static Value known_memory(World& w, const Server& s, Value memory) {
        if (!w.locals.empty()) return w.locals[0];
        if (memory != Server::by_server) return memory;
        return s.two_lives ? w.load(as_cell(server_cell)) : 0;
    }

    World& w;
    const Server& s;
    const Value memory_;
    WatchedSlot slot_{w, of_memory(memory_, key_cell)};
    WatchedHeader header_{w, memory_, s.with_leases};
    WatchedFile file_{&w};
    UnixTime now_{};  // not read yet in this stage
    Value draws_ = 0;

    Of g_;
    ledger::Draw d_;
    Ceiling seen_wal_{};
    Value bound_ = 0, until_ = 0, done_ = 0, view_ = 0, since_ = 0, last_ = 0;
    bool held_ = false;
};

}  // namespace snowflake_ids::test
