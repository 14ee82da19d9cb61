// For the explorer: sessions and servers, what can happen to them (crashes, new lives, lost power or files, a
// failover), and what must hold.
#pragma once

#include <functional>
#include <set>
#include <utility>

#include "explorers/session.hpp"

namespace snowflake_ids::test {

struct Lives : Model, Server {
    std::vector<Value> clock{1, 2};
    Value last_monotonic = 0;
    bool may_restart = true, may_lose_power = false, may_fail_over = false;
    bool may_lose_files_in_life = false;  // its processes continue
    bool may_leave_orphans = false;       // processes of the last life continue
    bool syncs_may_fail = false;
    Value most_events = 1;
    unsigned sequence_bits = 1;  // so many ids of each tick are remembered: 2^sequence_bits
    std::size_t served = 0;      // ids from leases
    Global old{};                // the file that may replace the present one; what a standby has

    enum : std::size_t { issued_ghost, events_ghost, floor_ghost, clock_ghost };

    Lives() {
        operations.clear();
        max_history = 200;
    }

    // Processes that make ready and draw again and again; `draws` claims at most.
    template <class Steps = RightSteps>
    void sessions(std::initializer_list<std::size_t> of_processes, Value draws = 1, Value memory = by_server) {
        processes(of_processes, [=, this](World& w) { return Session<Steps>(w, *this, memory).draw(draws, false); });
        if (newcomer_ == nullptr) newcomer_ = [this](World& w) { return Session<Steps>(w, *this).draw(6, false); };
    }
    // The same with leases; the last id is committed if `commits`.
    template <class Steps = RightSteps>
    void lease_sessions(std::initializer_list<std::size_t> of_processes, Value draws, bool commits = false) {
        with_leases = true;
        this->commits |= commits;
        processes(of_processes,
                  [this, draws, commits](World& w) { return Session<Steps>(w, *this).draw(draws, commits); });
        if (newcomer_ == nullptr) {
            newcomer_ = [this](World& w) { return Session<Steps>(w, *this).draw(6, false); };
        }
    }
    void floor_session(Value tick) {
        processes({1}, [this, tick](World& w) { return Session<RightSteps>(w, *this).floor(tick); });
    }

    // Which ids a forced reset lets repeat is not checked here.
    template <class Steps = RightSteps>
    void operator_session(Value tick) {
        processes({1}, [this, tick](World& w) { return Session<Steps>(w, *this).force(tick); });
    }

    // Only its holder touches what the lock protects, nor does anybody else touch memory before a life has begun. Keys
    // of slots and lives of memories do not change.
    bool at_once(const Global& g, std::uint8_t p, const Request& r) const override {
        if (r.kind > Request::store) return false;
        const bool holds_lock = g.memory[lock_cell] == p + 1u;
        if (r.cell == as_cell(ids_cell)) return true;
        if (r.kind == Request::store && (r.cell == as_cell(life_cell) || r.cell == as_cell(entry_cell)))
            return g.memory[r.cell] == r.desired;
        if (const unsigned at = r.cell; at < server_cell) {
            const unsigned cell = at % memory_cells;
            if (cell == life_number_cell) return holds_lock;
            if (cell == key_cell && r.kind == Request::store) return holds_lock;
            if (r.kind != Request::load) return false;
            if (cell == key_cell || cell == life_id_cell) return holds_lock || g.memory[r.cell] != 0;
            return cell == ceiling_cell && holds_lock;
        }
        return r.kind == Request::load && holds_lock && (r.cell == as_cell(life_cell) || r.cell == as_cell(entry_cell));
    }

    void start_in_life(Value tick, Value life = 1) {
        start_new();
        Global& g = initial.back();
        g.memory[key_cell] = 1;
        g.memory[life_id_cell] = g.memory[life_number_cell] = g.memory[ids_cell] = life;
        g.memory[word_cell] = tick << ledger::next_bits << rules.has_toggle;
        g.memory[life_cell] = g.memory[durable_life_cell] = life << 8 | life;
        g.memory[ceiling_cell] = g.memory[entry_cell] = g.memory[durable_entry_cell] = with_file ? tick + 1 : 0;
        g.memory[wal_cell] = g.memory[flushed_cell] = with_wal ? (tick + 1) << 8 | life : 0;
        old = g;
    }
    void start_new() { initial.push_back(old = Global{}); }

