// A session on the server of ledger_server.hpp, for the explorer: the ledger's own templates, and what
// ledger/ceiling_file.cpp, life.cpp and pg/generate do between them.
#pragma once

#include <array>
#include <bit>
#include <tuple>
#include <utility>

#include "ledger/ceiling_file.hpp"
#include "ledger/claim.hpp"
#include "ledger/lease.hpp"
#include "ledger/life.hpp"
#include "ledger/reset.hpp"
#include "ledger/wal_ceiling.hpp"
#include "support/ledger_server.hpp"

namespace snowflake_ids::test {

struct RightSteps {
    template <bool has_toggle, class... Args>
    static ledger::Claim claim(Args&&... args) {
        return ledger::claim<has_toggle>(std::forward<Args>(args)...);
    }
    template <class... Args>
    static ledger::CeilingResult begin_life(Args&&... args) {
        return ledger::begin_locked_life(std::forward<Args>(args)...);
    }
    template <class H, class S, class File>
    static ledger::CeilingResult lift_ceiling(H& header, S& slot, Ceiling least, const File& file) {
        if (slot.ceiling.load() >= least) return {};
        return ledger::lift_locked_ceilings(
            header, 1u, [&](std::uint32_t) -> S& { return slot; }, file, [least](std::uint32_t) { return least; });
    }
    template <class... Args>
    static ledger::CeilingResult force(Args&&... args) {
        return ledger::run_locked_reset(std::forward<Args>(args)...);
    }
    static void unlock(World& w, const ledger::CeilingResult&) { w.unlock(); }
    template <class... Args>
    static Ceiling enter_database(Args&&... args) {
        return ledger::enter_database(std::forward<Args>(args)...);
    }
    template <class... Args>
    static Ceiling lift_wal_above(Args&&... args) {
        return ledger::lift_wal_above(std::forward<Args>(args)...);
    }

    static constexpr bool set_up_again_in_recovery = true, set_up_again_after_floor = true;
    static constexpr bool lease_ends_with_set_up = true;
    template <class... Args>
    static bool serves(Args&&... args) {
        return ledger::serves(std::forward<Args>(args)...);
    }
    static std::uint32_t lease_size(const ledger::Lease& l, bool same_view, std::uint32_t pool) {
        return ledger::lease_size(l, same_view, pool);
    }
    static void begin_lease(ledger::Lease& l, const ledger::Claim& c, std::uint32_t want) {
        ledger::begin_lease(l, c, want);
    }
    static std::uint32_t toggle_of(const ledger::Lease& l, World&) { return l.toggle; }
};

struct Server {
    static constexpr Value last_time = 15;

    Rules rules{.min = 0, .max = 1, .max_tick = 15};
    Value window = 1;
    bool with_file = true, with_wal = true;
    bool with_leases = false;                      // some session has them
    std::uint32_t lease_share = 4;                 // how many numbers one may have
    bool commits = false, clock_has_time = false;  // some session commits; the clock never goes back
    bool may_promote = false;                      // it may be a standby
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
class Session {
public:
    Session(World& world, const Server& server, Value memory = Server::by_server)
        : w(world), s(server), memory(known_memory(world, server, memory)) {}

    ledger::Claim draw(Value draws) {
        const std::vector<Value>& known = w.locals;
        if (known.empty()) {
            if (!begin_life()) return nothing;
            w.go_on_with({memory, entering});
        }
        switch (known[1]) {
            case entering: {
                if (!s.with_wal) w.go_on_with({memory, binding, 0, s.last_time});
                const auto [life_id, until] = enter();
                w.go_on_with({memory, binding, life_id, until});
            }
            case binding:
                bind();
                w.go_on_with({memory, claiming, known[2], known[3], limit(known[3]), 0});
            case claiming: {
                const Value below = known[4], done = known[5];
                if (done == draws) return nothing;
                const ledger::Claim c = claim(1, below);
                if (c.outcome == ledger::Outcome::ended) return c;
                if (c.outcome == ledger::Outcome::issued) issue(c);
                if (c.outcome == ledger::Outcome::ceiling)
                    w.go_on_with({memory, raising, known[2], known[3], c.tick, done});
                w.go_on_with({memory, claiming, known[2], known[3], below, done + 1});
            }
            case raising: {
                Value until = known[3];
                if (!lift_above(known[4], known[2], s.with_wal, until)) return nothing;
                w.go_on_with({memory, claiming, known[2], until, limit(until), known[5]});
            }
        }
        return nothing;
    }

