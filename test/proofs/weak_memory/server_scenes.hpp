// A server and its sessions: lives, ceilings, leases, forced resets, and another server that takes over.
#pragma once

#include "ledger/lease.hpp"
#include "memory.hpp"

namespace snowflake_ids::weak_memory {

// Two slots, their file, and sessions. What a session does outside of src/ledger is repeated here with its orders and
// function names.
struct Server {
    static constexpr unsigned slots = 2;
    static constexpr Rules rules{.max = 1, .max_tick = 7};

    Header header;
    Slot slot[slots];
    File::Content disk;
    File file{&disk};
    rl::mutex file_lock;
    Ids ids[slots];

    auto at() {
        return [this](std::uint32_t i) -> Slot& { return slot[i]; };
    }
    void live(Value ceiling) {
        header.life_id.begin("life_id", 9);
        header.life_number.begin("life_number", 1);
        disk.life = {1, 9};
        for (unsigned i = 0; i < slots; i++) {
            slot[i].key.begin("key", i + 1);
            slot[i].ceiling.begin("ceiling", ceiling_at(ceiling));
            disk.entries[i] = {i + 1, 0, ceiling_at(ceiling)};
        }
    }
    void lift(unsigned i, Ceiling least) {
        const Held held(file_lock);
        if (slot[i].ceiling.load() >= least) return;
        const auto wanted = [&](std::uint32_t j) { return j == i ? least : Ceiling{}; };
        (void) ledger::lift_locked_ceilings(header, slots, at(), file, wanted);
    }
    void issue(unsigned i, const ledger::Claim& c) {
        require(c.outcome != ledger::Outcome::issued || c.tick < tick_at(disk.entries[i].ceiling),
                "issued above the ceiling on disk");
        ids[i].issue(c, rules);
    }
};

struct Session {
    Server& server;
    Clock clock{3, 6};
    Slot* slot = nullptr;
    unsigned index = 0;
    Value revision = ~Value{0}, limit = 0;

    void begin_life() {
        if (ledger::has_begun(server.header)) return;
        const Held held(server.file_lock);
        const auto resume = [](Slot& s, Floor floor) { ledger::begin_slot(s, tick_at(floor), false); };
        (void) ledger::begin_locked_life(server.header, Server::slots, server.at(), resume, server.file, 9,
                                         ceiling_at(1), 0);
    }
    bool stale() const { return revision != server.header.revision.load(std::memory_order_relaxed); }
    void set_up(unsigned i) {
        revision = server.header.revision.load();
        begin_life();
        index = i;
        slot = &server.slot[i];
        require(slot->key.load() != 0, "a generator of the file has no slot");
        set_limit();
    }
    void set_limit() { limit = tick_at(slot->ceiling.load()); }
    void draw() {
        ledger::Claim c = claim(*slot, clock, 1, Server::rules, limit);
        if (c.outcome == ledger::Outcome::ceiling) {
            server.lift(index, ceiling_at(c.tick + 1));
            set_limit();
            c = claim(*slot, clock, 1, Server::rules, limit);
        }
        server.issue(index, c);
    }
};

// Who finds the life begun must find all that it has set.
struct LifeBegins : rl::test_suite<LifeBegins, 3>, Server {
    static constexpr const char* name = "a life begins";

    void before() {
        disk.life = {1, 5};
        disk.floor = ceiling_at(2);
        for (unsigned i = 0; i < slots; i++) {
            disk.entries[i] = {i + 1, i, ceiling_at(3)};
            ids[i].cover(2);
        }
    }
    void thread(unsigned i) {
        const bool late = i != 0 && pick(2) == 0;
        while (late && header.life_id.last() == 0) pause();
        Session s{*this};
        s.clock.low = 2;
        s.set_up(i / 2);
        require(slot[i / 2].packed_layout.load() == i / 2, "a slot without its packed layout");
        require(header.reset_floor.load() == ceiling_at(2), "a header without its floor");
        require(header.floor.load() == ceiling_at(2), "a life without its floor");
        const ledger::Life life = ledger::life_of(header);
        require(life.number == 2 && life.id == 9, "a life without its number");
        s.draw();
        s.draw();
    }
};

struct Ceilings : rl::test_suite<Ceilings, 3>, Server {
    static constexpr const char* name = "ceilings";

