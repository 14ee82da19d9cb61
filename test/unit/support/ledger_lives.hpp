// A server for the explorer: one slot of its ledger, the shared words of the header, the
// ceiling file and the ceiling in WAL, and what can happen to them: any process dies anywhere,
// the server is killed and started again, the power fails, a standby takes over. The steps
// are the ledger's own templates; what pg/durability.cpp and pg/generator.cpp do between them
// is Session.
//
// A time is a tick here, in all units: ceilings and floors too.
#pragma once

#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "ledger/ceiling.hpp"
#include "ledger/claim.hpp"
#include "ledger/life.hpp"
#include "ledger/wal.hpp"
#include "support/ledger_model.hpp"

namespace snowflake_ids::test {

enum : unsigned {
    floor_cell = first_other_cell,
    started_cell,  // the life's key: its first word, and the two others
    rest_cell,
    life_id_cell,
    lives_cell,
    postmaster_cell,  // number of the life that really is: what a process knows from the kernel
    file_cell,        // the ceiling file as processes see it
    durable_cell,     // as it is on disk
    dirty_cell,       // written since the last sync, or since the kernel gave up on it
    wal_cell,         // the database's ceiling: time << 8 | life
    flushed_cell,     // as it was last flushed
    last_cell,
};
static_assert(last_cell <= model_cells);

inline Cell as_cell(unsigned c) { return static_cast<Cell>(c); }

struct WatchedHeader {
    WatchedWord floor_ms, lives, life_id, life_key[3];

    explicit WatchedHeader(Watcher& w) {
        floor_ms.watch(w, as_cell(floor_cell));
        lives.watch(w, as_cell(lives_cell));
        life_id.watch(w, as_cell(life_id_cell));
        life_key[0].watch(w, as_cell(started_cell));
        for (int i = 1; i < 3; i++) life_key[i].watch(w, as_cell(rest_cell));
    }
};

struct WatchedFile {
    using Ceilings = std::uint64_t[1];
    World* world;

    ledger::CeilingResult read(Ceilings& ms) const {
        ms[0] = world->load(as_cell(file_cell));
        return {};
    }
    ledger::CeilingResult write(std::uint32_t, std::uint64_t ms, bool sync) const {
        world->store(as_cell(file_cell), ms);
        return sync ? flush() : ledger::CeilingResult{};
    }
    ledger::CeilingResult write_all(const Ceilings& ms, bool sync) const { return write(0, ms[0], sync); }
    ledger::CeilingResult flush() const {
        if (world->sync(as_cell(file_cell))) return {};
        return {ledger::CeilingError::io, 5, 0};
    }
};

struct WatchedWal {
    World* world;

    static ledger::WalCeiling unpack(Value v) { return {static_cast<std::int64_t>(v >> 8), v & 0xff}; }

    ledger::WalCeiling read() const {
        const ledger::WalCeiling c = read_only();
        world->sync(as_cell(wal_cell));
        return c;
    }
    ledger::WalCeiling raise(const ledger::WalCeiling& wanted) const {
        const ledger::WalCeiling c = write_only(wanted);
        world->sync(as_cell(wal_cell));
        return c;
    }

    // Without the flush.
    ledger::WalCeiling read_only() const { return unpack(world->load(as_cell(wal_cell))); }
    // Under the buffer's lock: as good as a swap.
    ledger::WalCeiling write_only(const ledger::WalCeiling& wanted) const {
        Value seen = world->load(as_cell(wal_cell)), next;
        do {
            next = std::max(seen >> 8, static_cast<Value>(wanted.until_us)) << 8 | wanted.life_id;
        } while (!world->swap(as_cell(wal_cell), seen, next));
        return unpack(next);
    }
};

// The protocol's steps as they are, to be replaced one by one.
struct RightSteps {
    template <class H>
    static bool is_current(const H& header, const ledger::LifeKey& key) {
        return ledger::is_current(header, key);
    }
    template <class... Args>
    static ledger::CeilingResult begin_life(Args&&... args) {
        return ledger::begin_locked_life(std::forward<Args>(args)...);
    }
    template <class... Args>
    static ledger::CeilingResult raise_ceiling(Args&&... args) {
        return ledger::raise_locked_ceiling(std::forward<Args>(args)...);
    }
    template <class... Args>
    static std::int64_t enter_database(Args&&... args) {
        return ledger::enter_database(std::forward<Args>(args)...);
    }
    template <class... Args>
    static std::int64_t raise_wal_above(Args&&... args) {
        return ledger::raise_wal_above(std::forward<Args>(args)...);
    }
};

struct Lives : Model {
    static constexpr Value last_time = 15;

