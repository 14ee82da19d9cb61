// Micro-benchmarks of the core: step, encode, decode of each format; and what the primitives
// under it cost on this machine, which is the floor of everything above.
//
// Parsers and printers get ids one after another from a table that is larger than a branch
// predictor learns.
#include <benchmark/benchmark.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <ctime>
#include <random>
#include <vector>

#include "core/gid.hpp"
#include "core/mastic.hpp"
#include "core/order.hpp"
#include "core/sno.hpp"
#include "core/snowflake_si.hpp"
#include "core/step.hpp"
#include "ledger/claim.hpp"
#include "ledger/clock.hpp"
#include "ledger/settled.hpp"
#include "ledger/slot.hpp"

namespace {

using namespace snowflake_ids;

constexpr std::size_t count = 4096;

std::mt19937_64& random64() {
    static std::mt19937_64 engine(4711);
    return engine;
}

template <class Id>
Id random_id();

template <>
sno::Id random_id() {
    return sno::compose({(std::uint64_t{4} << 36) + (random64()() & 0xffffffff), 0, 0, 7,
                         static_cast<std::uint32_t>(random64()() & 0xffff)});
}

template <>
gid::Id random_id() {
    return gid::make(gid::Kind::volume, 1793491200000 + (random64()() & 0xffffffff), random64()());
}

template <class Id>
const std::vector<Id>& ids() {
    static const std::vector<Id> made = [] {
        std::vector<Id> v(count);
        for (Id& id : v) id = random_id<Id>();
        return v;
    }();
    return made;
}

template <class Id, std::size_t size>
const std::vector<std::array<char, size>>& texts() {
    static const std::vector<std::array<char, size>> made = [] {
        std::vector<std::array<char, size>> v(count);
        for (std::size_t i = 0; i < count; i++) print(ids<Id>()[i], v[i].data());
        return v;
    }();
    return made;
}

// ---- text and bytes

template <class Id, std::size_t size>
void print_id(benchmark::State& state) {
    std::size_t i = 0;
    std::array<char, size> out;
    for (auto _ : state) {
        print(ids<Id>()[i++ % count], out.data());
        benchmark::DoNotOptimize(out);
    }
}

void sno_parse(benchmark::State& state) {
    const auto& in = texts<sno::Id, sno::text_size>();
    std::size_t i = 0;
    for (auto _ : state) benchmark::DoNotOptimize(sno::parse(in[i++ % count].data(), sno::text_size));
}

void gid_parse(benchmark::State& state) {
    const auto& in = texts<gid::Id, gid::text_size>();
    std::size_t i = 0;
    for (auto _ : state) benchmark::DoNotOptimize(gid::parse(in[i++ % count].data(), gid::text_size));
}

void compose_64_bit(benchmark::State& state, const Layout& layout) {
    std::uint64_t n = 0;
    for (auto _ : state) {
        benchmark::DoNotOptimize(n);
        benchmark::DoNotOptimize(layout.compose({n >> 4, 0, static_cast<std::uint32_t>(n & 0xff)}));
        n++;
    }
}

void mastic_compose(benchmark::State& state) { compose_64_bit(state, mastic::layout); }
void snowflake_si_compose(benchmark::State& state) { compose_64_bit(state, snowflake_si::layout); }

void sno_compose(benchmark::State& state) {
    std::uint64_t n = 0;
    for (auto _ : state) {
        benchmark::DoNotOptimize(n);
        benchmark::DoNotOptimize(sno::compose({n >> 4, 0, 0, 7, static_cast<std::uint32_t>(n & 0xff)}));
        n++;
    }
}

template <class Id>
void compare_ids(benchmark::State& state) {
    std::size_t i = 0;
    for (auto _ : state) {
        benchmark::DoNotOptimize(compare(ids<Id>()[i % count], ids<Id>()[(i * 7 + 1) % count]));
        i++;
    }
}

template <class Id, class Key>
void sort_key(benchmark::State& state) {
    const Key key(ids<Id>()[0]);
    std::size_t i = 0;
    for (auto _ : state) benchmark::DoNotOptimize(key(ids<Id>()[i++ % count]));
}

// ---- the generator

void pure_step(benchmark::State& state) {
    const Rules rules{.min = 0, .max = 65535, .max_tick = sno::timeline.max_tick(), .has_toggle = true};
    State s{.tick = 1};
    for (auto _ : state) {
        const Step next = step(s, s.tick + (s.next == 60000), 1, rules);
        s = next.state;
        benchmark::DoNotOptimize(s);
    }
}

ledger::Slot slot;

// With the real clock, over memory that all threads share.
void claim(benchmark::State& state) {
    const Rules rules{.min = 0, .max = 65535, .max_tick = sno::timeline.max_tick(), .has_toggle = true};
    ledger::SystemClock clock{[] { return sno::timeline; }};
    for (auto _ : state) benchmark::DoNotOptimize(ledger::claim<true>(slot, clock, 1, rules));
}

// ---- primitives of the machine

void clock_read(benchmark::State& state) {
    for (auto _ : state) benchmark::DoNotOptimize(ledger::wall_us());
}

alignas(64) std::atomic<std::uint64_t> word;

void compare_and_swap(benchmark::State& state) {
    for (auto _ : state) {
        std::uint64_t seen = word.load();
        while (!word.compare_exchange_weak(seen, seen + 1)) {}
    }
}

void clock_and_swap(benchmark::State& state) {
    for (auto _ : state) {
        std::uint64_t seen = word.load();
        benchmark::DoNotOptimize(ledger::wall_us());
        while (!word.compare_exchange_weak(seen, seen + 1)) {}
    }
}

// What settled.hpp adds to a transaction that draws, and what a reader does.
ledger::Backend processes[100];
ledger::Word promised;

void settled_transaction(benchmark::State& state) {
    ledger::Backend& own = processes[0];
    own.low.store(ledger::no_low);
    std::uint64_t now = 1, xid = 1;
    for (auto _ : state) {
        std::uint64_t covered = ledger::no_low;
        benchmark::DoNotOptimize(ledger::accepts(promised, own, ++now, covered));
        ledger::end_transaction(own, 1, ++xid, [] { return std::uint64_t{0}; });
    }
}

void settled_read(benchmark::State& state) {
    struct View {
        bool finished(std::uint64_t xid) const { return xid < 1000; }
        bool runs(std::uint64_t) const { return true; }
        std::uint64_t next_xid() const { return 2000; }
    };
    for (ledger::Backend& b : processes) {
        b.low.store(5000);
        ledger::note_ended(b, 999, 4000);
        ledger::note_ended(b, 1001, 4500);
    }
    for (auto _ : state) {
        std::uint64_t t = 6000;
        for (ledger::Backend& b : processes) benchmark::DoNotOptimize(ledger::limit_by(b, 0, View{}, t));
        benchmark::DoNotOptimize(t);
    }
}

}  // namespace