    void before() { live(4); }
    void thread(unsigned i) {
        Session s{*this};
        s.set_up(i / 2);
        s.draw();
        s.draw();
    }
};

// Who is set up after it must not keep the old ceiling.
struct ForcedReset : rl::test_suite<ForcedReset, 3>, Server {
    static constexpr const char* name = "forced reset";
    bool done = false;

    void before() { live(7); }
    void thread(unsigned i) {
        if (i == 0) {
            const Held held(file_lock);
            const auto change = [](File::Content&) {};
            const auto put_back = [](Slot& s, ledger::CeilingEntry& entry) {
                ledger::put_slot(s, 1, false);
                ledger::set_entry(entry, s, ceiling_at(5));
            };
            (void) ledger::run_locked_reset(header, slots, at(), file, change, put_back);
            header.revision.fetch_add(1);
            done = true;
            return;
        }
        Session s{*this};
        s.clock.low = 2;
        for (int n = 0; n < 2; n++) {
            const bool counts = done;
            if (s.stale()) s.set_up(0);
            require(s.revision == 0 || s.limit <= 5, "an old ceiling under the new revision");
            if (counts && s.revision == 2) s.draw();
        }
    }
};

// A statement that has seen another session's id draws a larger one, also from a lease: the other one lifted the slot,
// then the revision, then it committed.
struct Leases : rl::test_suite<Leases, 2>, Server {
    static constexpr const char* name = "lease";
    rl::mutex commits;
    bool committed = false;

    void before() { live(7); }
    void thread(unsigned i) {
        if (i == 0) {
            ledger::lift_slot(slot[0], 4, false);
            header.revision.fetch_add(1);
            const Held held(commits);
            committed = true;
            return;
        }
        Session s{*this};
        s.clock = {3, 3};
        s.set_up(0);
        const ledger::Claim c = claim(slot[0], s.clock, 2, rules, s.limit);
        ledger::Lease lease;
        if (c.outcome == ledger::Outcome::issued) ledger::begin_lease(lease, c, 2);
        bool seen;
        {
            const Held held(commits);
            seen = committed;
        }
        const auto now = [] { return Value{3}; };
        const auto same_view = [] { return true; };
        if (!s.stale()) {
            require(!seen || !ledger::serves(lease, now, same_view), "a lease has outlived a floor that was seen");
            return;
        }
        s.set_up(0);
        const ledger::Claim next = claim(slot[0], s.clock, 1, rules, s.limit);
        require(next.outcome != ledger::Outcome::issued || next.tick > 3 || !seen, "an id below one that was seen");
    }
};

// Another server takes over the directory while this one's sessions are there. What they issue is below the ceilings in
// the file, which they do not write any more.
struct Superseded : rl::test_suite<Superseded, 3>, Server {
    static constexpr const char* name = "superseded";
    bool begins = false, taken_over = false;

    void before() {
        begins = pick(2) == 0;
        if (!begins) return live(4);
        disk.life = {1, 5};
        for (unsigned i = 0; i < slots; i++) {
            disk.entries[i] = {i + 1, 0, ceiling_at(3)};
            ids[i].cover(2);
        }
    }
    void thread(unsigned i) {
        if (i == 0) {
            Server other;
            other.file.disk = &disk;
            const auto resume = [](Slot&, Floor) {};
            const Held held(file_lock);
            const Value number = disk.life.number;
            (void) ledger::begin_locked_life(other.header, slots, other.at(), resume, file, 77, ceiling_at(1), 0);
            require(disk.life == ledger::Life{number + 1, 77}, "a life that has not taken over");
            taken_over = true;
            for (unsigned n = 0; n < slots; n++) ids[n].bits |= ~(Ids::bit(tick_at(disk.entries[n].ceiling), 0, 0) - 1);
            return;
        }
        Session s{*this};
        s.clock.low = 2;
        // It asks under the lock of the file whether the server runs.
        if (begins && !ledger::has_begun(header)) {
            const Held held(file_lock);
            if (taken_over) return;
            const auto resume = [](Slot& slot, Floor floor) { ledger::begin_slot(slot, tick_at(floor), false); };
            (void) ledger::begin_locked_life(header, slots, at(), resume, file, 9, ceiling_at(1), 0);
        }
        s.set_up(i - 1);
        for (unsigned n = 0; n < 2; n++) {
            s.draw();
            require(!taken_over || disk.life.id == 77, "a life that is over has written the file");
        }
    }
};

}  // namespace snowflake_ids::weak_memory
