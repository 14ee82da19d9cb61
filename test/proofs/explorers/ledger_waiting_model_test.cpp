// waiting.hpp under every interleaving: at rest, no reader has a number that still holds although a row is committed
// that it has not read, and none sleeps before such a row unless it was woken or will soon look by itself.
#include <gtest/gtest.h>

#include <vector>

#include "ledger/waiting.hpp"
#include "support/ledger_explore.hpp"

namespace snowflake_ids::ledger {
namespace {

using namespace snowflake_ids::test;

constexpr Value table = 7, database = 0;
constexpr unsigned readers = 2;
enum : unsigned {
    count_cell = cell_count,
    waiters_cell,    // a bit for each reader
    woken_cell,      // also
    committed_cell,  // a bit for each transaction
    place_cell,
    end_cell = place_cell + 4
};
static_assert(unsigned{end_cell} <= unsigned{lock_cell});

Cell as_cell(unsigned c) { return static_cast<Cell>(c); }

void set(WatchedWord<>& word, Value bits) {
    Value seen = word.load();
    while (!word.compare_exchange_strong(seen, seen | bits)) {}
}

// The words of a writer's own Backend.
struct Constant {
    Value value = 0;
    Value load(std::memory_order = std::memory_order_seq_cst) const { return value; }
};
struct ModelOwn {
    struct {
        static UnixTime load() { return no_low; }
    } low;
    Constant database, every_table, table_count{1}, tables[1] = {{table}};
};
// Words that are not watched are 0.
struct ModelPlace {
    WatchedWord<UnixTime> low;
    WatchedWord<> database, xid, ended, every_table, table_count, tables[1];
    struct {
        WatchedWord<> xid, database;
        WatchedWord<UnixTime> low;
    } ring[1];
};
struct ModelGroup {
    WatchedWord<> count, waiters;
};

struct Memory {
    ModelOwn own;
    ModelGroup group;
    WatchedWord<> woken, committed;
    ModelPlace places[1];

    explicit Memory(World& w) {
        group.count.watch(w, as_cell(count_cell));
        group.waiters.watch(w, as_cell(waiters_cell));
        woken.watch(w, as_cell(woken_cell));
        committed.watch(w, as_cell(committed_cell));
        places[0].xid.watch(w, as_cell(place_cell));
        places[0].every_table.watch(w, as_cell(place_cell + 1));
        places[0].table_count.watch(w, as_cell(place_cell + 2));
        places[0].tables[0].watch(w, as_cell(place_cell + 3));
    }
    auto place() {
        return [this](std::uint32_t i) -> ModelPlace& { return places[i]; };
    }
    auto over() {
        return [this](Value xid) { return (committed.load() >> xid & 1) != 0; };
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
    static constexpr bool visible_first = true, looks_again = true, number_first = true, prepare_counts = true,
                          place_first = true;
    static void count_up(Memory& m) {
        ledger::count_up(m.group, [&m](auto&) { m.wake(); });
    }
    static Sum look(Memory& m) { return ledger::look(m.group, 1, m.place(), database, table, m.over()); }
};

struct Waiting : Model {
    enum : unsigned { ended_ghost, flags_ghost, number_ghost };
    enum : std::uint32_t { asleep = 1, looks_soon = 2, flag_bits = 8 };
    static constexpr Complaint missed = "a wake-up was missed", holds = "a number holds beside a row";

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
        g.ghost[number_ghost + reader] = c.tick;
        g.ghost[flags_ghost] |= Value{c.first & ((1u << 2 * flag_bits) - 1)} << 2 * flag_bits * reader;
        return nullptr;
    }
    static Value present_number(const Global& g) {
        const Value xid = g.memory[place_cell];
        Sum sum{g.memory[count_cell]};
        if (xid != 0 && (g.memory[committed_cell] >> xid & 1) == 0) sum.add(xid);
        return sum.number;
    }
    Complaint always(const Global& g) override {
        std::size_t operations_in_all = 0;
        for (const auto& p : programs) operations_in_all += p.size();
        if (g.ghost[ended_ghost] < operations_in_all) return nullptr;
        for (unsigned i = 0; i < readers; i++) {
            const Value flags = g.ghost[flags_ghost] >> 2 * flag_bits * i;
            const Value read = flags >> flag_bits & 0xff;
            if (read == 0 || (g.memory[committed_cell] & ~read) == 0) continue;
            if (g.ghost[number_ghost + i] == present_number(g)) return holds;
            if ((flags & asleep) != 0 && (flags & looks_soon) == 0 && (g.memory[woken_cell] >> i & 1) == 0)
                return missed;
        }
        return nullptr;
    }
};

template <class Steps>
struct Commits {
    Value x;

    Claim operator()(World& w) const {
        Memory m(w);
        if (!Steps::visible_first) Steps::count_up(m);
        set(m.committed, Value{1} << x);
        if (Steps::visible_first) Steps::count_up(m);
        return {};
    }
};

template <class Steps>
struct Prepares {
    Value x;

