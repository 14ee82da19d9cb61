// settling.hpp under every interleaving, with any clock and any promise: no row appears whose time is before what a
// reader was told, unless that reader's snapshot has it.
#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "ledger/settling.hpp"
#include "support/ledger_explore.hpp"

namespace snowflake_ids::ledger {
namespace {

using namespace snowflake_ids::test;

// A time is a number of units: the ring merges times that are one unit apart, not those two apart.
constexpr Value last_transaction = 5;
constexpr microseconds unit = ring_resolution * 6 / 10;

constexpr UnixTime time_at(Value units) { return UnixTime{units * unit}; }
constexpr Value units_in(UnixTime t) { return static_cast<Value>(t.time_since_epoch() / unit); }

// What all share; the first process's backend; two others, of prepared transactions or the second process.
constexpr unsigned own_places = 3, other_places = 2, others = 2;
enum : unsigned {
    promise_cell = cell_count,
    finished_cell,  // a bit for each transaction, so a snapshot is a load
    own_cell,
    cells_of_own = 5 + 2 * own_places,
    other_cell = own_cell + cells_of_own,
    cells_of_other = 6 + 2 * other_places,
    end_cell = other_cell + others * cells_of_other
};
static_assert(unsigned{end_cell} <= unsigned{lock_cell});

Cell as_cell(unsigned c) { return static_cast<Cell>(c); }

template <unsigned places>
struct ModelBackend {
    WatchedWord<UnixTime> low;
    WatchedWord<> database, xid, ended, every_table, table_count, tables[1];
    struct {
        WatchedWord<> xid, database;
        WatchedWord<UnixTime> low;
    } ring[places];

    void watch(World& w, unsigned cell) {
        low.watch(w, as_cell(cell++));
        ended.watch(w, as_cell(cell++));
        for (auto& r : ring) {
            r.xid.watch(w, as_cell(cell++));
            r.low.watch(w, as_cell(cell++));
        }
        every_table.watch(w, as_cell(cell++));
        table_count.watch(w, as_cell(cell++));
        tables[0].watch(w, as_cell(cell++));
    }
};
using Own = ModelBackend<own_places>;
using Other = ModelBackend<other_places>;

struct Memory {
    Own own;
    Other other[others];
    WatchedWord<UnixTime> promise;
    WatchedWord<> finished;

    explicit Memory(World& w) {
        promise.watch(w, as_cell(promise_cell));
        finished.watch(w, as_cell(finished_cell));
        own.watch(w, own_cell);
        for (unsigned i = 0; i < others; i++) {
            const unsigned cell = other_cell + i * cells_of_other;
            other[i].watch(w, cell);
            other[i].xid.watch(w, as_cell(cell + cells_of_other - 1));
        }
    }
    auto place() {
        return [this](std::uint32_t i) -> Other& { return other[i]; };
    }
};

bool knows(Value snapshot, Value xid) { return xid == 0 || (snapshot >> xid & 1) != 0; }

// ---- the steps, to be replaced one by one ----

struct Right {
    template <class B>
    static bool admit(Memory& m, B& b, UnixTime t) {
        return ledger::admit(m.promise, b, t);
    }
    template <class B>
    static void end(B& b, Value xid) {
        end_transaction(b, xid);
    }
    static bool prepare(Memory& m, Value xid) {
        return note_prepared(m.own, others, m.place(), xid, [&m](Value x) { return knows(m.finished.load(), x); });
    }
    template <class B, class Finished>
    static void limit_by(B& b, Finished finished, UnixTime& t) {
        ledger::limit_by(b, 0, finished, t);
    }
    static constexpr bool prepared_last = true, promise_first = true;
    static Value settled_for_ticks(Value t, Value tick) {
        return static_cast<Value>(number_of(ledger::settled_for_ticks(UnixTime{microseconds{t}}, microseconds{tick})));
    }
};

struct Settled : Model {
    std::vector<Value> times{1, 2, 3};
    bool two_writers = false;
    enum : unsigned { rows_ghost, bounds_ghost };  // of each transaction: its earliest row; what readers were told

