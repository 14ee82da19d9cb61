// Leases and one slot under every interleaving: with claims, commits and floors of others in
// between. An id is larger than all that its process could see when it drew, none comes twice,
// and after a floor has been lifted none comes at or below it. What a server has around a slot
// is in ledger_lease_lives_test.cpp.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "ledger/lease.hpp"
#include "ledger/life.hpp"
#include "support/ledger_explore.hpp"
#include "support/ledger_model.hpp"

namespace snowflake_ids::ledger {
namespace {

using namespace snowflake_ids::test;

constexpr Cell revision_cell = first_other_cell;
// What is committed: how many transactions << 32 | the largest of their ids.
constexpr auto committed_cell = static_cast<Cell>(first_other_cell + 1);

// What a lease can do wrong.
struct Careless {
    bool view = false;      // it outlives the snapshot
    bool revision = false;  // nobody looks whether a floor was lifted
};

struct Leases : Model {
    Rules rules{.min = 0, .max = 5, .max_tick = 3};
    std::vector<Value> clock{1, 2};
    std::uint32_t pool = 4 * largest_lease_share;  // as far as the size of leases goes
    Careless careless;
    bool floors = true;

    Leases() { initial.emplace_back(); }

    static Value order(Value tick, Value sequence) { return tick << 3 | sequence; }

    void ticks(const Global&, std::vector<Answer>& out) const override {
        for (const Value t : clock) out.push_back({t});
    }
    void monotonics(const Global& g, std::vector<Answer>& out) const override { out.push_back({g.monotonic}); }

    // `draws` queries of one client statement, each with a snapshot of its own; what the last
    // one drew is committed if `commits`.
    void process(Value draws, bool commits) {
        for (const auto& [same_draws, same_commits, operation] : known_) {
            if (same_draws != draws || same_commits != commits) continue;
            programs.push_back({operation});
            return;
        }
        known_.push_back({draws, commits, static_cast<unsigned>(operations.size())});
        programs.push_back({static_cast<unsigned>(operations.size())});
        operations.push_back([this, draws, commits](World& w) { return run(w, draws, commits); });
    }
    // Lifts a floor, as an observe does: the slot first, then the revision.
    void floor(Value tick) {
        programs.push_back({static_cast<unsigned>(operations.size())});
        operations.push_back([tick](World& w) {
            WatchedWord<> revision;
            revision.watch(w, revision_cell);
            lift_slot(w.slot, tick, false);
            revision.fetch_add(1);
            return Claim{.outcome = Outcome::ended, .tick = tick};
        });
    }

    Claim run(World& w, Value draws, bool commits) const {
        std::vector<Value> known = w.locals;
        // 1 or 2: which part; draws done, lease, its view, its revision, the last id
        if (known.empty()) known = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0};
        Lease l{.tick = known[2],
                .next = static_cast<std::uint32_t>(known[3]),
                .end = static_cast<std::uint32_t>(known[4]),
                .want = static_cast<std::uint32_t>(known[5]),
                .used = static_cast<std::uint32_t>(known[6])};
        const auto commit = [&] {
            Value seen = w.load(committed_cell), next;
            do {
                next = (seen >> 32) + 1;
                next = next << 32 | std::max(seen & 0xffffffff, known[9]);
            } while (!w.swap(committed_cell, seen, next));
        };
        if (known[1] == draws) {
            if (commits) commit();
            return {.outcome = Outcome::before_epoch};
        }
        const Value view = w.load(committed_cell), seen = view & 0xffffffff;
        const Value revision = !floors || careless.revision ? 0 : w.load(revision_cell);
        if (revision != known[8]) l = {};
        const bool same_view = careless.view || view == known[7];
        // Both that it returns and what an issue tells are for on_done().
        Claim c{.count = 1};
        c.wait = microseconds{seen};
        if (serves(
                l, [&] { return w.tick().value; }, [&] { return same_view; })) {
            l.used++;
            c.tick = l.tick;
            c.first = l.next++;
            w.issue(c);
        } else {
            const std::uint32_t want = lease_size(l, same_view, pool);
            const Claim drawn = claim<false>(w.slot, w.clock, want, rules);
            if (drawn.outcome == Outcome::issued) {
                begin_lease(l, drawn, want);
                c.tick = drawn.tick;
                c.first = drawn.first;
                w.issue(c);
            } else {
                l = {};
                c.first = 0;
            }
        }
        w.go_on_with({1, known[1] + 1, l.tick, l.next, l.end, l.want, l.used, view, revision, order(c.tick, c.first)});
    }

    Complaint on_done(Global& g, const Claim& c) override {
        if (c.outcome == Outcome::ended) {
            for (Value i = 0; i < order(c.tick + 1, 0); i++) g.ghost[0] |= Value{1} << i;
        }
        if (c.outcome != Outcome::issued) return nullptr;
        const Value id = order(c.tick, c.first);
        if (g.ghost[0] >> id & 1) return "issued twice, or below a floor";
        g.ghost[0] |= Value{1} << id;
        return id > static_cast<Value>(c.wait.count()) ? nullptr : "an id is not larger than one that was seen";
    }

private:
    struct Known {
        Value draws;
        bool commits;
        unsigned operation;
    };
    std::vector<Known> known_;
};

void expect_right(Model&& m) { test::expect_right(m); }

struct AgainstCommits : Leases {
    explicit AgainstCommits(Careless c = {}) {
        careless = c;
        floors = false;
        process(3, false);
        process(2, true);
    }
};
struct AgainstFloor : Leases {
    explicit AgainstFloor(Careless c = {}) {
        careless = c;
        process(3, false);
        floor(1);
    }
};

struct ThreeProcesses : Leases {
    ThreeProcesses() {
        floors = false;
        clock = {1};
        process(3, false);
        process(2, true);
        process(1, true);
    }
};

TEST(LedgerLeaseModel, ThreeProcesses) { expect_right(ThreeProcesses()); }
TEST(LedgerLeaseModel, Commits) { expect_right(AgainstCommits()); }
TEST(LedgerLeaseModel, Floor) { expect_right(AgainstFloor()); }

TEST(LedgerLeaseModel, FindsLeaseThatOutlivesItsView) {
    AgainstCommits m({.view = true});
    expect_found(m, "an id is not larger than one that was seen");
}
TEST(LedgerLeaseModel, FindsLeaseThatOutlivesAFloor) {
    AgainstFloor m({.revision = true});
    expect_found(m, "issued twice, or below a floor");
}

}  // namespace
}  // namespace snowflake_ids::ledger
