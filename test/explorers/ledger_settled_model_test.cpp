// The protocol of settled.hpp under every interleaving, with any clock and any promise: no row may appear whose time is
// before what a reader was told, unless that reader's snapshot has it.
#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "ledger/settled.hpp"
#include "support/ledger_explore.hpp"

namespace snowflake_ids::ledger {
namespace {

using namespace snowflake_ids::test;

// Transactions 1 to last_transaction. Transaction and local id are the same number here.
constexpr Value last_transaction = 4, ring_places = 2, table_places = 2;

// Cells: what all share, then two backends, then the table.
enum : unsigned {
    promise_cell = cell_count,
    next_cell,      // the next transaction
    finished_cell,  // a bit for each: a snapshot is a load of it
    reused_cell,    // how often an entry of the table was used again
    open_cell,      // of each backend, its process's open transaction
    table_cell = open_cell + 2,
    backend_cell = table_cell + 2 * table_places,
    cells_of_backend = 3 + 2 * ring_places,
    end_cell = backend_cell + 2 * cells_of_backend
};
static_assert(unsigned{end_cell} <= unsigned{lock_cell});

Cell as_cell(unsigned c) { return static_cast<Cell>(c); }

// What a process works with.
struct Memory {
    struct Backend {
        WatchedWord low, database, holder, ended;
        struct {
            WatchedWord xid, low;
        } ring[ring_places];
    } backend[2];
    struct Entry {
        WatchedWord xid, low, database;
    } table[table_places];
    WatchedWord promise, next, finished, reused, open[2];

    explicit Memory(World& w) {
        const auto watch = [&w](WatchedWord& word, unsigned cell) { word.watch(w, as_cell(cell)); };
        watch(promise, promise_cell);
        watch(next, next_cell);
        watch(finished, finished_cell);
        watch(reused, reused_cell);
        for (unsigned b = 0; b < 2; b++) {
            unsigned cell = backend_cell + b * cells_of_backend;
            watch(open[b], open_cell + b);
            watch(backend[b].low, cell++);
            watch(backend[b].holder, cell++);
            watch(backend[b].ended, cell++);
            for (auto& r : backend[b].ring) {
                watch(r.xid, cell++);
                watch(r.low, cell++);
            }
        }
        for (unsigned i = 0; i < table_places; i++) {
            watch(table[i].xid, table_cell + 2 * i);
            watch(table[i].low, table_cell + 2 * i + 1);
        }
    }
    auto entry() {
        return [this](std::uint32_t i) -> Entry& { return table[i]; };
    }
    auto next_xid() {
        return [this] { return next.load(); };
    }
};

// ---- the steps, to be replaced one by one ----

struct Right {
    static bool accepts(Memory& m, Memory::Backend& b, Value t, Value& covered) {
        return ledger::accepts(m.promise, b, t, covered);
    }
    static void hold_for(Memory::Backend& b, Value lxid) { ledger::hold_for(b, lxid); }
    static void end(Memory& m, Memory::Backend& b, Value lxid, Value xid) {
        end_transaction(b, lxid, xid, m.next_xid());
    }
    static bool prepare(Memory& m, Memory::Backend& b, Value xid) {
        const Value finished = m.finished.load();
        const auto over = [finished](Value x) { return (finished >> x & 1) != 0; };
        return note_prepared(b, m.reused, table_places, m.entry(), xid, 0, over);
    }
    static void promise(Memory& m, Value f) { raise_to(m.promise, f); }
    template <class View>
    static bool limit_by(Memory::Backend& b, View view, Value& t) {
        return ledger::limit_by(b, 0, view, t);
    }
    static constexpr bool table_last = true, looks_for_reuse = true, promise_first = true;
};

struct Settled : Model {
    std::vector<Value> times{1, 2, 3};
    bool with_workers = false;
    enum : unsigned { rows_ghost, bounds_ghost };  // of each transaction: its earliest row; what readers were told