    // The life began in recovery. Then the primary used up all ids below the ceiling, which was replayed.
    void start_promoted(Value tick, Value ceiling) {
        start_in_life(tick);
        Global& g = initial.back();
        g.memory[wal_cell] = g.memory[flushed_cell] = ceiling << 8 | 0xff;
        g.ghost[issued_ghost] = (Value{1} << (ceiling << sequence_bits)) - 1;
        old = g;
    }

    bool clock_has_state() const override { return clock_has_time; }
    void ticks(const Global& g, std::vector<Answer>& out) const override {
        for (const Value t : clock) {
            if (!clock_has_time || t >= g.ghost[clock_ghost]) out.push_back({t});
        }
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
        // The kernel does not write again what it gave up on.
        if (from.memory[dirty_cell] != 0) {
            to.memory[durable_life_cell] = from.memory[life_cell];
            to.memory[durable_entry_cell] = from.memory[entry_cell];
        }
        to.memory[dirty_cell] = 0;
        out.emplace_back(Answer{}, to);
        if (syncs_may_fail && from.memory[dirty_cell] != 0) {
            to = from;
            to.memory[dirty_cell] = 0;
            out.emplace_back(Answer{0, false}, to);
        }
    }
    Complaint on_access(const Global& from, Global& to, const Request& r, const Answer& a) override {
        if (r.kind == Request::tick && clock_has_time) to.ghost[clock_ghost] = a.value;
        if (r.kind == Request::store && (r.cell == as_cell(life_cell) || r.cell == as_cell(entry_cell)))
            to.memory[dirty_cell] = 1;
        for (const Value memory : {0, 1}) {
            const Cell ceiling = of_memory(memory, ceiling_cell), safe = of_memory(memory, safe_cell);
            if (looks_at_file() && to.memory[ceiling] > to.memory[durable_entry_cell])
                return "published a ceiling that is not durable";
            if (looks_at_file() && to.memory[ceiling] > to.memory[entry_cell])
                return "published a ceiling beyond the one in the file";
            if (to.memory[safe] < from.memory[safe]) return "safe went back";
        }
        return nullptr;
    }
    Complaint on_done(Global& g, const ledger::Claim& c) override {
        if (c.outcome == ledger::Outcome::ended && c.standing.toggled) {
            g.ghost[floor_ghost] = std::max(g.ghost[floor_ghost], c.tick + 1);
        }
        return nullptr;
    }
    Complaint on_issue(Global& g, const IssuedClaim& i) override {
        const Value place = (i.tick << rules.has_toggle | i.toggle) << sequence_bits | i.first;
        if (i.claimed == 0) served++;
        if (i.first > rules.max || i.first >> sequence_bits != 0) return "issued beyond the bounds";
        if (place >= 64) return "an id that the model has no place for";
        if (g.ghost[issued_ghost] >> place & 1) return "issued twice";
        g.ghost[issued_ghost] |= Value{1} << place;
        if (i.tick < g.ghost[floor_ghost]) return "issued at or below a floor";
        if (looks_at_file() && i.tick >= g.memory[durable_entry_cell]) return "issued beyond the durable ceiling";
        if (with_wal && i.tick >= g.memory[flushed_cell] >> 8) return "issued beyond the flushed ceiling";
        if (i.tick < i.since) return "an id is older than the call that drew it";
        if (!rules.has_toggle && order(i.tick, i.first) <= i.seen) return "an id is not larger than one that was seen";
        if (i.standing.held && i.held_before && i.claimed > 1) {
            return "more than one number was claimed while the clock was behind";
        }
        if (i.claimed > std::max(lease_share, 1u)) return "a lease is larger than its part of the pool";
        return nullptr;
    }

    // Where the file may sink under a life, what is published is no more than what the life once wrote.
    bool looks_at_file() const { return with_file && !may_lose_files_in_life && !(two_lives && may_lose_files); }