    Rules rules{.min = 0, .max = 1, .max_tick = 15};
    std::vector<Value> clock{1, 2};
    Value window = 1;
    Value last_monotonic = 0;
    bool with_file = true, with_wal = true;  // the ceilings that are kept
    bool may_restart = true, may_lose_power = false, may_fail_over = false;
    bool syncs_may_fail = false;
    Value most_events = 1;
    Global old{};  // what a power loss may take the mapped file back to

    enum : std::size_t { issued_ghost, events_ghost, tries_ghost };

    Lives() {
        operations.clear();
        max_history = 200;
    }

    static Value bit(Value tick, Value toggle, Value sequence) {
        return Value{1} << (tick << 2 | toggle << 1 | sequence);
    }

    // A process that comes, makes ready and draws; `draws` claims at most.
    template <class Steps = RightSteps>
    void sessions(std::initializer_list<std::size_t> of_processes, Value draws = 1) {
        operations.push_back([this, draws](World& w) { return run<Steps>(w, draws); });
        for (const std::size_t sessions : of_processes) programs.emplace_back(sessions, 0u);
    }

    // The parts of a session, and what each knows.
    enum Part : Value { entering = 1, binding, claiming, raising };

    template <class Steps>
    ledger::Claim run(World& w, Value draws) const {
        using namespace ledger;
        constexpr Claim nothing{.outcome = Outcome::before_epoch};
        WatchedHeader header(w);
        const WatchedFile file{&w};
        const WatchedWal wal{&w};
        const std::vector<Value>& known = w.locals;
        const auto limit = [&](Value until) { return with_file ? std::min(w.slot.ceiling.load(), until) : until; };

        if (known.empty()) {
            const LifeKey key{w.load(as_cell(postmaster_cell)), 1, 1};
            if (!Steps::is_current(header, key)) {
                if (!w.lock()) return nothing;
                const auto resume = [&](WatchedSlot& slot, Value tick) {
                    if (slot.key.load() != 0) raise_slot(slot, tick, rules.has_toggle);
                };
                const CeilingResult r = Steps::begin_life(
                    header, 1, [&](std::uint32_t) -> WatchedSlot& { return w.slot; }, resume, file, key, key.started,
                    true);
                w.unlock();
                if (r.error != CeilingError::none) return nothing;
            }
            w.go_on_with({entering});
        }
        switch (known[0]) {
            case entering: {
                if (!with_wal) w.go_on_with({binding, 0, last_time});
                const Value life_id = header.life_id.load();
                const auto target = static_cast<std::int64_t>(w.tick().value + window);
                const std::int64_t until = Steps::enter_database(wal, life_id, target, [&](std::int64_t us) {
                    const auto tick = static_cast<Value>(us);
                    raise_to(header.floor_ms, tick);
                    if (w.slot.key.load() != 0) raise_slot(w.slot, tick, rules.has_toggle);
                });
                w.go_on_with({binding, life_id, static_cast<Value>(until)});
            }
            case binding: {
                Value key = w.slot.key.load();
                if (key == 0) w.slot.key.compare_exchange_strong(key, 1);
                if (const Value floor = header.floor_ms.load()) apply_floor(w.slot, floor, rules.has_toggle);
                w.go_on_with({claiming, known[1], known[2], limit(known[2]), 0});
            }
            case claiming: {
                const Value below = known[3], done = known[4];
                if (done == draws) return nothing;
                const Claim c = rules.has_toggle ? claim<true>(w.slot, w.clock, 1, rules, below)
                                                 : claim<false>(w.slot, w.clock, 1, rules, below);
                if (c.outcome == Outcome::ended) return c;
                if (c.outcome == Outcome::issued) w.issue(c);
                if (c.outcome == Outcome::ceiling) w.go_on_with({raising, known[1], known[2], c.tick, done});
                w.go_on_with({claiming, known[1], known[2], below, done + 1});
            }
            case raising: {
                const Value tick = known[3], target = std::max(w.tick().value, tick) + window;
                if (with_file && tick >= w.slot.ceiling.load()) {
                    if (!w.lock()) return nothing;
                    const CeilingResult r = Steps::raise_ceiling(w.slot, 0u, target, true, file);
                    w.unlock();
                    if (r.error != CeilingError::none) return nothing;
                }
                auto until = static_cast<std::int64_t>(known[2]);
                const auto wanted = static_cast<std::int64_t>(tick);
                if (with_wal && wanted >= until) {
                    until = Steps::raise_wal_above(wal, known[1], wanted, static_cast<std::int64_t>(target));
                }
                const auto new_until = static_cast<Value>(until);
                w.go_on_with({claiming, known[1], new_until, limit(new_until), known[4]});
            }
        }
        return nothing;
    }