    Settled() {
        crashes = false;
        max_history = 300;
        Global g{};
        g.memory[own_cell] = std::bit_cast<Value>(no_low);
        for (unsigned i = 0; i < others; i++) g.memory[other_cell + i * cells_of_other] = std::bit_cast<Value>(no_low);
        initial.push_back(g);
    }
    void ticks(const Global&, std::vector<Answer>& out) const override {
        for (const Value t : times) out.push_back({t});
    }

    static Value get(Value ghost, Value x) { return ghost >> 4 * x & 15; }
    static void set(Value& ghost, Value x, Value v) { ghost = (ghost & ~(Value{15} << 4 * x)) | v << 4 * x; }
    static constexpr Complaint skipped = "a row was skipped";

    // A row of a transaction, or what a reader was told (toggled), with its snapshot.
    Complaint on_issue(Global& g, const Issued& i) override {
        if (!i.standing.toggled) {
            const Value row = get(g.ghost[rows_ghost], i.first);
            if (row == 0 || i.tick < row) set(g.ghost[rows_ghost], i.first, i.tick);
            return nullptr;
        }
        for (Value x = 1; x <= last_transaction; x++) {
            if (knows(i.first, x)) continue;
            if (get(g.ghost[bounds_ghost], x) < i.tick) set(g.ghost[bounds_ghost], x, i.tick);
            if (!knows(g.memory[finished_cell], x)) continue;
            const Value row = get(g.ghost[rows_ghost], x);
            if (row != 0 && row < i.tick) return skipped;
        }
        return nullptr;
    }
    Complaint on_access(const Global& before, Global& g, const Request&, const Answer&) override {
        const Value committed = g.memory[finished_cell] & ~before.memory[finished_cell];
        for (Value x = 1; x <= last_transaction; x++) {
            const Value row = get(g.ghost[rows_ghost], x);
            if ((committed >> x & 1) != 0 && row != 0 && row < get(g.ghost[bounds_ghost], x)) return skipped;
        }
        return nullptr;
    }
    // Only its own process writes to a backend; only the first one prepares.
    bool at_once(const Global&, std::uint8_t p, const Request& r) const override {
        if (r.kind != Request::load) return false;
        const unsigned cell = r.cell;
        if (p == 0) return cell >= unsigned{own_cell} && cell < unsigned{two_writers ? other_cell : end_cell};
        return two_writers && p == 1 && cell >= unsigned{other_cell} && cell < unsigned{other_cell} + cells_of_other;
    }

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
    c.standing = {.toggled = true};
    return c;
}

void finish(Memory& m, Value x) {
    Value seen = m.finished.load();
    while (!m.finished.compare_exchange_strong(seen, seen | Value{1} << x)) {}
}

enum How { commits, aborts, prepares };

// `draws` ids at any time that the clock may show, not earlier than the promise.
template <class Steps>
struct Writer {
    unsigned b;
    Value x;
    int draws = 1;
    How how = commits;
    Value at = 0;  // 0: any
    Value tick = 1;

    Claim operator()(World& w) const {
        Memory m(w);
        return b == 0 ? run(w, m, m.own) : run(w, m, m.other[0]);
    }
    template <class B>
    Claim run(World& w, Memory& m, B& own) const {
        for (int i = 0; i < draws; i++) {
            Value t = at != 0 ? at : w.tick().value;
            t -= t % tick;
            while (!Steps::admit(m, own, time_at(t + tick - 1))) {
                const Value promised = units_in(m.promise.load());
                if (t + tick - 1 < promised) t = promised - promised % tick;
            }
            w.issue(row(x, t));
        }
        if (how == prepares && !Steps::prepare(m, x)) return {};
        if (how == commits) finish(m, x);
        Steps::end(own, how == commits ? x : 0);
        return {};
    }
};

Operation finisher(Value x) {
    return [x](World& w) {
        Memory m(w);
        finish(m, x);
        return Claim{};
    };
}

template <class Steps>
struct Reader {
    unsigned looks_at = others;  // so many of the others
    Value tick = 1;              // of the rows that it reads