BENCHMARK(settled_transaction)->Name("settled: shown and taken back, a committed transaction");
BENCHMARK(settled_read)->Name("settled: a look at 100 processes");
BENCHMARK(print_id<sno::Id, sno::text_size>)->Name("sno, print");
BENCHMARK(sno_parse)->Name("sno, parse");
BENCHMARK(sno_compose)->Name("sno, compose");
BENCHMARK(compare_ids<sno::Id>)->Name("sno, compare");
BENCHMARK(sort_key<sno::Id, sno::SortKey>)->Name("sno, sort key");
BENCHMARK(print_id<gid::Id, gid::text_size>)->Name("gid, print");
BENCHMARK(gid_parse)->Name("gid, parse");
BENCHMARK(compare_ids<gid::Id>)->Name("gid, compare");
BENCHMARK(sort_key<gid::Id, gid::SortKey>)->Name("gid, sort key");
BENCHMARK(mastic_compose)->Name("Mastic, compose");
BENCHMARK(snowflake_si_compose)->Name("Snowflake-SI, compose");
BENCHMARK(pure_step)->Name("step");
BENCHMARK(claim)->Name("claim with a clock read")->Threads(1)->Threads(2)->UseRealTime();
BENCHMARK(clock_read)->Name("machine: clock read");
BENCHMARK(compare_and_swap)->Name("machine: compare-and-swap of a shared word")->Threads(1)->Threads(2)->UseRealTime();
BENCHMARK(clock_and_swap)->Name("machine: clock read, then swap")->Threads(1)->Threads(2)->UseRealTime();

BENCHMARK_MAIN();