    void events(const Global& from, std::vector<Global>& out) const override {
        if (from.ghost[events_ghost] >= most_events) return;
        // Unflushed WAL may have reached the disk.
        for (const Value wal : std::set<Value>{from.memory[wal_cell], from.memory[flushed_cell]}) {
            Global g = from;
            g.ghost[events_ghost]++;
            std::fill(g.memory, g.memory + server_cell + 1, 0);
            g.memory[wal_cell] = g.memory[flushed_cell] = wal;
            if (may_restart) out.push_back(g);
            if (may_lose_power) lose_power(g, out);
            if (may_lose_files) lose_files(g, out);
            if (may_fail_over) {
                put_file(g, old.memory[life_cell], old.memory[entry_cell]);
                g.memory[wal_cell] = g.memory[flushed_cell] = from.memory[flushed_cell];
                g.ghost[clock_ghost] = 0;
                out.push_back(g);
            }
        }
    }
    static void put_file(Global& g, Value life, Value entry) {
        g.memory[life_cell] = g.memory[durable_life_cell] = life;
        g.memory[entry_cell] = g.memory[durable_entry_cell] = entry;
        g.memory[dirty_cell] = 0;
    }
    // An unsynced sector may be old or new. The monotonic clock starts again.
    static void lose_power(const Global& from, std::vector<Global>& out) {
        for (const Value life : std::set<Value>{from.memory[life_cell], from.memory[durable_life_cell]}) {
            for (const Value entry : std::set<Value>{from.memory[entry_cell], from.memory[durable_entry_cell]}) {
                Global g = from;
                put_file(g, life, entry);
                g.monotonic = 0;
                out.push_back(g);
            }
        }
    }
    void lose_files(const Global& from, std::vector<Global>& out) const {
        for (const bool gone : {false, true}) {
            out.push_back(from);
            put_file(out.back(), gone ? 0 : old.memory[life_cell], gone ? 0 : old.memory[entry_cell]);
        }
    }

    void changes(const Global& from, std::vector<Global>& out) const override {
        Global g = from;
        if (from.ghost[events_ghost] >= most_events) return;
        g.ghost[events_ghost]++;
        if (may_lose_files_in_life) lose_files(g, out);
        if (!may_leave_orphans || from.memory[server_cell] != 0) return;
        g.memory[server_cell] = 1;
        out.push_back(g);
        if (may_lose_files) lose_files(g, out);
    }

    // When all processes are gone, the next one can draw, although its clock is behind.
    Complaint always(const Global& g) override {
        for (std::size_t p = 0; p < programs.size(); p++) {
            if (g.process[p].operation < programs[p].size()) return nullptr;
        }
        if (g.memory[lock_cell] != 0) return "the lock was left behind";
        if (!seen_.insert({std::begin(g.memory), std::end(g.memory)}).second) return nullptr;
        if (can_go_on(g)) return nullptr;
        // Of two lives the later one counts. A process whose life began before its server went away blocks nobody.
        const auto life = [&](Value memory) {
            return g.memory[of_memory(memory, life_id_cell)] != 0 ? g.memory[of_memory(memory, life_number_cell)] : 0;
        };
        const Value server = g.memory[server_cell], of_server = life(server), of_other = life(server ^ 1);
        const bool newest = of_other != 0 && (of_server == 0 || of_server > of_other);
        Global other = g;
        other.memory[server_cell] ^= 1;
        return two_lives && !newest && can_go_on(other) ? nullptr : "nobody can go on from here";
    }
    // Ahead of all; behind, or in a tick that is used up if that is the first.
    bool can_go_on(const Global& g) const { return alone(g, 12) && (alone(g, 0) || alone(g, 1)); }
    bool alone(Global g, Value now) const {
        std::vector<Answer> history;
        std::vector<Value> locals;
        for (int steps = 0; steps < 1000; steps++) {
            World world(history, locals);
            try {
                newcomer_(world);
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
    void processes(std::initializer_list<std::size_t> of_processes, Operation operation) {
        for (const std::size_t sessions : of_processes) {
            programs.emplace_back(sessions, static_cast<unsigned>(operations.size()));
        }
        operations.push_back(std::move(operation));
    }

    Operation newcomer_;  // comes when all others are gone
    std::set<Values, ValuesOrder> seen_;
};

// ---- what the explorers of lives begin with

struct File : Lives {
    File() { with_wal = false; }
};
struct PowerLoss : File {
    PowerLoss() { may_lose_power = true; }
};
// A life finds old files. The clock does not go back.
struct LostFiles : File {
    LostFiles() {
        may_restart = false;
        may_lose_files = true;
        clock_has_time = true;
        clock = {1, 2, 3};
    }
};
struct Failover : Lives {
    Failover() {
        with_file = false;
        may_fail_over = true;
    }
};
template <class M>
struct Sno : M {
    Sno() { this->rules.has_toggle = true; }
};

}  // namespace snowflake_ids::test