    Settled() {
        crashes = false;
        max_history = 200;
        Global g{};
        g.memory[next_cell] = 1;
        for (unsigned b = 0; b < 2; b++) g.memory[backend_cell + b * cells_of_backend] = no_low;
        initial.push_back(g);
    }
    void ticks(const Global&, std::vector<Answer>& out) const override {
        for (const Value t : times) out.push_back({t});
    }

    static Value get(Value ghost, Value x) { return ghost >> 4 * x & 15; }
    static void set(Value& ghost, Value x, Value v) { ghost = (ghost & ~(Value{15} << 4 * x)) | v << 4 * x; }
    static constexpr Complaint skipped = "a row was skipped";

    // A row, or what a reader was told (toggled): `first` is the transaction, or the reader's snapshot.
    Complaint on_issue(Global& g, const Issued& i) override {
        if (!i.toggled) {
            const Value row = get(g.ghost[rows_ghost], i.first);
            if (row == 0 || i.tick < row) set(g.ghost[rows_ghost], i.first, i.tick);
            return nullptr;
        }
        for (Value x = 1; x <= last_transaction; x++) {
            if ((i.first >> x & 1) != 0) continue;
            if (get(g.ghost[bounds_ghost], x) < i.tick) set(g.ghost[bounds_ghost], x, i.tick);
            if ((g.memory[finished_cell] >> x & 1) == 0) continue;
            const Value row = get(g.ghost[rows_ghost], x);
            if (row != 0 && row < i.tick) return skipped;
        }
        return nullptr;
    }
    // A commit.
    Complaint on_access(const Global& before, Global& g, const Request&, const Answer&) override {
        const Value committed = g.memory[finished_cell] & ~before.memory[finished_cell];
        for (Value x = 1; x <= last_transaction; x++) {
            const Value row = get(g.ghost[rows_ghost], x);
            if ((committed >> x & 1) != 0 && row != 0 && row < get(g.ghost[bounds_ghost], x)) return skipped;
        }
        return nullptr;
    }
    // Without workers, only process b writes to backend b.
    bool at_once(const Global&, std::uint8_t p, const Request& r) const override {
        const unsigned own = backend_cell + p * cells_of_backend;
        return !with_workers && p < 2 && r.kind == Request::load && r.cell >= own && r.cell < own + 3;
    }

    void program(std::vector<Operation> of) {
        std::vector<unsigned> indexes;
        for (Operation& o : of) {
            indexes.push_back(static_cast<unsigned>(operations.size()));
            operations.push_back(std::move(o));
        }
        programs.push_back(indexes);
    }
    // Another process that does the same as the last one.
    void another() { programs.push_back(programs.back()); }
};

Claim row(Value x, Value t) {
    Claim c{};
    c.tick = t;
    c.first = static_cast<std::uint32_t>(x);
    return c;
}
Claim told(Value snapshot, Value t) {
    Claim c = row(snapshot, t);
    c.toggled = true;
    return c;
}

enum How { commits, aborts, prepares };

// One transaction of a process: `draws` ids, at any time the clock may show. What the claim does with the promise: not
// earlier than it.
template <class Steps>
struct Writer {
    unsigned b;
    Value xid;  // 0: the next one
    int draws = 1;
    How how = commits;
    bool by_worker = false, has_library = true;