    // Each of the queries has its own snapshot.
    ledger::Claim draw_by_lease(Value draws, bool commits) {
        Known k = unpack(w.locals);
        switch (k.part) {
            case looking: {
                if (k.done == draws) {
                    if (commits) commit(k.last);
                    return nothing;
                }
                // Only for the properties: the code asks at each set-up.
                if (s.may_promote) k.in_recovery = w.load(as_cell(recovery_cell));
                if (s.commits) k.view = w.load(as_cell(view_cell));
                if (s.clock_has_time) k.since = w.tick().value;
                if (k.bound == 0) go_on(k, starting);
                if (k.standby != 0 && Steps::set_up_again_in_recovery) go_on(k, starting);
                const bool floor_was_lifted = header.revision.load() != k.revision;
                if (floor_was_lifted && Steps::set_up_again_after_floor) go_on(k, starting);
                go_on(k, drawing);
            }
            case starting:
            case entering:
            case binding:
                if (!set_up(k)) return nothing;
                if (k.part == binding) go_on(k, drawing);
                go_on(k, k.part == starting ? entering : binding);
            case drawing: {
                ledger::Lease l = k.lease();
                const bool same_view = k.noted_view == k.view;
                if (Steps::serves(
                        l, [&] { return w.tick().value; }, [&] { return same_view; })) {
                    l.used++;
                    Issued i = knowing(k);
                    i.tick = l.tick;
                    i.toggle = Steps::toggle_of(l, w);
                    i.first = l.next++;
                    k.set(l);
                    drew(k, i);
                }
                const std::uint32_t want = Steps::lease_size(l, same_view, s.lease_share * ledger::leases_per_tick);
                l.next = l.end;
                l.want = want;
                k.set(l);
                go_on(k, claiming);
            }
            case claiming: {
                ledger::Lease l = k.lease();
                const std::uint32_t want = l.want;
                const ledger::Claim c = claim(want, k.below);
                if (c.outcome == ledger::Outcome::ended) return c;
                if (c.outcome == ledger::Outcome::ceiling) {
                    k.wanted = c.tick;
                    go_on(k, raising);
                }
                if (c.outcome != ledger::Outcome::issued) {
                    if (++k.done == draws) return nothing;
                    go_on(k, claiming);
                }
                Issued i = knowing(k);
                static_cast<ledger::Claim&>(i) = c;
                i.count = 1;
                i.claimed = c.count;
                i.held_before = k.held != 0;
                Steps::begin_lease(l, c, want);
                k.held = c.standing.held;
                k.noted_view = k.view;
                k.set(l);
                drew(k, i);
            }
            case raising:
                if (!lift_above(k.wanted, k.life_id, s.with_wal && k.standby == 0, k.until)) return nothing;
                k.wanted = 0;
                k.below = limit(k.until);
                go_on(k, claiming);
        }
        return nothing;
    }

    // Nothing at or before `tick` is issued any more. Done: "ended", and marked as toggled.
    ledger::Claim floor(Value tick) {
        Known k = unpack(w.locals);
        if (k.part == looking) go_on(k, starting);
        if (k.part == raising) {
            if (!lift_above(tick + 1, k.life_id, s.with_wal, k.until)) return nothing;
            ledger::lift_slot(slot, tick, s.rules.has_toggle);
            header.revision.fetch_add(1);
            return {.outcome = ledger::Outcome::ended, .standing = {.toggled = true}, .tick = tick};
        }
        if (!set_up(k)) return nothing;
        go_on(k, k.part == starting ? entering : k.part == entering ? binding : raising);
    }

