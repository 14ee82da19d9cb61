// The sno reference's GeneratorSnapshot (configuration and saved state in one), and the rules by which a generator is
// made from it (NewGenerator, v1.2.1). The checks have the same order, so the same configurations are refused for the
// same reason.
#pragma once

#include <cstdint>

#include "core/error.hpp"
#include "core/sno.hpp"
#include "core/step.hpp"

namespace snowflake_ids::sno {

// Field names are those of the reference's JSON; times are units of 4 ms.
struct Snapshot {
    std::uint32_t partition = 0;
    std::uint32_t sequence_min = 0;
    std::uint32_t sequence_max = 0;
    std::uint32_t sequence = 0;  // last one issued
    std::uint64_t now = 0;       // when the snapshot was taken; ignored on restore
    std::uint64_t wall_hi = 0;
    std::uint64_t wall_safe = 0;
    std::uint32_t drifts = 0;
};

struct Generator {
    std::uint32_t partition = 0;
    Bounds bounds{};
    State state{};
};

// The generator that a snapshot describes. Errors: those of check_bounds(); sequence_underflow; node_range and
// time_after_end, for values that the reference accepts but no id can have.
constexpr Result<Generator> from_snapshot(const Snapshot& s) {
    const Result<Bounds> bounds = check_bounds(s.sequence_min, s.sequence_max);
    if (!bounds) return bounds.error;
    const std::uint32_t sequence = s.sequence == 0 ? bounds.value.min : s.sequence;
    if (sequence < bounds.value.min) return Error::sequence_underflow;
    if (s.partition > 65535) return Error::node_range;
    if (s.wall_hi > timeline.max_tick() || s.wall_safe > timeline.max_tick()) return Error::time_after_end;
    Generator g{s.partition, bounds.value};
    // The snapshot has the last number issued, the state has the next one. A number above the upper bound means used
    // up (the reference checks only the lower bound).
    const std::uint32_t next = sequence < used_up ? sequence + 1 : used_up;
    g.state = {.tick = s.wall_hi, .safe = s.wall_safe, .next = next, .drifts = s.drifts};
    return g;
}

// The snapshot of a generator at tick `now`. Its sequence is always the true one. That of the reference is not: if the
// clock is not at wall_hi, the reference writes the lower bound, and repeats ids after a restore at exactly that time.
constexpr Snapshot to_snapshot(const Generator& g, std::uint64_t now) {
    const std::uint32_t next = g.state.next < used_up ? g.state.next : used_up;  // a floor may leave more
    return {g.partition, g.bounds.min, g.bounds.max, next > g.bounds.min ? next - 1 : g.bounds.min,
            now,         g.state.tick, g.state.safe, g.state.drifts};
}

}  // namespace snowflake_ids::sno