    // Whoever holds the lock is alone with what only its holders touch. A slot that has its key
    // keeps it. Of the life's key only the first word is looked at by chance: the others are
    // the same in all lives here.
    bool at_once(const Global& g, std::uint8_t p, const Request& r) const override {
        if (r.kind > Request::store) return false;
        if (r.cell == as_cell(rest_cell)) return true;
        if (r.cell == as_cell(started_cell) && r.kind == Request::load) return g.memory[lock_cell] == p + 1u;
        if (r.cell == as_cell(lives_cell)) return true;
        if (r.kind != Request::load) return false;
        if (r.cell == key_cell) return g.memory[key_cell] != 0;
        return g.memory[lock_cell] == p + 1u && (r.cell == as_cell(file_cell) || r.cell == ceiling_cell);
    }

    // A slot that exists, in a life that has begun, at a tick of a few ids below its ceilings.
    void start_in_life(Value tick) {
        start_new();
        Global& g = initial.back();
        g.memory[key_cell] = g.memory[started_cell] = g.memory[rest_cell] = 1;
        g.memory[life_id_cell] = g.memory[lives_cell] = 1;
        g.memory[word_cell] = tick << ledger::next_bits << rules.has_toggle;
        g.memory[ceiling_cell] = g.memory[file_cell] = g.memory[durable_cell] = with_file ? tick + 1 : 0;
        g.memory[wal_cell] = g.memory[flushed_cell] = with_wal ? (tick + 1) << 8 | 1 : 0;
        old = g;
    }
    void start_new() {
        Global g{};
        g.memory[postmaster_cell] = 1;
        initial.push_back(g);
        old = g;
    }

    void ticks(const Global&, std::vector<Answer>& out) const override {
        for (const Value t : clock) out.push_back({t});
    }
    void monotonics(const Global& g, std::vector<Answer>& out) const override {
        for (Value t = g.monotonic; t <= std::max(last_monotonic, g.monotonic); t++) out.push_back({t});
    }
    void sync(const Global& from, Cell cell, std::vector<std::pair<Answer, Global>>& out) const override {
        Global to = from;
        if (cell == as_cell(wal_cell)) {
            to.memory[flushed_cell] = from.memory[wal_cell];
            out.emplace_back(Answer{}, to);
            return;
        }
        // What the kernel gave up on is not written again.
        if (from.memory[dirty_cell] != 0) to.memory[durable_cell] = from.memory[file_cell];
        to.memory[dirty_cell] = 0;
        out.emplace_back(Answer{}, to);
        if (syncs_may_fail && from.memory[dirty_cell] != 0) {
            to = from;
            to.memory[dirty_cell] = 0;
            out.emplace_back(Answer{0, false}, to);
        }
    }
    Complaint on_access(const Global& from, Global& to, const Request& r, const Answer&) override {
        if (r.kind == Request::store && r.cell == as_cell(file_cell)) to.memory[dirty_cell] = 1;
        if (with_file && to.memory[ceiling_cell] > from.memory[ceiling_cell] &&
            to.memory[ceiling_cell] > to.memory[durable_cell]) {
            return "published a ceiling that is not durable";
        }
        if (to.memory[safe_cell] < from.memory[safe_cell]) return "safe went back";
        return nullptr;
    }
    Complaint on_done(Global& g, const ledger::Claim& c) override {
        if (c.outcome != ledger::Outcome::issued) return nullptr;
        const Value id = bit(c.tick, c.toggle, c.first);
        if (g.ghost[issued_ghost] & id) return "issued twice";
        g.ghost[issued_ghost] |= id;
        if (with_file && c.tick >= g.memory[durable_cell]) return "issued beyond the durable ceiling";
        if (with_wal && c.tick >= g.memory[flushed_cell] >> 8) return "issued beyond the flushed ceiling";
        return nullptr;
    }

