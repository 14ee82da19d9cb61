// Many processes draw from one ledger while the clock jumps and some are killed. Each logs what it drew in shared
// memory; the logs together show repeats. In a nervous storm, processes pause at random between accesses, because on
// few processors they seldom meet in the narrow places.
//
// A range claimed by a process killed before it logged it is a gap. If another process got that range again, there are
// fewer gaps than kills.
#pragma once

#include <sys/prctl.h>
#include <time.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include "ledger/claim.hpp"
#include "ledger/clock.hpp"
#include "ledger/find_slot.hpp"
#include "ledger/shared_memory.hpp"
#include "support/ledger_process.hpp"
#include "support/ledger_watched.hpp"
#include "support/times.hpp"

namespace snowflake_ids::test {

struct StormFormat {
    ledger::Key key;
    Rules rules;
    microseconds tick_length;
};

struct Entry {
    std::uint64_t block;  // tick << 4 | format << 1 | toggle
    std::uint32_t first;
    std::uint32_t count;

    std::uint64_t tick() const { return block >> 4; }
    std::size_t format() const { return block >> 1 & 7; }
    bool operator<(const Entry& e) const { return block != e.block ? block < e.block : first < e.first; }
};

struct StormLog {
    static constexpr std::size_t capacity = 2'000'000;

    ledger::Word count;
    ledger::Word toggles, advances, waits;
    Entry entries[capacity];
};

struct StormSky {
    static constexpr std::size_t max_workers = 16;

    ledger::Holds<UnixTime> wall;  // 0: the real clock
    ledger::Word stop;
    ledger::Word turns;  // how often the driver turned the clock back
    StormLog logs[max_workers];
};

struct StormClock {
    const StormSky& sky;
    microseconds length;  // of a tick

    microseconds wall() const {
        const UnixTime t = sky.wall.load();
        return (t != UnixTime{} ? t : ledger::wall_clock()).time_since_epoch();
    }
    Result<std::uint64_t> tick() const { return static_cast<std::uint64_t>(wall() / length); }
    MonotonicTime monotonic() const { return ledger::monotonic_clock(); }
    microseconds until(std::uint64_t tick) const { return static_cast<std::int64_t>(tick) * length - wall(); }
    microseconds tick_length() const { return length; }
};

// Sleeps, because a process that yields gives a whole slice to the rest of the machine.
inline void doze(long nanoseconds = 1) {
    const timespec moment{0, nanoseconds};
    nanosleep(&moment, nullptr);
}

class Nervous final : public Watcher {
public:
    Nervous(ledger::Slot& slot, const StormClock& clock, std::uint64_t seed)
        : cells_{&slot.key, &slot.word, &slot.safe, nullptr, &slot.begun}, clock_(clock), random_(seed) {}

