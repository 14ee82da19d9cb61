// waiting.hpp under every interleaving, with clocks that stand still or jump: at rest, no reader sleeps before an
// unread row, unless its latch is set or it will soon look by itself.
#include <gtest/gtest.h>

#include <bit>
#include <utility>
#include <vector>

#include "ledger/waiting.hpp"
#include "support/ledger_explore.hpp"

namespace snowflake_ids::ledger {
namespace {

using namespace snowflake_ids::test;

constexpr Value latches = 2, ids = 16;
enum : unsigned {
    watched_cell = cell_count,
    traces_cell,
    sleepers_cell = traces_cell + 2,
    issued_cell = sleepers_cell + latches,  // the newest id
    committed_cell,                         // the newest id that readers can see
    latch_cell,
    end_cell = latch_cell + latches
};
static_assert(unsigned{end_cell} <= unsigned{lock_cell});

Cell as_cell(unsigned c) { return static_cast<Cell>(c); }
constexpr UnixTime time_at(Value t) { return UnixTime{microseconds{t}}; }

struct ModelHeader {
    WatchedWord<MonotonicTime> watched_until;
    WatchedWord<UnixTime> traces[2];
    WatchedWord<> sleepers[latches];
};
struct ModelBackend {
    WatchedWord<> database, tables[1];
};

struct Memory {
    ModelHeader header;
    ModelBackend backend;
    WatchedWord<UnixTime> issued, committed;
    WatchedWord<> latch[latches];

    explicit Memory(World& w) {
        header.watched_until.watch(w, as_cell(watched_cell));
        issued.watch(w, as_cell(issued_cell));
        committed.watch(w, as_cell(committed_cell));
        for (unsigned i = 0; i < 2; i++) {
            header.traces[i].watch(w, as_cell(traces_cell + i));
            header.sleepers[i].watch(w, as_cell(sleepers_cell + i));
            latch[i].watch(w, as_cell(latch_cell + i));
        }
    }
};

// ---- the steps, to be replaced one by one ----

struct Right {
    template <class Clock, class Issued>
    static void watch(ModelHeader& h, Watch& own, Clock clock, Issued issued) {
        ledger::watch(h, own, clock, issued);
    }
    template <class Clock>
    static bool is_watched(ModelHeader& h, Clock clock) {
        return ledger::is_watched(h, clock);
    }
    static constexpr bool sleeper_first = true, traces_first = true, id_first = true;
};

// A process that stands still for longer than the times of waiting.hpp sees a later clock of seconds.
struct Waiting : Model {
    std::vector<Value> clock_at{1, 49, 61};
    enum : unsigned { ended_ghost, asleep_ghost };
    static constexpr Complaint missed = "a wake-up was missed";

    Waiting() {
        crashes = false;
        max_history = 200;
        Global g{};
        g.monotonic = 1'000'000;
        initial.push_back(g);
    }
    void ticks(const Global&, std::vector<Answer>& out) const override { out.push_back({0}); }
    void monotonics(const Global& g, std::vector<Answer>& out) const override {
        for (const Value t : clock_at)
            if (t * 1'000'000 >= g.monotonic) out.push_back({t * 1'000'000});
        if (out.empty()) out.push_back({g.monotonic});
    }
    // A sleeping reader tells its latch, the id up to which it has read, and until when others leave traces.
    Complaint on_done(Global& g, const Claim& c) override {
        if (c.tick != 0) g.ghost[asleep_ghost + c.first] = c.tick;
        g.ghost[ended_ghost]++;
        return nullptr;
    }
    Complaint always(const Global& g) override {
        std::size_t operations_in_all = 0;
        for (const auto& p : programs) operations_in_all += p.size();
        if (g.ghost[ended_ghost] < operations_in_all) return nullptr;
        for (unsigned i = 0; i < latches; i++) {
            const Value read = g.ghost[asleep_ghost + i] % ids, until = g.ghost[asleep_ghost + i] / ids;
            if (read != 0 && read <= g.memory[committed_cell] && g.memory[latch_cell + i] == 0 && g.monotonic < until)
                return missed;
        }
        return nullptr;
    }
    void program(std::vector<Operation> of) {
        std::vector<unsigned> indexes;
        for (Operation& o : of) {
            indexes.push_back(static_cast<unsigned>(operations.size()));
            operations.push_back(std::move(o));
        }
        programs.push_back(indexes);
    }
};

template <class Steps>
struct Writer {
    Value t;

    Claim operator()(World& w) const {
        Memory m(w);
        if (Steps::id_first) lift_to(m.issued, time_at(t));
        lift_to(m.committed, time_at(t));
        const auto clock = [&w] { return w.clock.monotonic(); };
        if (!Steps::is_watched(m.header, clock)) {
            if (!Steps::id_first) lift_to(m.issued, time_at(t));
            return {};
        }
        const auto wake = [&m](Value process) { m.latch[process].store(1); };
        if (!Steps::traces_first) wake_sleepers(m.header, all_groups, wake);
        const std::uint64_t groups = leave_traces(m.header, m.backend, 1, false, time_at(t));
        if (Steps::traces_first) wake_sleepers(m.header, groups, wake);
        return {};
    }
};

// It has read all ids before 1, looks `rounds` times, and reads when it finds a trace.
template <class Steps>
struct Reader {
    Value process = 0;
    int rounds = 1;

