// What the pictures in doc/pictures show, from the code that makes ids: the bits of each format, example ids, and the
// ids of a server that crashes and whose clock goes back. tools/pictures compiles and runs it, and draws.
//
// usage: pictures_facts WINDOW_MS MARGIN_MS    (the durable window, and the part of it at which ceilings are raised)
// Writes lines of fields separated by tabs; the first field says what the line is.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <initializer_list>

#include "core/gid.hpp"
#include "core/known_layouts.hpp"
#include "core/mastic.hpp"
#include "core/sno.hpp"
#include "core/snowflake_si.hpp"
#include "core/step.hpp"

using namespace snowflake_ids;

namespace {

// 2026-11-22T09:30:00.124Z, at the start of a unit of sno.
constexpr std::int64_t moment_us = 1795339800124000;

void format(const char* name, unsigned bits, const Timeline& t) {
    std::printf("format\t%s\t%u\t%lld\t%lld\t%lld\n", name, bits, static_cast<long long>(t.epoch_us),
                static_cast<long long>(t.tick_us), static_cast<long long>(t.end_us()));
}

void field(const char* format, const char* kind, unsigned from, unsigned width) {
    if (width > 0) std::printf("field\t%s\t%s\t%u\t%u\n", format, kind, from, width);
}

// Where a field is: the bits in which two ids differ if one has all zeros in it and the other all ones.
template <class Id>
void field_between(const char* format, const char* kind, const Id& zeros, const Id& ones) {
    unsigned from = 0, width = 0;
    for (unsigned i = 0; i < 8 * sizeof zeros.bytes; i++) {
        if (((zeros.bytes[i / 8] ^ ones.bytes[i / 8]) >> (7 - i % 8) & 1) == 0) continue;
        if (width++ == 0) from = i;
        if (from + width != i + 1) std::abort();
    }
    field(format, kind, from, width);
}

void layout(const char* name, const Layout& l, const char* sequence) {
    const unsigned unused = 64 - l.bits();
    const unsigned time = unused, low = unused + l.timeline.bits;
    format(name, 64, l.timeline);
    field(name, "unused", 0, unused);
    field(name, "time", time, l.timeline.bits);
    field(name, "node", l.node_last ? low + l.sequence_bits : low, l.node_bits);
    field(name, sequence, l.node_last ? low : low + l.node_bits, l.sequence_bits);
}

void snos() {
    constexpr std::uint64_t tick = sno::timeline.floor_tick(moment_us).value;
    constexpr sno::Id id = sno::compose({tick, 0, 7, 300, 42});
    const sno::Id none{};
    char text[sno::text_size + 1] = {};
    sno::print(id, text);
    format("sno", 8 * sno::binary_size, sno::timeline);
    field_between("sno", "time", none, sno::compose({.units = sno::timeline.max_tick()}));
    field_between("sno", "toggle", none, sno::compose({.ticktock = 1}));
    field_between("sno", "metabyte", none, sno::compose({.metabyte = 255}));
    field_between("sno", "node", none, sno::compose({.partition = 65535}));
    field_between("sno", "sequence", none, sno::compose({.sequence = sno::max_sequence}));
    std::printf("example\tsno\t%s\t%lld\ttick-tock 0, metabyte 7, partition 300, sequence 42\n", text,
                static_cast<long long>(sno::time_us(id)));
}

void gids() {
    constexpr std::uint64_t ms = gid::timeline.floor_tick(moment_us).value;
    constexpr gid::Id id = gid::make(gid::Kind::volume, ms, 0x9ce01b3a6d2f5e84);
    const gid::Id none = gid::compose({gid::Kind::volume, 0, 0, 0});
    gid::Id prefixed = none;
    prefixed.bytes[0] ^= 0xff;
    char text[gid::text_size + 1] = {};
    gid::print(id, text);
    format("gid", 8 * gid::binary_size, gid::timeline);
    field_between("gid", "fixed", none, prefixed);
    field_between("gid", "time", none, gid::compose({gid::Kind::volume, gid::timeline.max_tick(), 0, 0}));
    field_between("gid", "fixed", none, gid::compose({gid::Kind::volume, 0, 255, 0}));
    field_between("gid", "random", none, gid::compose({gid::Kind::volume, 0, 0, ~std::uint64_t{0}}));
    std::printf("example\tgid\t%s\t%lld\tkind %s (in both fields), 64 random bits\n", text,
                static_cast<long long>(gid::time_us(id)), gid::kind_names[0]);
}

void layouts() {
    for (const KnownLayout& k : known_layouts) {
        const Layout& l = k.layout;
        const std::uint32_t node = l.node_bits > 0 ? 3 : 0;
        const std::uint64_t id = l.make(moment_us, node, 42).value;
        layout(k.name, l, k.generates ? "sequence" : "random");
        std::printf("example\t%s\t%llu\t%lld\t", k.name, static_cast<unsigned long long>(id),
                    static_cast<long long>(l.time_us(id)));
        if (l.node_bits > 0) std::printf("machine id %u, ", node);
        std::printf("sequence 42\n");
    }
}

// ---- a server with a crash and a clock that goes back, drawn by the step that the generators use

constexpr std::int64_t crash_ms = 3000, restart_ms = 3600, back_ms = 10000, back_by_ms = 3000, end_ms = 15000;

constexpr std::int64_t clock_at(std::int64_t t) { return t < back_ms ? t : t - back_by_ms; }

void print(const State& s, std::uint32_t sequence, const sno::Id*) {
    char text[sno::text_size + 1] = {};
    sno::print(sno::compose({s.tick, s.toggle(), 7, 300, sequence}), text);
    std::puts(text);
}
void print(const State& s, std::uint32_t sequence, const mastic::Id*) {
    std::printf("%llu\n",
                static_cast<unsigned long long>(mastic::layout.compose({.tick = s.tick, .sequence = sequence})));
}

// Times are milliseconds from the first one. `phase_ms`: when in every half second it draws.
template <class Id>
void life(const char* name, const Timeline& timeline, bool has_toggle, std::int64_t phase_ms, std::int64_t window_ms,
          std::int64_t margin_ms) {
    const auto tick_of = [&](std::int64_t ms) { return timeline.floor_tick(moment_us + ms * 1000).value; };
    const Rules rules{.max = 65535, .max_tick = timeline.max_tick(), .has_toggle = has_toggle};
    State state{.tick = tick_of(0), .safe = tick_of(0)};
    std::int64_t ceiling = 0, shown = 0;
    for (std::int64_t t = 0; t <= end_ms; t += 10) {
        if (t >= crash_ms && t < restart_ms) continue;
        const std::int64_t clock = clock_at(t), ahead = clock + window_ms + margin_ms;
        if (t == restart_ms) {
            // As a life begins: above what was durable and above the clock, with the sequence of that tick used up.
            // So the first id waits for the next tick.
            const std::int64_t begin = ceiling > ahead ? ceiling : ahead;
            state = {.tick = tick_of(begin) + 1, .safe = tick_of(begin), .lead = tick_of(begin) + 1 - tick_of(clock)};
        }
        const Step s = step(state, tick_of(clock), 1, rules);
        if (s.verdict != Verdict::issued) std::abort();
        const std::int64_t id_ms = (timeline.start_us(s.tick()) - moment_us) / 1000;
        // As target_us() and enough_us() of src/pg/draw/durability.cpp have it.
        const std::int64_t step_ms = margin_ms < 500 ? margin_ms : 500;
        if (ceiling - id_ms <= (ceiling > ahead ? step_ms / 2 : margin_ms))
            ceiling = ahead > id_ms + step_ms ? ahead : id_ms + step_ms;
        if (has_toggle && ceiling != shown)
            std::printf("ceiling\t%lld\t%lld\n", static_cast<long long>(t), static_cast<long long>(shown = ceiling));
        if (t % 500 != phase_ms) continue;
        state = s.state;
        std::printf("drawn\t%s\t%lld\t%lld\t%u\t", name, static_cast<long long>(t), static_cast<long long>(id_ms),
                    state.toggle());
        print(state, s.first, static_cast<const Id*>(nullptr));
    }
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 3) return 2;
    const std::int64_t window_ms = std::atoll(argv[1]), margin_ms = std::atoll(argv[2]);
    snos();
    gids();
    layouts();
    std::printf("times\t%lld\t%lld\t%lld\t%lld\t%lld\n", static_cast<long long>(crash_ms),
                static_cast<long long>(restart_ms), static_cast<long long>(back_ms), static_cast<long long>(back_by_ms),
                static_cast<long long>(end_ms));
    life<sno::Id>("sno", sno::timeline, true, 0, window_ms, margin_ms);
    life<mastic::Id>("mastic", mastic::layout.timeline, false, 250, window_ms, margin_ms);
}