    std::uint64_t load(Cell cell) override { return pause(), cells_[cell]->load(); }
    bool swap(Cell cell, std::uint64_t& expected, std::uint64_t desired) override {
        return pause(), cells_[cell]->compare_exchange_strong(expected, desired);
    }
    void store(Cell cell, std::uint64_t value) override { pause(), cells_[cell]->store(value); }
    Result<std::uint64_t> tick() override { return pause(), clock_.tick(); }
    MonotonicTime monotonic() override { return pause(), clock_.monotonic(); }
    microseconds until(std::uint64_t tick) override { return clock_.until(tick); }
    microseconds tick_length() override { return clock_.tick_length(); }

private:
    void pause() {
        random_ = random_ * 6364136223846793005 + 1442695040888963407;
        // Now and then long enough for others to make several steps.
        if (random_ >> 60 == 0) doze((random_ >> 56 & 15) == 0 ? 300'000 : 1);
    }

    ledger::Word* cells_[cell_count];  // in the order of Cell; a claim has no business with the ceiling
    const StormClock& clock_;
    std::uint64_t random_;
};

struct RealClaims {
    template <class S, class Clock>
    static ledger::Claim claim(S& slot, Clock& clock, std::uint32_t want, const Rules& rules) {
        return rules.has_toggle ? ledger::claim<true>(slot, clock, want, rules)
                                : ledger::claim<false>(slot, clock, want, rules);
    }
};

struct StormPlan {
    std::vector<StormFormat> formats;
    unsigned workers = 6;
    double seconds = 2;  // at least, until there are so many:
    std::uint64_t claims = 1000, toggles = 0, advances = 0, deaths = 0;
    double patience = 120;  // or this time is over
    bool real_clock = false;
    bool nervous = false;
    bool processes = true;  // false: threads, for ThreadSanitizer
    unsigned kills = 0;     // how many in `seconds`, and as often afterwards
    std::uint64_t seed = 1;
};

struct StormReport {
    std::uint64_t claims = 0, ids = 0, toggles = 0, advances = 0, waits = 0, turns = 0, kills = 0;
    std::uint64_t repeats = 0;    // claims with a number that an earlier one had
    std::uint64_t disorders = 0;  // claims not above the process's last one of that toggle
    std::uint64_t outside = 0;
    std::uint64_t gaps = 0;  // ranges that nobody logged
};

template <class Claims>
class Storm {
public:
    explicit Storm(const StormPlan& plan) : plan_(plan) {
        for (const StormFormat& f : plan_.formats) slots_.push_back(ledger::find_slot(ledger_, f.key));
    }
    Storm(const Storm&) = delete;
    Storm& operator=(const Storm&) = delete;

    StormReport run() {
        if (!plan_.real_clock) sky_->wall.store(start);
        plan_.processes ? run_processes() : run_threads();
        return examine();
    }

private:
    static constexpr UnixTime start{1000s};

    void work(unsigned worker, std::uint64_t seed) {
        prctl(PR_SET_TIMERSLACK, 1);
        std::mt19937_64 random(seed);
        StormLog& log = sky_->logs[worker];
        while (sky_->stop.load(std::memory_order_relaxed) == 0) {
            const std::uint64_t n = log.count.load(std::memory_order_relaxed);
            if (n == StormLog::capacity) return;
            const std::uint64_t r = random();
            const std::size_t format = r % plan_.formats.size();
            const std::uint32_t kind = r >> 32 & 1023;
            const std::uint32_t want = kind > 128 ? 1 : kind > 0 ? 1 + (r >> 42 & 63) : 70000;
            if (!plan_.real_clock && (r >> 50 & 31) == 0) turn_clock(random());
            const ledger::Claim c = draw(format, want, r);
            if (c.outcome != ledger::Outcome::issued) {
                log.waits.fetch_add(1, std::memory_order_relaxed);
                if (r >> 60 == 0) doze();
                continue;
            }
            log.entries[n] = {c.tick << 4 | format << 1 | c.toggle, c.first, c.count};
            log.count.store(n + 1, std::memory_order_release);
            if (c.standing.toggled) log.toggles.fetch_add(1, std::memory_order_relaxed);
            if (c.standing.begun) log.advances.fetch_add(1, std::memory_order_relaxed);
        }
    }

    ledger::Claim draw(std::size_t format, std::uint32_t want, std::uint64_t seed) {
        const StormFormat& f = plan_.formats[format];
        StormClock clock{*sky_, f.tick_length};
        if (!plan_.nervous) return Claims::claim(*slots_[format], clock, want, f.rules);
        Nervous nervous(*slots_[format], clock, seed);
        WatchedSlot slot(nervous);
        WatchedClock watched{&nervous};
        return Claims::claim(slot, watched, want, f.rules);
    }

    // The clock runs, stands still, and jumps, mostly a few ticks back, so that ticks repeat. Those who draw turn it: a
    // process of its own would take a processor away from the race.
    void turn_clock(std::uint64_t r) {
        const UnixTime now = sky_->wall.load();
        const microseconds distance{(r >> 8) % (r >> 48 & 7 ? 100 : 2000)};
        const unsigned mood = r & 7;
        if (mood == 0) {
            sky_->wall.store(now - std::min(distance, now - start));
            sky_->turns.fetch_add(1);
        } else if (mood == 1) {
            sky_->wall.store(now + distance);
        } else if (mood > 2) {
            sky_->wall.store(now + microseconds{10});
        }
    }