    Claim operator()(World& w) const {
        Memory m(w);
        Watch own;
        UnixTime told = time_at(1);
        const auto clock = [&w] { return w.clock.monotonic(); };
        for (int i = 1;; i++) {
            Steps::watch(m.header, own, clock, [&m] { return m.issued.load(); });
            const TracePlace place = trace_place(m.header, 0, 0);
            const auto trace = [&] {
                const UnixTime t = trace_of(m.header, place);
                return t < own.since ? own.since : t;
            };
            UnixTime found = Steps::sleeper_first ? UnixTime{} : trace();
            auto* const word = put_sleeper(m.header, process, place.group);
            if (Steps::sleeper_first) found = trace();
            if (found >= told) {
                word->store(0);
                told = m.committed.load() + microseconds{1};
            } else if (i >= rounds) {
                break;
            } else {
                word->store(0);
            }
            if (i > rounds) return {};
        }
        Claim asleep{};
        asleep.tick = static_cast<Value>(number_of(own.until)) * ids + static_cast<Value>(number_of(told));
        asleep.first = static_cast<std::uint32_t>(process);
        return asleep;
    }
};

template <class Steps>
struct OneWriter : Waiting {
    OneWriter() {
        clock_at = {1, 61};
        program({Writer<Steps>{5}});
        program({Reader<Steps>{0, 1}});
    }
};
template <class Steps>
struct TimePasses : Waiting {
    TimePasses() {
        program({Writer<Steps>{5}, Writer<Steps>{6}});
        program({Reader<Steps>{0, 3}});
    }
};
template <class Steps>
struct TwoWriters : Waiting {
    TwoWriters() {
        clock_at = {1};
        program({Writer<Steps>{5}});
        program({Writer<Steps>{6}});
        program({Reader<Steps>{0, 1}});
    }
};
template <class Steps>
struct TwoReaders : Waiting {
    TwoReaders() {
        clock_at = {1};
        program({Writer<Steps>{5}});
        program({Reader<Steps>{0, 1}});
        program({Reader<Steps>{1, 1}});
    }
};

TEST(LedgerWaitingModel, OneWriter) {
    OneWriter<Right> m;
    expect_right(m);
}
TEST(LedgerWaitingModel, TimePasses) {
    TimePasses<Right> m;
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

// ---- wrong ones ----

template <template <class> class M, class Steps>
void expect_missed() {
    M<Steps> m;
    expect_found(m, Waiting::missed);
}

struct LooksFirst : Right {
    static constexpr bool sleeper_first = false;
};
TEST(LedgerWaitingWrong, TracesBeforeTheSleeper) { expect_missed<OneWriter, LooksFirst>(); }

struct WakesFirst : Right {
    static constexpr bool traces_first = false;
};
TEST(LedgerWaitingWrong, WakesBeforeTheTraces) { expect_missed<OneWriter, WakesFirst>(); }

struct NotSince : Right {
    template <class Clock, class Issued>
    static void watch(ModelHeader& h, Watch& own, Clock clock, Issued) {
        ledger::watch(h, own, clock, [] { return UnixTime{}; });
    }
};
TEST(LedgerWaitingWrong, EarlierIdsDoNotCount) { expect_missed<OneWriter, NotSince>(); }

struct IdLast : Right {
    static constexpr bool id_first = false;
};
TEST(LedgerWaitingWrong, IdAfterTheLookAtReaders) { expect_missed<OneWriter, IdLast>(); }

struct LooksAtIdsFirst : Right {
    template <class Clock, class Issued>
    static void watch(ModelHeader& h, Watch& own, Clock clock, Issued issued) {
        const UnixTime since = issued();
        ledger::watch(h, own, clock, [since] { return since; });
    }
};
TEST(LedgerWaitingWrong, LastIdBeforeTheReaderIsSeen) { expect_missed<OneWriter, LooksAtIdsFirst>(); }

struct ReadersClockFirst : Right {
    template <class Clock, class Issued>
    static void watch(ModelHeader& h, Watch& own, Clock clock, Issued issued) {
        const MonotonicTime now = clock();
        ledger::watch(
            h, own, [now] { return now; }, issued);
    }
};
TEST(LedgerWaitingWrong, ReaderDoesNotReadTheClockAgain) { expect_missed<TimePasses, ReadersClockFirst>(); }

struct WritersClockLast : Right {
    template <class Clock>
    static bool is_watched(ModelHeader& h, Clock clock) {
        MonotonicTime until = h.watched_until.load();
        if (until == MonotonicTime{}) return false;
        if (until > clock()) return true;
        h.watched_until.compare_exchange_strong(until, MonotonicTime{});
        return false;
    }
};
TEST(LedgerWaitingWrong, WriterReadsTheClockAfterTheWord) { expect_missed<TimePasses, WritersClockLast>(); }

struct StopsForAll : Right {
    template <class Clock>
    static bool is_watched(ModelHeader& h, Clock clock) {
        if (h.watched_until.load() == MonotonicTime{}) return false;
        const MonotonicTime now = clock();
        if (h.watched_until.load() > now) return true;
        h.watched_until.store(MonotonicTime{});
        return false;
    }
};
TEST(LedgerWaitingWrong, WriterOverwritesALaterTime) { expect_missed<TimePasses, StopsForAll>(); }

struct TrustsTooLong : Right {
    template <class Clock, class Issued>
    static void watch(ModelHeader& h, Watch& own, Clock clock, Issued issued) {
        ledger::watch(h, own, clock, issued);
        own.until += watch_time;
    }
};
TEST(LedgerWaitingWrong, TrustsForTooLong) { expect_missed<TimePasses, TrustsTooLong>(); }

}  // namespace
}  // namespace snowflake_ids::ledger