    Claim operator()(World& w) const {
        Memory m(w);
        const Value snapshot = m.finished.load();
        const auto finished = [snapshot](Value xid) { return knows(snapshot, xid); };
        const UnixTime f = time_at(w.tick().value);
        if (Steps::promise_first) lift_to(m.promise, f);
        UnixTime t = Steps::promise_first ? m.promise.load() : f;
        if (Steps::prepared_last) Steps::limit_by(m.own, finished, t);
        for (unsigned i = 0; i < looks_at; i++) Steps::limit_by(m.other[i], finished, t);
        if (!Steps::prepared_last) Steps::limit_by(m.own, finished, t);
        if (!Steps::promise_first) lift_to(m.promise, f);
        w.issue(told(snapshot, Steps::settled_for_ticks(units_in(t), tick)));
        return {};
    }
};

template <class Steps>
struct OneDraw : Settled {
    OneDraw() {
        two_writers = true;
        program({Writer<Steps>{0, 1}});
        program({Writer<Steps>{1, 2}});
        program({Reader<Steps>{1}});
    }
};
template <class Steps>
struct TwoDraws : Settled {
    TwoDraws() {
        program({Writer<Steps>{0, 1, 2}});
        program({Reader<Steps>{0}});
        another();
    }
};
// Rows have the time at which their tick starts.
template <class Steps>
struct LongTicks : Settled {
    LongTicks() {
        two_writers = true;
        times = {2, 3, 4};
        program({Writer<Steps>{.b = 0, .x = 1, .tick = 2}});
        program({Writer<Steps>{.b = 1, .x = 2, .tick = 2}});
        program({Reader<Steps>{1, 2}});
    }
};
template <class Steps>
struct Many : Settled {
    explicit Many(std::vector<Value> of = {1, 2, 4}) {
        times = std::move(of);
        program({Writer<Steps>{0, 1}, Writer<Steps>{0, 2}, Writer<Steps>{0, 3}});
        program({Reader<Steps>{0}});
    }
};
template <class Steps>
struct Full : Settled {
    Full() {
        times = {1, 4, 6, 8, 10, 12};
        std::vector<Operation> all;
        for (Value x = 1; x <= last_transaction; x++) all.push_back(Writer<Steps>{0, x, 1, commits, 2 * x + 1});
        program(all);
        program({Reader<Steps>{0}});
    }
};
// They all get the same place, whose ring has two entries.
template <class Steps>
struct Prepares : Settled {
    Prepares() {
        times = {1, 3, 5};
        std::vector<Operation> all;
        for (Value x = 1; x <= 4; x++) {
            all.push_back(Writer<Steps>{0, x, 1, prepares});
            all.push_back(finisher(x));
        }
        program(all);
        program({Reader<Steps>{1}});
    }
};
template <class Steps>
struct TwoPrepared : Settled {
    TwoPrepared() {
        times = {1, 3};
        program({Writer<Steps>{0, 1, 1, prepares}, Writer<Steps>{0, 2, 1, prepares}, finisher(2),
                 Writer<Steps>{0, 3, 1, prepares}, finisher(1), Writer<Steps>{0, 4, 1, prepares}, finisher(4),
                 finisher(3)});
        program({Reader<Steps>{}});
    }
};

TEST(LedgerSettledModel, TwoWriters) {
    OneDraw<Right> m;
    m.times = {1, 2};
    expect_right(m);
}
TEST(LedgerSettledModel, LongTicks) {
    LongTicks<Right> m;
    expect_right(m);
}
TEST(LedgerSettledModel, OneWriterAnyTimes) {
    Settled m;
    m.times = {1, 2, 3, 4};
    m.program({Writer<Right>{0, 1, 3}});
    m.program({Reader<Right>{0}, Reader<Right>{0}});
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
    m.program({Reader<Right>{0}, Reader<Right>{0}});
    expect_right(m);
}
TEST(LedgerSettledModel, MergedTransactions) {
    Many<Right> m;
    expect_right(m);
}
TEST(LedgerSettledModel, FullRing) {
    Full<Right> m;
    expect_right(m);
}
TEST(LedgerSettledModel, Prepared) {
    Prepares<Right> m;
    expect_right(m);
}
TEST(LedgerSettledModel, SeveralPrepared) {
    TwoPrepared<Right> m;
    expect_right(m);
}

// ---- readers of one table ----

constexpr Value table_read = 1, other_table = 2;

struct RightOfTable : Right {
    template <class B>
    static void note(Memory& m, B& b, Value table) {
        note_table(m.promise, b, table);
    }
    template <class B, class Finished>
    static void limit_by(B& b, Finished finished, UnixTime& t) {
        ledger::limit_by(b, 0, finished, t, table_read);
    }
    static bool serves(Memory& m, Value lease) { return m.promise.load() <= time_at(lease); }
};

// A transaction that does these things:
//   a  draws an id that is no stamp       N  notes the table          c  claims a lease
//   d  stamps a row of the table          n  notes another table      u  stamps a row of the table from the lease
//   r  the same, and it is rolled back
template <class Steps>
struct TableWriter {
    unsigned b;
    Value x;
    const char* does;
    How how = commits;

