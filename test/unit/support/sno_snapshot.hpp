// The GeneratorSnapshot of the sno reference 1.2.1, with checks in the order of its NewGenerator.
#pragma once

#include <cstdint>

#include "core/error.hpp"
#include "core/sno.hpp"
#include "core/step.hpp"

namespace snowflake_ids::sno {

// Named as in the reference's JSON. Times are in units of 4 ms.
struct Snapshot {
    std::uint32_t partition = 0;
    std::uint32_t sequence_min = 0;
    std::uint32_t sequence_max = 0;
    std::uint32_t sequence = 0;  // the last one issued; 0 counts as sequence_min
    std::uint64_t now = 0;       // ignored on restore
    std::uint64_t wall_hi = 0;
    std::uint64_t wall_safe = 0;
    std::uint32_t drifts = 0;
};

struct PartitionState {
    std::uint32_t partition = 0;
    Bounds bounds{};
    State state{};
};

// Errors: those of check_bounds(); sequence_range: below the lower bound.
constexpr Result<PartitionState> from_snapshot(const Snapshot& s) {
    const Result<Bounds> bounds = check_bounds(s.sequence_min, s.sequence_max);
    if (!bounds) return bounds.error;
    const std::uint32_t sequence = s.sequence == 0 ? bounds.value.min : s.sequence;
    if (sequence < bounds.value.min) return Error::sequence_range;
    PartitionState g{s.partition, bounds.value};
    // The reference checks only the lower bound.
    const std::uint32_t next = sequence < used_up ? sequence + 1 : used_up;
    g.state = {.tick = s.wall_hi, .safe = s.wall_safe, .next = next, .drifts = s.drifts};
    return g;
}

// Off wall_hi, the reference writes the lower bound as sequence, and repeats ids after a restore at exactly that time.
constexpr Snapshot to_snapshot(const PartitionState& g, std::uint64_t now) {
    // A floor can leave a number above `used_up` (ledger/floor.hpp).
    const std::uint32_t next = g.state.next < used_up ? g.state.next : used_up;
    return {g.partition, g.bounds.min, g.bounds.max, next > g.bounds.min ? next - 1 : g.bounds.min,
            now,         g.state.tick, g.state.safe, g.state.drifts};
}

}  // namespace snowflake_ids::sno
