// The machine id of a server for which none is set.
//
//   | 1 | 15 bits, mixed from the cluster's system identifier |
//
// The top bit keeps it away from the small numbers that people configure. An automatic machine id needs 16 node bits,
// because in a narrower field two of ten servers could easily get the same one. So layouts with fewer bits have node 0
// until a machine id is set.
#pragma once

#include <cstdint>

namespace snowflake_ids::automatic_machine_id {

// The largest automatic machine id.
inline constexpr std::uint32_t max = 65535;
inline constexpr unsigned bits = 16;  // node bits that an automatic machine id needs

// The finalizer of splitmix64: each bit of the input changes each bit of the output with a probability of one half. A
// system identifier is the time of initdb and a process id, so those of two servers may differ in a few bits only.
constexpr std::uint64_t mix(std::uint64_t v) {
    v = (v ^ v >> 30) * 0xbf58476d1ce4e5b9;
    v = (v ^ v >> 27) * 0x94d049bb133111eb;
    return v ^ v >> 31;
}

// The automatic machine id of the cluster with this system identifier.
constexpr std::uint32_t of(std::uint64_t system_identifier) {
    return 0x8000 | static_cast<std::uint32_t>(mix(system_identifier) >> 49);
}

// The machine id for ids that have `node_bits` bits for it. `configured` is the setting snowflake_ids.machine_id. If it
// is negative, none is set. Then the result is the automatic machine id, or 0 if that does not fit. A machine id that
// is set may need more bits than `node_bits`: the caller checks that.
constexpr std::uint32_t effective(int configured, std::uint64_t system_identifier, unsigned node_bits) {
    if (configured >= 0) return static_cast<std::uint32_t>(configured);
    return node_bits < bits ? 0 : of(system_identifier);
}

}  // namespace snowflake_ids::automatic_machine_id