    Claim operator()(World& w) const {
        Memory m(w);
        return b == 0 ? run(w, m, m.own) : run(w, m, m.other[0]);
    }
    template <class B>
    Value draw(World& w, Memory& m, B& own) const {
        Value t = w.tick().value;
        while (!Steps::admit(m, own, time_at(t))) {
            const Value promised = units_in(m.promise.load());
            if (t < promised) t = promised;
        }
        return t;
    }
    template <class B>
    Claim run(World& w, Memory& m, B& own) const {
        Value lease = 0;
        for (const char* p = does; *p != 0; p++) {
            switch (*p) {
                case 'a':
                case 'r':
                    draw(w, m, own);
                    break;
                case 'd':
                    w.issue(row(x, draw(w, m, own)));
                    break;
                case 'c':
                    lease = draw(w, m, own);
                    break;
                case 'u':
                    w.issue(row(x, Steps::serves(m, lease) ? lease : draw(w, m, own)));
                    break;
                default:
                    Steps::note(m, own, *p == 'N' ? table_read : other_table);
            }
        }
        if (how == prepares && !Steps::prepare(m, x)) return {};
        if (how == commits) finish(m, x);
        Steps::end(own, how == commits ? x : 0);
        return {};
    }
};

template <class Steps>
struct OneTable : Settled {
    explicit OneTable(const char* does = "aNd", const char* then = "Nd") {
        times = {1, 2, 3};
        program({TableWriter<Steps>{0, 1, does}, TableWriter<Steps>{0, 2, then}});
        program({Reader<Steps>{0}, Reader<Steps>{0}});
    }
};
template <class Steps>
struct TwoTableWriters : Settled {
    TwoTableWriters() {
        times = {1, 2};
        two_writers = true;
        program({TableWriter<Steps>{0, 1, "aNd"}});
        program({TableWriter<Steps>{1, 2, "Nd"}});
        program({Reader<Steps>{1}});
    }
};
template <class Steps>
struct ManyTables : OneTable<Steps> {
    ManyTables() : OneTable<Steps>("anNd", "Nnd") { this->times = {1, 2}; }
};
template <class Steps>
struct TablesChange : OneTable<Steps> {
    TablesChange() : OneTable<Steps>("Nd", "ana") {}
};
template <class Steps>
struct TableLease : Settled {
    TableLease() {
        times = {1, 2, 3};
        program({TableWriter<Steps>{0, 1, "cNu"}});
        program({Reader<Steps>{0}, Reader<Steps>{0}});
    }
};
template <class Steps>
struct TablePrepares : Settled {
    TablePrepares() {
        times = {1, 3};
        program({TableWriter<Steps>{0, 1, "aNd", prepares}, finisher(1), TableWriter<Steps>{0, 2, "na", prepares},
                 TableWriter<Steps>{0, 3, "aNd", prepares}, finisher(2), finisher(3)});
        program({Reader<Steps>{}});
    }
};
template <class Steps>
struct TablePrepare : Settled {
    TablePrepare() {
        times = {1, 3};
        program({TableWriter<Steps>{0, 1, "anNd", prepares}, finisher(1)});
        program({Reader<Steps>{1}});
        another();
    }
};

TEST(LedgerTableModel, AnotherTableFirst) {
    OneTable<RightOfTable> m;
    expect_right(m);
}
TEST(LedgerTableModel, SeveralDraws) {
    OneTable<RightOfTable> m("aNdad");
    m.times = {1, 2};
    expect_right(m);
}
TEST(LedgerTableModel, TwoWriters) {
    TwoTableWriters<RightOfTable> m;
    expect_right(m);
}
TEST(LedgerTableModel, FirstRowIsRolledBack) {
    OneTable<RightOfTable> m("Nrad");
    m.times = {1, 2};
    expect_right(m);
}
TEST(LedgerTableModel, MoreTablesThanFit) {
    ManyTables<RightOfTable> m;
    expect_right(m);
}
TEST(LedgerTableModel, AnotherTableNext) {
    TablesChange<RightOfTable> m;
    expect_right(m);
}
TEST(LedgerTableModel, Lease) {
    TableLease<RightOfTable> m;
    expect_right(m);
}
TEST(LedgerTableModel, Prepared) {
    TablePrepares<RightOfTable> m;
    expect_right(m);
}
TEST(LedgerTableModel, PreparedTwoReaders) {
    TablePrepare<RightOfTable> m;
    expect_right(m);
}

// ---- wrong ones ----

template <template <class> class M, class Steps>
void expect_skipped() {
    M<Steps> m;
    expect_found(m, Settled::skipped);
}

struct PromiseLoadedFirst : Right {
    template <class B>
    static bool admit(Memory& m, B& b, UnixTime t) {
        const UnixTime promised = m.promise.load();
        if (b.low.load() > t) b.low.store(t);
        return promised <= t;
    }
};
TEST(LedgerSettledWrong, PromiseLoadedBeforeTheIdIsShown) { expect_skipped<OneDraw, PromiseLoadedFirst>(); }

struct NoPromise : Right {
    template <class B>
    static bool admit(Memory&, B& b, UnixTime t) {
        if (b.low.load() > t) b.low.store(t);
        return true;
    }
};
TEST(LedgerSettledWrong, NoPromise) { expect_skipped<OneDraw, NoPromise>(); }

// `low` may be that of an id that was thrown away, and readers have promised more since.
struct AboveLowIsNotCompared : Right {
    template <class B>
    static bool admit(Memory& m, B& b, UnixTime t) {
        return b.low.load() <= t || ledger::admit(m.promise, b, t);
    }
};
TEST(LedgerSettledWrong, AboveLowIsNotCompared) { expect_skipped<TwoDraws, AboveLowIsNotCompared>(); }

struct PromiseLast : Right {
    static constexpr bool promise_first = false;
};
TEST(LedgerSettledWrong, PromiseIsRaisedLast) { expect_skipped<OneDraw, PromiseLast>(); }

struct TickNotSubtracted : Right {
    static Value settled_for_ticks(Value t, Value) { return t; }
};
TEST(LedgerSettledWrong, TickIsNotSubtracted) { expect_skipped<LongTicks, TickNotSubtracted>(); }

struct NoRing : Right {
    template <class B>
    static void end(B& b, Value) {
        b.low.store(no_low);
    }
};
TEST(LedgerSettledWrong, OnlyOpenTransactions) { expect_skipped<OneDraw, NoRing>(); }

struct ClearsFirst : Right {
    template <class B>
    static void end(B& b, Value xid) {
        const UnixTime low = b.low.load();
        b.low.store(no_low);
        if (xid != 0) note_ended(b, xid, low, 0);
    }
};
TEST(LedgerSettledWrong, LowIsClearedBeforeTheRing) { expect_skipped<OneDraw, ClearsFirst>(); }

template <class Note>
struct Notes : Right {
    template <class B>
    static void end(B& b, Value xid) {
        const UnixTime low = b.low.load();
        if (xid != 0) Note::note(b, xid, low);
        b.low.store(no_low);
    }
};

struct TakesTheNewerLow {
    template <class B>
    static void note(B& b, Value xid, UnixTime low) {
        const Value n = b.ended.load();
        note_ended(b, xid, low, 0);
        if (n > 0 && b.ended.load() == n) b.ring[n - 1].low.store(low);
    }
};
TEST(LedgerSettledWrong, MergingTakesTheNewerLow) { expect_skipped<Many, Notes<TakesTheNewerLow>>(); }

struct KeepsTheOlderId {
    template <class B>
    static void note(B& b, Value xid, UnixTime low) {
        const Value n = b.ended.load();
        const Value older = n > 0 ? b.ring[n - 1].xid.load() : 0;
        note_ended(b, xid, low, 0);
        if (n > 0 && b.ended.load() == n) b.ring[n - 1].xid.store(older);
    }
};
TEST(LedgerSettledWrong, MergingKeepsTheOlderId) { expect_skipped<Many, Notes<KeepsTheOlderId>>(); }

// A full ring whose first two entries become what Merged says.
template <class Merged>
struct FullRing {
    static void note(Other& b, Value xid, UnixTime low) { note_ended(b, xid, low, 0); }
    static void note(Own& b, Value xid, UnixTime low) {
        if (b.ended.load() < own_places) return note_ended(b, xid, low, 0);
        const auto merged =
            Merged::of(b.ring[0].xid.load(), b.ring[0].low.load(), b.ring[1].xid.load(), b.ring[1].low.load());
        detail::put(b.ring[0], merged.first, merged.second, 0);
        detail::put(b.ring[1], b.ring[2].xid.load(), b.ring[2].low.load(), 0);
        detail::put(b.ring[2], xid, low, 0);
    }
};
using XidAndLow = std::pair<Value, UnixTime>;
struct Lowest {
    static XidAndLow of(Value, UnixTime low, Value upper, UnixTime upper_low) {
        return {upper, low < upper_low ? low : upper_low};
    }
};
struct ForgetsTheOldest {
    static XidAndLow of(Value, UnixTime, Value upper, UnixTime upper_low) { return {upper, upper_low}; }
};
struct OlderId {
    static XidAndLow of(Value xid, UnixTime low, Value, UnixTime upper_low) {
        return {xid, low < upper_low ? low : upper_low};
    }
};
TEST(LedgerSettledModel, FullRingWithTheOldestMerged) {
    Full<Notes<FullRing<Lowest>>> m;
    expect_right(m);
}
TEST(LedgerSettledWrong, FullRingForgetsTheOldest) { expect_skipped<Full, Notes<FullRing<ForgetsTheOldest>>>(); }
TEST(LedgerSettledWrong, FullRingKeepsTheOlderId) { expect_skipped<Full, Notes<FullRing<OlderId>>>(); }

struct NewestFirst {
    static void note(Other& b, Value xid, UnixTime low) { note_ended(b, xid, low, 0); }
    static void note(Own& b, Value xid, UnixTime low) {
        if (b.ended.load() < own_places) return note_ended(b, xid, low, 0);
        const XidAndLow old[] = {{b.ring[0].xid.load(), b.ring[0].low.load()},
                                 {b.ring[1].xid.load(), b.ring[1].low.load()},
                                 {b.ring[2].xid.load(), b.ring[2].low.load()}};
        detail::put(b.ring[2], xid, low, 0);
        detail::put(b.ring[1], old[2].first, old[2].second, 0);
        const XidAndLow merged = Lowest::of(0, old[0].second, old[1].first, old[1].second);
        detail::put(b.ring[0], merged.first, merged.second, 0);
    }
};
TEST(LedgerSettledWrong, EntryIsOverwrittenBeforeItIsWholeBelow) { expect_skipped<Full, Notes<NewestFirst>>(); }

struct ReadsUp : Right {
    template <class B, class Finished>
    static void limit_by(B& b, Finished finished, UnixTime& t) {
        const UnixTime low = b.low.load();
        if (low < t) t = low;
        const Value ended = b.ended.load();
        for (Value i = 0; i < ended; i++) {
            if (finished(b.ring[i].xid.load())) continue;
            const UnixTime entry_low = b.ring[i].low.load();
            if (entry_low < t) t = entry_low;
        }
    }
};
TEST(LedgerSettledWrong, RingIsReadFromTheOldest) { expect_skipped<Full, ReadsUp>(); }

struct RingFirst : Right {
    template <class B, class Finished>
    static void limit_by(B& b, Finished finished, UnixTime& t) {
        UnixTime ring = no_low;
        for (Value i = b.ended.load(); i-- > 0;) {
            if (finished(b.ring[i].xid.load())) break;
            const UnixTime low = b.ring[i].low.load();
            if (low < ring) ring = low;
        }
        const UnixTime low = b.low.load();
        if (low < t) t = low;
        if (ring < t) t = ring;
    }
};
TEST(LedgerSettledWrong, RingIsReadBeforeLow) { expect_skipped<OneDraw, RingFirst>(); }

struct NoPlace : Right {
    static bool prepare(Memory&, Value) { return true; }
};
TEST(LedgerSettledWrong, PreparedIsNotNoted) { expect_skipped<Prepares, NoPlace>(); }

struct PreparedFirst : Right {
    static constexpr bool prepared_last = false;
};
TEST(LedgerSettledWrong, PreparedAreReadFirst) { expect_skipped<Prepares, PreparedFirst>(); }

template <bool notes_later>
struct Overwrites : Right {
    static bool prepare(Memory& m, Value xid) {
        auto& p = m.other[0];
        const Value old = p.xid.load();
        const UnixTime old_low = p.low.load();
        p.low.store(m.own.low.load());
        p.xid.store(xid);
        if (notes_later && old != 0) note_ended(p, old, old_low, 0);
        return true;
    }
};
TEST(LedgerSettledWrong, PlaceIsUsedAgainWithoutANote) { expect_skipped<Prepares, Overwrites<false>>(); }
TEST(LedgerSettledWrong, PlaceIsOverwrittenBeforeTheNote) { expect_skipped<Prepares, Overwrites<true>>(); }

// ---- wrong ones, of one table ----

struct AboveLowIsNotComparedOfTable : RightOfTable {
    template <class B>
    static bool admit(Memory& m, B& b, UnixTime t) {
        return b.low.load() <= t || ledger::admit(m.promise, b, t);
    }
};
TEST(LedgerTableWrong, AboveLowIsNotCompared) { expect_skipped<OneTable, AboveLowIsNotComparedOfTable>(); }

struct LeaseIsNotCompared : RightOfTable {
    static bool serves(Memory&, Value) { return true; }
};
TEST(LedgerTableWrong, LeaseIsNotCompared) { expect_skipped<TableLease, LeaseIsNotCompared>(); }

struct RingBeforeTheTables : RightOfTable {
    template <class B, class Finished>
    static void limit_by(B& b, Finished finished, UnixTime& t) {
        const UnixTime low = b.low.load();
        UnixTime ring = t;
        ledger::limit_by(b, 0, finished, ring, Value{3});
        const Value xid = b.xid.load() & ~taken_mark;
        const bool counts = low < t && (xid == 0 || !finished(xid));
        if (counts && has_noted(b, table_read)) t = low;
        if (ring < t) t = ring;
    }
};
TEST(LedgerTableWrong, RingIsReadBeforeTheTables) { expect_skipped<OneTable, RingBeforeTheTables>(); }

struct TablesAreClearedFirst : RightOfTable {
    template <class B>
    static void end(B& b, Value xid) {
        detail::clear_tables(b);
        end_transaction(b, xid);
    }
};
TEST(LedgerTableWrong, TablesAreClearedBeforeTheRing) { expect_skipped<OneTable, TablesAreClearedFirst>(); }

struct TablePromiseLast : RightOfTable {
    static constexpr bool promise_first = false;
};
TEST(LedgerTableWrong, PromiseIsRaisedAfterTheTables) { expect_skipped<OneTable, TablePromiseLast>(); }

struct ForgetsWhatDoesNotFit : RightOfTable {
    template <class B>
    static void note(Memory& m, B& b, Value table) {
        if (b.table_count.load() == 0) note_table(m.promise, b, table);
    }
};
TEST(LedgerTableWrong, TableThatDoesNotFitIsForgotten) { expect_skipped<ManyTables, ForgetsWhatDoesNotFit>(); }

// The contract is broken: drawn before the table is noted.
template <class Steps>
struct DrawsFirst : Settled {
    DrawsFirst() {
        times = {1, 2};
        program({TableWriter<Steps>{0, 1, "dN"}});
        program({Reader<Steps>{0}});
    }
};
TEST(LedgerTableWrong, DrawnBeforeTheTableIsNoted) { expect_skipped<DrawsFirst, RightOfTable>(); }

struct PreparedWithoutTables : RightOfTable {
    static bool prepare(Memory& m, Value xid) {
        if (!Right::prepare(m, xid)) return false;
        for (auto& p : m.other)
            if (p.xid.load() == xid) detail::clear_tables(p);
        return true;
    }
};
TEST(LedgerTableWrong, PreparedLosesItsTables) { expect_skipped<TablePrepares, PreparedWithoutTables>(); }

struct TablePreparedFirst : RightOfTable {
    static constexpr bool prepared_last = false;
};
TEST(LedgerTableWrong, PreparedAreReadFirst) { expect_skipped<TablePrepares, TablePreparedFirst>(); }

}  // namespace
}  // namespace snowflake_ids::ledger