    bool goes_on(double start) const {
        const double passed = seconds_now() - start;
        if (passed < plan_.seconds) return true;
        if (passed > plan_.patience) return false;
        std::uint64_t claims = 0, toggles = 0, advances = 0;
        for (unsigned i = 0; i < plan_.workers; i++) {
            const StormLog& log = sky_->logs[i];
            claims += log.count.load();
            toggles += log.toggles.load();
            advances += log.advances.load();
        }
        return claims <= plan_.claims || toggles < plan_.toggles || advances < plan_.advances || kills_ < plan_.deaths;
    }

    void run_processes() {
        std::vector<pid_t> pids;
        std::uint64_t seed = plan_.seed * 1000;
        const auto start_worker = [&](unsigned i) {
            const std::uint64_t mine = ++seed;
            return spawn([this, i, mine] { return work(i, mine), 0; });
        };
        for (unsigned i = 0; i < plan_.workers; i++) pids.push_back(start_worker(i));

        std::mt19937_64 random(plan_.seed);
        const double start = seconds_now();
        while (goes_on(start)) {
            if (plan_.kills == 0) {
                usleep(10000);
                continue;
            }
            usleep(static_cast<useconds_t>(plan_.seconds * 1e6 / plan_.kills) / 2 + random() % 500);
            const unsigned victim = static_cast<unsigned>(random() % plan_.workers);
            kill(pids[victim], SIGKILL);
            kills_ += wait_for(pids[victim]) == 128 + SIGKILL;
            pids[victim] = start_worker(victim);
        }
        sky_->stop.store(1);
        for (const pid_t pid : pids) EXPECT_EQ(wait_for(pid), 0);
    }

    void run_threads() {
        std::vector<std::thread> threads;
        for (unsigned i = 0; i < plan_.workers; i++) {
            threads.emplace_back([this, i] { work(i, plan_.seed * 1000 + i); });
        }
        const double start = seconds_now();
        while (goes_on(start)) usleep(10000);
        sky_->stop.store(1);
        for (std::thread& t : threads) t.join();
    }

    StormReport examine() const {
        StormReport report;
        std::vector<Entry> all;
        for (unsigned i = 0; i < plan_.workers; i++) {
            const StormLog& log = sky_->logs[i];
            examine_order(log, report);
            all.insert(all.end(), log.entries, log.entries + log.count.load());
            report.toggles += log.toggles.load();
            report.advances += log.advances.load();
            report.waits += log.waits.load();
        }
        std::sort(all.begin(), all.end());
        std::uint64_t block = ~std::uint64_t{0}, next = 0;
        for (const Entry& e : all) {
            const Rules& rules = plan_.formats[e.format()].rules;
            if (e.block != block) next = rules.min;
            block = e.block;
            report.repeats += e.first < next;
            report.gaps += e.first > next;
            report.outside += e.first < rules.min || std::uint64_t{e.first} + e.count > std::uint64_t{rules.max} + 1;
            next = std::max<std::uint64_t>(next, std::uint64_t{e.first} + e.count);
            report.ids += e.count;
        }
        report.claims = all.size();
        report.turns = sky_->turns.load();
        report.kills = kills_;
        return report;
    }

    // A worker and its successors write one log.
    void examine_order(const StormLog& log, StormReport& report) const {
        std::vector<Entry> last(plan_.formats.size() * 2, Entry{0, 0, 0});
        for (std::uint64_t i = 0; i < log.count.load(); i++) {
            const Entry& e = log.entries[i];
            Entry& before = last[e.block & 15];
            if (before.count != 0) {
                report.disorders +=
                    e.block < before.block || (e.block == before.block && e.first < before.first + before.count);
            }
            before = e;
        }
    }

    StormPlan plan_;
    LedgerMemory memory_;
    ledger::Ledger ledger_ = memory_.make();
    std::vector<ledger::Slot*> slots_;
    Shared<StormSky> sky_;
    std::uint64_t kills_ = 0;
};

}  // namespace snowflake_ids::test