    ledger::Claim force(Value tick) {
        Known k = unpack(w.locals);
        if (k.part == looking) go_on(k, starting);
        if (k.part == raising) {
            const Ceiling ceiling = ceiling_at(std::max(w.tick().value + s.window, tick + 1));
            if (!w.lock()) return nothing;
            const auto put_back = [&](WatchedSlot& chosen, ledger::CeilingEntry& entry) {
                ledger::put_slot(chosen, tick, s.rules.has_toggle);
                ledger::set_entry(entry, chosen, ceiling);
            };
            const ledger::CeilingResult r = Steps::force(
                header, 1u, [&](std::uint32_t) -> WatchedSlot& { return slot; }, file, [](auto&) {}, put_back);
            Steps::unlock(w, r);
            header.revision.fetch_add(1);
            if (r.error != ledger::CeilingError::none) return nothing;
            return {.outcome = ledger::Outcome::ended, .standing = {.toggled = true}, .tick = tick};
        }
        if (!set_up(k)) return nothing;
        go_on(k, k.part == starting ? entering : k.part == entering ? binding : raising);
    }

private:
    static constexpr ledger::Claim nothing{.outcome = ledger::Outcome::before_epoch};

    static constexpr Value no_view = ~Value{0};
    enum Part : Value { looking, entering, binding, claiming, raising, starting, drawing };
    struct Known {
        Value memory, part, bound, life_id, until, below, revision, standby;
        Value done, in_recovery, view, noted_view, since, wanted, held, last;
        Value tick, toggle, next, end, want, used;

        ledger::Lease lease() const {
            return {.tick = tick,
                    .toggle = static_cast<std::uint32_t>(toggle),
                    .next = static_cast<std::uint32_t>(next),
                    .end = static_cast<std::uint32_t>(end),
                    .want = static_cast<std::uint32_t>(want),
                    .used = static_cast<std::uint32_t>(used)};
        }
        // All that is used up is one state.
        void set(const ledger::Lease& l) {
            const bool left = l.next < l.end;
            tick = left ? l.tick : 0;
            toggle = left ? l.toggle : 0;
            next = left ? l.next : 0;
            end = left ? l.end : 0;
            used = left ? l.used : 0;
            want = l.want;
        }
    };
    using Numbers = std::array<Value, sizeof(Known) / sizeof(Value)>;

    static Known unpack(const std::vector<Value>& locals) {
        Known k{};
        k.set({});
        k.noted_view = no_view;
        if (!locals.empty()) {
            Numbers n;
            std::copy(locals.begin(), locals.end(), n.begin());
            k = std::bit_cast<Known>(n);
        }
        return k;
    }
    [[noreturn]] void go_on(Known k, Part part) {
        k.memory = memory;
        k.part = part;
        const auto n = std::bit_cast<Numbers>(k);
        w.go_on_with({n.begin(), n.end()});
    }

    Issued knowing(const Known& k) const {
        Issued i;
        i.seen = k.view & 0xffffffff;
        i.since = k.since;
        i.in_recovery = k.in_recovery != 0;
        i.revision = k.revision;
        i.memory = memory;
        return i;
    }
    void issue(const ledger::Claim& c) {
        Issued i{c};
        i.memory = memory;
        w.issue(i);
    }
    [[noreturn]] void drew(Known& k, const Issued& i) {
        w.issue(i);
        if (s.commits) k.last = s.order(i.tick, i.first);
        k.done++;
        k.view = k.since = k.in_recovery = 0;
        go_on(k, looking);
    }
    void commit(Value last) {
        Value seen = w.load(as_cell(view_cell)), next;
        do {
            next = (seen >> 32) + 1;
            next = next << 32 | std::max(seen & 0xffffffff, last);
        } while (!w.swap(as_cell(view_cell), seen, next));
    }