    Claim operator()(World& w) const {
        Memory m(w);
        if (!Steps::place_first) Steps::count_up(m);
        note_prepared(m.own, 1, m.place(), x, m.over());
        if (Steps::place_first && Steps::prepare_counts) Steps::count_up(m);
        return {};
    }
};
// Tells nobody.
struct CommitsPrepared {
    Value x;

    Claim operator()(World& w) const {
        Memory m(w);
        set(m.committed, Value{1} << x);
        return {};
    }
};

// Reads as often as it may, and sleeps when the number still holds.
template <class Steps>
struct Reader {
    unsigned index = 0;
    int reads = 2;

    Claim operator()(World& w) const {
        Memory m(w);
        const Value self = Value{1} << index;
        Value read = 1;
        const auto polls = [&] { read = m.committed.load() | 1; };  // bit 0: it has read
        Value number = ~Value{0};
        Sum sum{};
        std::uint32_t flags = 0;
        for (int i = 0; i < reads; i++) {
            sum = Steps::look(m);
            if (sum.number == number) {
                set(m.group.waiters, self);
                if (Steps::looks_again) sum = Steps::look(m);
                if (sum.number == number) {
                    flags = Waiting::asleep | (sum.prepared ? Waiting::looks_soon : 0u);
                    break;
                }
                m.leave(self);
            }
            if (Steps::number_first) number = sum.number;
            polls();
            if (!Steps::number_first) number = Steps::look(m).number;
        }
        Claim c{};
        c.tick = number;
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
template <class Steps>
struct PreparedAndCommitted : Waiting {
    PreparedAndCommitted() {
        program({Prepares<Steps>{1}, CommitsPrepared{1}});
        program({Reader<Steps>{0, 3}});
    }
};
// The second one takes the place of the first.
template <class Steps>
struct OnePlace : Waiting {
    OnePlace() {
        program({Prepares<Steps>{1}, CommitsPrepared{1}, Prepares<Steps>{2}, CommitsPrepared{2}});
        program({Reader<Steps>{0, 3}});
    }
};

TEST(LedgerWaitingModel, OneWriter) {
    OneWriter<Right> m;
    expect_right(m);
}
TEST(LedgerWaitingModel, TwoWriters) {
    TwoWriters<Right> m;
    expect_right(m);
}
TEST(LedgerWaitingModel, TwoReaders) {
    TwoReaders<Right> m;
    expect_right(m);
}
TEST(LedgerWaitingModel, PreparedAndCommitted) {
    PreparedAndCommitted<Right> m;
    expect_right(m);
}
TEST(LedgerWaitingModel, OnePlace) {
    OnePlace<Right> m;
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
TEST(LedgerWaitingWrong, CountsBeforeTheRowIsVisible) { expect_complaint<OneWriter, CountsFirst>(Waiting::holds); }

struct WakesFirst : Right {
    static void count_up(Memory& m) {
        m.wake();
        ledger::count_up(m.group, [](auto&) {});
    }
};
TEST(LedgerWaitingWrong, WakesBeforeTheCount) { expect_complaint<OneWriter, WakesFirst>(Waiting::missed); }

struct LooksOnce : Right {
    static constexpr bool looks_again = false;
};
TEST(LedgerWaitingWrong, DoesNotLookAgainInTheList) { expect_complaint<OneWriter, LooksOnce>(Waiting::missed); }

struct ReadsFirst : Right {
    static constexpr bool number_first = false;
};
TEST(LedgerWaitingWrong, ReadsBeforeItHasTheNumber) { expect_complaint<OneWriter, ReadsFirst>(Waiting::holds); }

struct PlacesFirst : Right {
    static Sum look(Memory& m) {
        const struct { Constant count; } none;
        Sum sum = ledger::look(none, 1, m.place(), database, table, m.over());
        sum.number += m.group.count.load();
        return sum;
    }
};
TEST(LedgerWaitingWrong, LooksAtThePlacesBeforeTheCount) {
    expect_complaint<PreparedAndCommitted, PlacesFirst>(Waiting::holds);
}

struct PlacesIgnored : Right {
    static Sum look(Memory& m) { return ledger::look(m.group, 0, m.place(), database, table, m.over()); }
};
TEST(LedgerWaitingWrong, PreparedTransactionsDoNotCount) {
    expect_complaint<PreparedAndCommitted, PlacesIgnored>(Waiting::holds);
}

struct PreparesSilently : Right {
    static constexpr bool prepare_counts = false;
};
TEST(LedgerWaitingWrong, PrepareWakesNobody) {
    expect_complaint<PreparedAndCommitted, PreparesSilently>(Waiting::holds);
}

struct PlaceLast : Right {
    static constexpr bool place_first = false;
};
TEST(LedgerWaitingWrong, PreparedAfterTheCount) { expect_complaint<PreparedAndCommitted, PlaceLast>(Waiting::holds); }

}  // namespace
}  // namespace snowflake_ids::ledger