    void events(const Global& from, std::vector<Global>& out) const override {
        if (from.ghost[events_ghost] >= most_events) return;
        // WAL that was written and not flushed may have reached the disk all the same.
        for (const Value wal : std::set<Value>{from.memory[wal_cell], from.memory[flushed_cell]}) {
            Global g = from;
            g.ghost[events_ghost]++;
            g.memory[postmaster_cell]++;
            g.memory[wal_cell] = g.memory[flushed_cell] = wal;
            if (may_restart) out.push_back(g);
            if (may_lose_power) lose_power(g, out);
            if (may_fail_over) {
                Global other = old;
                std::copy(from.process, from.process + model_processes, other.process);
                std::copy(g.ghost, g.ghost + model_ghosts, other.ghost);
                other.memory[postmaster_cell] = g.memory[postmaster_cell];
                other.memory[wal_cell] = other.memory[flushed_cell] = from.memory[flushed_cell];
                out.push_back(other);
            }
        }
    }
    // Of the mapped file each page may be as new as it was or as it once was; so may a word of
    // the ceiling file that was not synced. The monotonic clock starts again.
    void lose_power(const Global& from, std::vector<Global>& out) const {
        for (int stale = 0; stale < 4; stale++) {
            for (const Value file : std::set<Value>{from.memory[file_cell], from.memory[durable_cell]}) {
                Global g = from;
                g.memory[file_cell] = g.memory[durable_cell] = file;
                g.memory[dirty_cell] = 0;
                g.monotonic = 0;
                for (unsigned c = 0; c < postmaster_cell; c++) {
                    if (stale & (c < cell_count ? 1 : 2)) g.memory[c] = old.memory[c];
                }
                out.push_back(g);
            }
        }
    }

    // Whenever everybody has gone, the next one can draw, though his clock stands still behind
    // the last id.
    Complaint always(const Global& g) override {
        for (std::size_t p = 0; p < programs.size(); p++) {
            if (g.process[p].operation < programs[p].size()) return nullptr;
        }
        if (g.memory[lock_cell] != 0) return "the lock was left behind";
        if (!seen_.insert({std::begin(g.memory), std::end(g.memory)}).second) return nullptr;
        // Ahead of all; behind, or in a tick that is used up if that is the first.
        return alone(g, 13) && (alone(g, 0) || alone(g, 1)) ? nullptr : "nobody can go on from here";
    }
    bool alone(Global g, Value now) const {
        std::vector<Answer> history;
        std::vector<Value> locals;
        for (int steps = 0; steps < 1000; steps++) {
            World world(history, locals);
            try {
                run<RightSteps>(world, 6);
                return false;
            } catch (const World::Stopped&) {}
            if (!world.next_locals.empty()) {
                locals = world.next_locals;
                history.clear();
                continue;
            }
            const Request& r = world.pending;
            Value& cell = g.memory[r.cell];
            Answer a;
            switch (r.kind) {
                case Request::issue:
                    return true;
                case Request::load:
                    a.value = cell;
                    break;
                case Request::swap:
                    a = cell == r.expected ? Answer{} : Answer{cell, false};
                    if (a.ok) cell = r.desired;
                    break;
                case Request::store:
                    cell = r.desired;
                    break;
                case Request::tick:
                    a.value = now;
                    break;
                case Request::monotonic:
                    a.value = g.monotonic++;
                    break;
                case Request::lock:
                case Request::sync:
                    break;
            }
            history.push_back(a);
        }
        return false;
    }

private:
    std::set<Values, ValuesOrder> seen_;
};

}  // namespace snowflake_ids::test