    Claim operator()(World& w) const {
        Memory m(w);
        const Value x = xid != 0 ? xid : m.next.fetch_add(1);
        if (xid == 0) m.open[b].store(x);
        auto& own = m.backend[b];
        Value covered = no_low;
        for (int i = 0; i < draws; i++) {
            if (xid == 0 && covered == no_low && (by_worker || own.holder.load() != 0)) Steps::hold_for(own, x);
            Value t = w.tick().value;
            while (!Steps::accepts(m, own, t, covered)) {
                const Value promised = m.promise.load();
                if (t < promised) t = promised;
            }
            w.issue(row(x, t));
        }
        if (how == prepares && !Steps::prepare(m, own, x)) return {};
        if (xid == 0) m.open[b].store(0);
        if (how == commits) finish(m, x);
        if (has_library) Steps::end(m, own, x, how == commits ? x : 0);
        if (how == prepares) finish(m, x);
        return {};
    }
    static void finish(Memory& m, Value x) {
        Value seen = m.finished.load();
        while (!m.finished.compare_exchange_strong(seen, seen | Value{1} << x)) {}
    }
};

template <class Steps>
struct Reader {
    unsigned backends = 1;

    Claim operator()(World& w) const {
        Memory m(w);
        const Value snapshot = m.finished.load();
        struct View {
            Value snapshot;
            Memory* m;
            unsigned b;
            bool finished(Value xid) const { return (snapshot >> xid & 1) != 0; }
            bool is_after(Value xid) const {
                const Value earlier = (Value{1} << xid) - 2;
                return (snapshot & earlier) == earlier || finished(xid);
            }
            bool runs(Value lxid) const { return m->open[b].load() == lxid; }
            Value next_xid() const { return m->next.load(); }
        } view{snapshot, &m, 0};
        const Value f = w.tick().value;
        if (Steps::promise_first) Steps::promise(m, f);
        Value t = Steps::promise_first ? m.promise.load() : f;
        const Value reused = m.reused.load();
        if (!Steps::table_last) limit_by_prepared(table_places, m.entry(), 0, view, t);
        for (view.b = 0; view.b < backends; view.b++) {
            if (!Steps::limit_by(m.backend[view.b], view, t)) return {};
        }
        if (Steps::table_last) limit_by_prepared(table_places, m.entry(), 0, view, t);
        if (Steps::looks_for_reuse && m.reused.load() != reused) return {};
        if (!Steps::promise_first) Steps::promise(m, f);
        w.issue(told(snapshot, t));
        return {};
    }
};

template <class Steps>
struct OneDraw : Settled {
    OneDraw() {
        program({Writer<Steps>{0, 1}});
        program({Writer<Steps>{1, 2}});
        program({Reader<Steps>{2}});
    }
};
template <class Steps>
struct TwoDraws : Settled {
    TwoDraws() {
        program({Writer<Steps>{0, 1, 2}});
        program({Reader<Steps>{}});
        another();
    }
};
// The ring has two places.
template <class Steps>
struct Many : Settled {
    Many() {
        times = {1, 2};
        program({Writer<Steps>{0, 1}, Writer<Steps>{0, 2}, Writer<Steps>{0, 3}, Writer<Steps>{0, 4}});
        program({Reader<Steps>{}});
    }
};
// The table too.
template <class Steps>
struct Prepares : Settled {
    Prepares() {
        times = {1, 2};
        std::vector<Operation> all;
        for (Value x = 1; x <= 4; x++) all.push_back(Writer<Steps>{0, x, 1, prepares});
        program(all);
        program({Reader<Steps>{}});
    }
};
// A worker has drawn for the first transaction of the leader; the leader itself draws in the next one.
template <class Steps>
struct Workers : Settled {
    explicit Workers(bool has_library, How next = commits) {
        times = {1, 2};
        with_workers = true;
        program({Writer<Steps>{0, 0, 1, commits, true, has_library}, Writer<Steps>{0, 0, 1, next}});
        program({Reader<Steps>{}, Reader<Steps>{}});
    }
};

TEST(LedgerSettledModel, TwoWriters) {
    OneDraw<Right> m;
    m.times = {1, 2};
    expect_right(m);
}
TEST(LedgerSettledModel, OneWriterAnyTimes) {
    Settled m;
    m.times = {1, 2, 3, 4};
    m.program({Writer<Right>{0, 1, 3}});
    m.program({Reader<Right>{}, Reader<Right>{}});
    expect_right(m);
}
TEST(LedgerSettledModel, TwoDrawsTwoReaders) {
    TwoDraws<Right> m;
    m.times = {1, 2};
    expect_right(m);
}
TEST(LedgerSettledModel, Aborts) {
    Settled m;
    m.program({Writer<Right>{0, 1, 1, aborts}, Writer<Right>{0, 2, 2}});
    m.program({Reader<Right>{}, Reader<Right>{}});
    expect_right(m);
}
TEST(LedgerSettledModel, ManyTransactions) {
    Many<Right> m;
    expect_right(m);
}
TEST(LedgerSettledModel, Prepared) {
    Prepares<Right> m;
    expect_right(m);
}
TEST(LedgerSettledModel, WorkerAndLeader) {
    Workers<Right> m(true);
    expect_right(m);
}
TEST(LedgerSettledModel, WorkerOfALeaderWithoutLibrary) {
    Workers<Right> m(false);
    expect_right(m);
}
TEST(LedgerSettledModel, WorkerAndAnAbort) {
    Workers<Right> m(false, aborts);
    expect_right(m);
}
// Two readers at once. One may mark the holder as over.
TEST(LedgerSettledModel, WorkerAndTwoReaders) {
    Settled m;
    m.times = {1, 2};
    m.with_workers = true;
    m.program({Writer<Right>{0, 0, 1, commits, true, false}});
    m.program({Reader<Right>{}});
    m.another();
    expect_right(m);
}
TEST(LedgerSettledModel, WorkersOfALeaderWithoutLibrary) {
    Settled m;
    m.times = {1, 2};
    m.with_workers = true;
    m.program({Writer<Right>{0, 0, 1, commits, true, false}, Writer<Right>{0, 0, 1, commits, true, false},
               Writer<Right>{0, 0, 1, aborts, true, true}});
    m.program({Reader<Right>{}, Reader<Right>{}});
    expect_right(m);
}

// ---- wrong ones ----

template <template <class> class M, class Steps, class... Args>
void expect_skipped(Args... args) {
    M<Steps> m(args...);
    expect_found(m, Settled::skipped);
}

struct PromiseLoadedFirst : Right {
    static bool accepts(Memory& m, Memory::Backend& b, Value t, Value& covered) {
        if (t >= covered) return true;
        const Value promised = m.promise.load();
        lower_to(b.low, t);
        if (promised <= t) {
            covered = t;
            return true;
        }
        if (covered == no_low) covered = promised;
        return false;
    }
};
TEST(LedgerSettledWrong, PromiseLoadedBeforeTheIdIsShown) { expect_skipped<OneDraw, PromiseLoadedFirst>(); }

struct NoPromise : Right {
    static bool accepts(Memory&, Memory::Backend& b, Value t, Value&) {
        lower_to(b.low, t);
        return true;
    }
};
TEST(LedgerSettledWrong, NoPromise) { expect_skipped<OneDraw, NoPromise>(); }

// A rejected time counts as covered.
struct CoversTheRejected : Right {
    static bool accepts(Memory& m, Memory::Backend& b, Value t, Value& covered) {
        if (t >= covered) return true;
        lower_to(b.low, t);
        covered = t;
        return m.promise.load() <= t;
    }
};
TEST(LedgerSettledWrong, CoversTheRejected) { expect_skipped<TwoDraws, CoversTheRejected>(); }

struct NoRing : Right {
    static void end(Memory&, Memory::Backend& b, Value, Value) { b.low.store(no_low); }
};
TEST(LedgerSettledWrong, OnlyOpenTransactions) { expect_skipped<OneDraw, NoRing>(); }

struct ClearsFirst : Right {
    static void end(Memory&, Memory::Backend& b, Value, Value xid) {
        const Value low = b.low.load();
        b.low.store(no_low);
        if (xid != 0) note_ended(b, xid, low);
    }
};
TEST(LedgerSettledWrong, LowIsClearedBeforeTheRing) { expect_skipped<OneDraw, ClearsFirst>(); }

struct RingFirst : Right {
    template <class View>
    static bool limit_by(Memory::Backend& b, View view, Value& t) {
        Value ring = no_low;
        const Value ended = b.ended.load();
        for (Value i = ended; i > 0 && ended - i < ring_places; i--) {
            auto& e = b.ring[(i - 1) % ring_places];
            const Value xid = e.xid.load(), low = e.low.load();
            if (view.finished(xid)) break;
            if (low < ring) ring = low;
        }
        const Value low = b.low.load();
        if (low < t) t = low;
        if (ring < t) t = ring;
        return true;
    }
};
TEST(LedgerSettledWrong, RingIsReadBeforeLow) { expect_skipped<OneDraw, RingFirst>(); }

struct PromiseLast : Right {
    static constexpr bool promise_first = false;
};
TEST(LedgerSettledWrong, PromiseIsRaisedLast) { expect_skipped<OneDraw, PromiseLast>(); }

struct RingNotCheckedAgain : Right {
    template <class View>
    static bool limit_by(Memory::Backend& b, View view, Value& t) {
        (void) ledger::limit_by(b, 0, view, t);
        return true;
    }
};
TEST(LedgerSettledWrong, OvertakenRingIsBelieved) { expect_skipped<Many, RingNotCheckedAgain>(); }

struct NoTable : Right {
    static bool prepare(Memory&, Memory::Backend&, Value) { return true; }
};
TEST(LedgerSettledWrong, PreparedIsNotNoted) { expect_skipped<Prepares, NoTable>(); }

struct TableFirst : Right {
    static constexpr bool table_last = false;
};
TEST(LedgerSettledWrong, TableIsReadFirst) { expect_skipped<Prepares, TableFirst>(); }

struct ReuseNotSeen : Right {
    static constexpr bool looks_for_reuse = false;
};
TEST(LedgerSettledWrong, EntryIsUsedAgainWhileAReaderLooks) { expect_skipped<Prepares, ReuseNotSeen>(); }

struct ReusesTheTable : Right {
    static bool prepare(Memory& m, Memory::Backend& b, Value xid) {
        const Value finished = m.finished.load();
        for (auto& e : m.table) {
            Value seen = e.xid.load();
            if (seen != 0 && (finished >> seen & 1) == 0) continue;
            if (!e.xid.compare_exchange_strong(seen, being_written)) continue;
            e.low.store(b.low.load());
            e.xid.store(xid);
            return true;
        }
        return false;
    }
};
TEST(LedgerSettledWrong, EntryIsUsedAgainWithoutANote) { expect_skipped<Prepares, ReusesTheTable>(); }

// What a worker has shown for a leader without the library is taken for over as soon as the leader's transaction is.
struct ForgetsTheHolder : Right {
    template <class View>
    static bool limit_by(Memory::Backend& b, View view, Value& t) {
        const Value low = b.low.load(), holder = b.holder.load();
        const bool counts = low != no_low && (holder == 0 || view.runs(holder & ~adopted_mark));
        Value ring = t;
        const bool good = ledger::limit_by(b, 1, view, ring);  // of another database: the ring only
        if (counts && low < t) t = low;
        if (ring < t) t = ring;
        return good;
    }
};
TEST(LedgerSettledWrong, HolderIsForgotten) { expect_skipped<Workers, ForgetsTheHolder>(false); }

// The next transaction of the leader takes the old one's `low` for its own.
struct NotAdopted : Right {
    static void hold_for(Memory::Backend& b, Value lxid) { b.holder.store(lxid); }
};
TEST(LedgerSettledWrong, EarlierTransactionIsNotNoted) { expect_skipped<Workers, NotAdopted>(false, aborts); }

}  // namespace
}  // namespace snowflake_ids::ledger