    bool set_up(Known& k) {
        switch (k.part) {
            case starting:
                // First, so that a later floor or promotion is noticed.
                k.standby = s.may_promote ? w.load(as_cell(recovery_cell)) : 0;
                k.revision = header.revision.load();
                return begin_life();
            case entering:
                k.life_id = 0;
                k.until = s.last_time;
                if (s.with_wal && k.standby == 0) std::tie(k.life_id, k.until) = enter();
                return true;
            default:
                bind();
                k.below = limit(k.until);
                k.bound = 1;
                if (Steps::lease_ends_with_set_up) {
                    k.set({});
                    k.noted_view = no_view;
                }
                return true;
        }
    }

    // Saves states.
    void begin(WatchedSlot& lifted, Value tick, bool has_toggle) {
        if (s.with_begun)
            ledger::begin_slot(lifted, tick, has_toggle);
        else
            ledger::lift_slot(lifted, tick, has_toggle);
    }
    bool begin_life() {
        if (ledger::has_begun(header)) return true;
        if (!w.lock()) return false;
        const Value id = w.load(as_cell(ids_cell)) + 1;
        w.store(as_cell(ids_cell), id);
        const auto resume = [&](WatchedSlot& found, Floor at) { begin(found, tick_at(at), s.rules.has_toggle); };
        // Elsewhere the file is what this server left, and suffices.
        const Value at_least = s.may_lose_files ? w.tick().value + s.window : 0;
        const ledger::CeilingResult r = Steps::begin_life(
            header, 1u, [&](std::uint32_t) -> WatchedSlot& { return slot; }, resume, file, id, ceiling_at(at_least),
            s.second != 0 ? s.second : id);
        Steps::unlock(w, r);
        return r.error == ledger::CeilingError::none;
    }
    // The life's id, and until when ids may be issued.
    std::pair<Value, Value> enter() {
        const Value life_id = header.life_id.load();
        const Ceiling target = ceiling_at(w.tick().value + s.window);
        const Ceiling until = Steps::enter_database(wal, life_id, target, [&](Floor at) {
            ledger::lift_to(header.floor, at);
            if (slot.key.load() != 0) begin(slot, tick_at(at), s.rules.has_toggle);
            if (s.with_leases) header.revision.fetch_add(1);
        });
        return {life_id, tick_at(until)};
    }
    void bind() {
        Value key = slot.key.load();
        if (key == 0) slot.key.compare_exchange_strong(key, 1);
        if (const Floor at = header.floor.load(); at != Floor{}) {
            ledger::lift_unless_past(
                slot, tick_at(at), s.rules.has_toggle,
                [this](WatchedSlot& found, Value tick, bool toggle) { begin(found, tick, toggle); });
        }
    }
    Value limit(Value until) { return s.with_file ? std::min(tick_at(slot.ceiling.load()), until) : until; }
    ledger::Claim claim(std::uint32_t want, Value below) {
        return s.rules.has_toggle ? Steps::template claim<true>(slot, w.clock, want, s.rules, below)
                                  : Steps::template claim<false>(slot, w.clock, want, s.rules, below);
    }
    bool lift_above(Value tick, Value life_id, bool with_wal, Value& until) {
        const Value target = std::max(w.tick().value + s.window, tick + 1);
        if (s.with_file && tick >= tick_at(slot.ceiling.load())) {
            if (!w.lock()) return false;
            const ledger::CeilingResult r = Steps::lift_ceiling(header, slot, ceiling_at(target), file);
            Steps::unlock(w, r);
            s.fenced += r.error == ledger::CeilingError::superseded;
            if (r.error != ledger::CeilingError::none) return false;
        }
        if (with_wal && tick >= until)
            until = tick_at(Steps::lift_wal_above(wal, life_id, ceiling_at(tick), ceiling_at(target)));
        return true;
    }

    static Value known_memory(World& w, const Server& s, Value memory) {
        if (!w.locals.empty()) return w.locals[0];
        if (memory != Server::by_server) return memory;
        return s.two_lives ? w.load(as_cell(server_cell)) : 0;
    }

    World& w;
    const Server& s;
    const Value memory;
    WatchedSlot slot{w, of_memory(memory, key_cell)};
    WatchedHeader header{w, memory};
    WatchedFile file{&w};
    WatchedWal wal{&w};
};

}  // namespace snowflake_ids::test
