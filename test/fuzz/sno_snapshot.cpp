// A generator made from an outside snapshot: refused, or usable for ever.
#include "core/sno_snapshot.hpp"
#include "fuzz.hpp"
#include "ledger/word.hpp"

using namespace snowflake_ids;
using namespace snowflake_ids::fuzz;

namespace {

bool same(const State& a, const State& b) {
    return a.tick == b.tick && a.safe == b.safe && a.next == b.next && a.drifts == b.drifts;
}

// Ends of ranges come up too seldom by chance.
std::uint32_t sequence(Numbers& in) {
    const auto v = in.take<std::uint32_t>();
    return v & 0x80000000 ? v : v & 0x1ffff;
}

std::uint64_t tick(Numbers& in) {
    const auto v = in.take<std::uint64_t>();
    return v >> 63 ? v : v & sno::timeline.max_tick();
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    Numbers in(data, size);
    sno::Snapshot s;
    s.partition = in.take<std::uint16_t>() + std::uint32_t{in.take<std::uint8_t>() == 1};
    s.sequence_min = sequence(in);
    s.sequence_max = sequence(in);
    s.sequence = sequence(in);
    s.now = tick(in);
    s.wall_hi = tick(in);
    s.wall_safe = tick(in);
    s.drifts = in.take<std::uint32_t>();

    const Result<sno::PartitionState> made = sno::from_snapshot(s);
    if (!made) {
        require(made.error == Error::sequence_range || made.error == Error::bounds_identical ||
                made.error == Error::bounds_too_close || made.error == Error::sequence_underflow ||
                made.error == Error::node_range || made.error == Error::time_after_end);
        return 0;
    }
    const sno::PartitionState& g = made.value;
    require(g.bounds.max <= sno::max_sequence && g.bounds.min < g.bounds.max);
    require(g.bounds.max - g.bounds.min + 1 >= sno::least_numbers);
    require(g.partition == s.partition && g.state.tick == s.wall_hi && g.state.safe == s.wall_safe);

    const Result<sno::PartitionState> again = sno::from_snapshot(sno::to_snapshot(g, s.now));
    require(again && again.value.partition == g.partition && same(again.value.state, g.state));
    require(again.value.bounds.min == g.bounds.min && again.value.bounds.max == g.bounds.max);

    // The ledger's word keeps only the toggle of the drift count.
    const State unpacked = ledger::unpack(ledger::pack(g.state, true), g.state.safe, true);
    require(unpacked.tick == g.state.tick && unpacked.next == g.state.next && unpacked.toggle() == g.state.toggle());

    // Numbers are inside the bounds, and no tick is used twice under one toggle.
    State state = g.state;
    std::uint64_t last[2] = {0, 0};
    bool any[2] = {false, false};
    for (int i = 0; i < 8; i++) {
        const auto policy = static_cast<OnRegression>(in.take<std::uint8_t>() % 3);
        const std::uint64_t now = state.tick + in.take<std::uint16_t>() - 0x8000;
        const std::uint32_t want = in.take<std::uint16_t>() + 1u;
        const Rules rules{g.bounds.min, g.bounds.max, sno::timeline.max_tick(), true, policy};
        const Step step = snowflake_ids::step(state, now, want, rules);
        if (step.verdict != Verdict::issued) {
            require(same(step.state, state));
            continue;
        }
        require(step.count >= 1 && step.count <= want);
        require(step.first >= g.bounds.min && step.first + step.count - 1 <= g.bounds.max);
        require(step.state.tick <= sno::timeline.max_tick() && step.state.safe >= state.safe);
        const std::uint32_t toggle = step.state.toggle();
        const std::uint64_t position = step.state.tick << 17 | step.first;
        require(!any[toggle] || position > last[toggle]);
        last[toggle] = step.state.tick << 17 | (step.first + step.count - 1);
        any[toggle] = true;
        state = step.state;
    }
    return 0;
}
