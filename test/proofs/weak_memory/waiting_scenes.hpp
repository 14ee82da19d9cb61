// waiting.hpp: no reader sleeps before a row that it has not read, unless its latch is set or it will look by itself.
#pragma once

#include "ledger/waiting.hpp"
#include "settling_scenes.hpp"

namespace snowflake_ids::weak_memory {

struct Waiting {
    static constexpr Value read = 1;    // all rows up to this time
    static constexpr Value table = 21;  // with two different words
    struct {
        Word<MonotonicTime> watched_until;
        Word<UnixTime> traces[2];
        Word<> sleepers[1];
    } header;
    struct {
        Word<> database, tables[1];
    } backend;
    Word<UnixTime> issued;  // in place of the slots

    rl::mutex snapshot_lock;
    Value committed = read;
    bool woken = false;
    Value asleep_after = 0;
    MonotonicTime look_again{}, now = MonotonicTime{} + seconds{1};
    bool time_passes = false;

    Waiting() {
        header.watched_until.begin("watched_until");
        for (auto& trace : header.traces) trace.begin("traces");
        for (auto& sleeper : header.sleepers) sleeper.begin("sleepers");
        backend.database.begin(nullptr);
        backend.tables[0].begin(nullptr, table);
        issued.begin("issued");
    }
    ledger::TracePlace place() const { return ledger::trace_place(header, 0, table); }
    MonotonicTime clock() {
        pause();
        if (time_passes && pick(3) == 0) now += seconds{pick(2) == 0 ? 20 : 48};
        return now;
    }
    Value newest() {
        const Held held(snapshot_lock);
        return committed;
    }
    // As src/pg/promise/writer.cpp.
    void write(Value t) {
        ledger::lift_to(issued, time_at(t));
        {
            const Held held(snapshot_lock);
            if (committed < t) committed = t;
        }
        if (!ledger::is_watched(header, [this] { return clock(); })) return;
        const std::uint64_t groups = ledger::leave_traces(header, backend, 1, false, time_at(t));
        ledger::wake_sleepers(header, groups, [this](Value) { woken = true; });
    }
    // As src/pg/settled/wait.cpp. Goes to sleep when it has looked so many times.
    void wait(int times) {
        ledger::Watch own;
        Value told = read + 1;
        for (int n = 1; n <= times + 1; n++) {
            ledger::watch(
                header, own, [this] { return clock(); }, [this] { return last_issued(); });
            auto* const word = ledger::put_sleeper(header, 0, place().group);
            const UnixTime trace = ledger::trace_of(header, place());
            if (trace < time_at(told) && own.since < time_at(told)) {
                if (n >= times) {
                    asleep_after = told;
                    look_again = own.until;
                    return;
                }
            } else {
                told = newest() + 1;
            }
            word->store(0);
        }
    }
    UnixTime last_issued() { return issued.load(); }
    void check() {
        require(asleep_after == 0 || asleep_after > committed || woken || now >= look_again, "a wake-up was missed");
    }
};

struct SleeperAndWriters : rl::test_suite<SleeperAndWriters, 3>, Waiting {
    static constexpr const char* name = "a sleeper and writers";

    void thread(unsigned i) { i == 0 ? wait(2) : write(read + i); }
    void after() { check(); }
};

// A writer that finds the time over stops leaving traces.
struct WatchEnds : rl::test_suite<WatchEnds, 2>, Waiting {
    static constexpr const char* name = "the end of a watch";

    void before() { time_passes = true; }
    void thread(unsigned i) {
        if (i == 0) return wait(3);
        write(read + 1);
        write(read + 2);
    }
    void after() { check(); }
};

}  // namespace snowflake_ids::weak_memory
