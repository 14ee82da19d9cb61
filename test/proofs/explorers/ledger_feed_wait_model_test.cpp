// feed_wait.hpp under every interleaving: at rest, no reader has a count that still holds although a row is committed
// that it has not read, and none sleeps before such a row unless it was woken.
#include <gtest/gtest.h>

#include <vector>

#include "explorers/expectations.hpp"
#include "ledger/feed_wait.hpp"

namespace snowflake_ids::ledger {
namespace {

using namespace snowflake_ids::test;

constexpr unsigned readers = 2;
enum : unsigned {
    count_cell = cell_count,
    waiters_cell,    // a bit for each reader
    woken_cell,      // also
    committed_cell,  // a bit for each transaction
    end_cell
};
static_assert(unsigned{end_cell} <= unsigned{lock_cell});

Cell as_cell(unsigned c) { return static_cast<Cell>(c); }

void set(WatchedWord<>& word, Value bits) {
    Value seen = word.load();
    while (!word.compare_exchange_strong(seen, seen | bits)) {}
}

struct ModelGroup {
    WatchedWord<> count, waiters;
};

struct Memory {
    ModelGroup group;
    WatchedWord<> woken, committed;

    explicit Memory(World& w) {
        group.count.watch(w, as_cell(count_cell));
        group.waiters.watch(w, as_cell(waiters_cell));
        woken.watch(w, as_cell(woken_cell));
        committed.watch(w, as_cell(committed_cell));
    }
    // The list is PostgreSQL's, under its lock, so each of these is one step.
    void wake() {
        Value seen = group.waiters.load();
        while (!group.waiters.compare_exchange_strong(seen, 0)) {}
        if (seen != 0) set(woken, seen);
    }
    void leave(Value reader) {
        Value seen = group.waiters.load();
        while (!group.waiters.compare_exchange_strong(seen, seen & ~reader)) {}
    }
};

// ---- the steps, to be replaced one by one ----

struct Right {
    static constexpr bool visible_first = true, looks_again = true, count_first = true;
    static void count_and_wake(Memory& m) {
        ledger::count_and_wake(m.group, [&m](auto&) { m.wake(); });
    }
};

struct Waiting : Model {
    enum : unsigned { ended_ghost, flags_ghost, count_ghost };
    enum : std::uint32_t { asleep = 1, flag_bits = 8 };
    static constexpr Complaint missed = "a wake-up was missed", holds = "a count holds beside a row";

    Waiting() {
        crashes = false;
        max_history = 200;
        initial.push_back(Global{});
    }
    void ticks(const Global&, std::vector<Answer>& out) const override { out.push_back({0}); }
    Complaint on_done(Global& g, const Claim& c) override {
        g.ghost[ended_ghost]++;
        if (c.first == 0) return nullptr;
        const unsigned reader = c.first >> 2 * flag_bits;
        g.ghost[count_ghost + reader] = c.tick;
        g.ghost[flags_ghost] |= Value{c.first & ((1u << 2 * flag_bits) - 1)} << 2 * flag_bits * reader;
        return nullptr;
    }
    Complaint always(const Global& g) override {
        std::size_t operations_in_all = 0;
        for (const auto& p : programs) operations_in_all += p.size();
        if (g.ghost[ended_ghost] < operations_in_all) return nullptr;
        for (unsigned i = 0; i < readers; i++) {
            const Value flags = g.ghost[flags_ghost] >> 2 * flag_bits * i;
            const Value read = flags >> flag_bits & 0xff;
            if (read == 0 || (g.memory[committed_cell] & ~read) == 0) continue;
            if (g.ghost[count_ghost + i] == g.memory[count_cell]) return holds;
            if ((flags & asleep) != 0 && (g.memory[woken_cell] >> i & 1) == 0) return missed;
        }
        return nullptr;
    }
};

template <class Steps>
struct Commits {
    Value x;

    Claim operator()(World& w) const {
        Memory m(w);
        if (!Steps::visible_first) Steps::count_and_wake(m);
        set(m.committed, Value{1} << x);
        if (Steps::visible_first) Steps::count_and_wake(m);
        return {};
    }
};

// Reads as often as it may, and sleeps when the count still holds.
template <class Steps>
struct Reader {
    unsigned index = 0;
    int reads = 2;

    Claim operator()(World& w) const {
        Memory m(w);
        const Value self = Value{1} << index;
        Value read = 1;
        const auto polls = [&] { read = m.committed.load() | 1; };  // bit 0: it has read
        Value count = ~Value{0};
        std::uint32_t flags = 0;
        for (int i = 0; i < reads; i++) {
            Value now = m.group.count.load();
            if (now == count) {
                set(m.group.waiters, self);
                if (Steps::looks_again) now = m.group.count.load();
                if (now == count) {
                    flags = Waiting::asleep;
                    break;
                }
                m.leave(self);
            }
            if (Steps::count_first) count = now;
            polls();
            if (!Steps::count_first) count = m.group.count.load();
        }
        Claim c{};
        c.tick = count;
        c.first = index << 2 * Waiting::flag_bits | static_cast<std::uint32_t>(read) << Waiting::flag_bits | flags;
        return c;
    }
};

template <class Steps>
struct OneWriter : Waiting {
    OneWriter() {
        program({Commits<Steps>{1}});
        program({Reader<Steps>{0, 3}});
    }
};
template <class Steps>
struct TwoWriters : Waiting {
    TwoWriters() {
        program({Commits<Steps>{1}});
        program({Commits<Steps>{2}});
        program({Reader<Steps>{0, 3}});
    }
};
template <class Steps>
struct TwoReaders : Waiting {
    TwoReaders() {
        program({Commits<Steps>{1}});
        program({Reader<Steps>{0, 3}});
        program({Reader<Steps>{1, 2}});
    }
};
TEST(LedgerFeedWaitModel, OneWriter) {
    OneWriter<Right> m;
    expect_right(m);
}
TEST(LedgerFeedWaitModel, TwoWriters) {
    TwoWriters<Right> m;
    expect_right(m);
}
TEST(LedgerFeedWaitModel, TwoReaders) {
    TwoReaders<Right> m;
    expect_right(m);
}
// ---- wrong ones ----

template <template <class> class M, class Steps>
void expect_complaint(Complaint complaint) {
    M<Steps> m;
    expect_found(m, complaint);
}

struct CountsFirst : Right {
    static constexpr bool visible_first = false;
};
TEST(LedgerFeedWaitWrong, CountsBeforeTheRowIsVisible) { expect_complaint<OneWriter, CountsFirst>(Waiting::holds); }

struct WakesFirst : Right {
    static void count_and_wake(Memory& m) {
        m.wake();
        ledger::count_and_wake(m.group, [](auto&) {});
    }
};
TEST(LedgerFeedWaitWrong, WakesBeforeTheCount) { expect_complaint<OneWriter, WakesFirst>(Waiting::missed); }

struct LooksOnce : Right {
    static constexpr bool looks_again = false;
};
TEST(LedgerFeedWaitWrong, DoesNotLookAgainInTheList) { expect_complaint<OneWriter, LooksOnce>(Waiting::missed); }

struct ReadsFirst : Right {
    static constexpr bool count_first = false;
};
TEST(LedgerFeedWaitWrong, ReadsBeforeItHasTheCount) { expect_complaint<OneWriter, ReadsFirst>(Waiting::holds); }

}  // namespace
}  // namespace snowflake_ids::ledger
