// The machine id of a server for which none is set: a 1 bit, away from numbers that people configure, then 15 bits
// mixed from the cluster's system identifier. With fewer than 16 node bits it is 0, because two of ten servers could
// easily get the same.
#pragma once

#include <cstdint>

namespace snowflake_ids::automatic_machine_id {

inline constexpr std::uint32_t max = 65535;
inline constexpr unsigned bits = 16;

// The finalizer of splitmix64: identifiers may differ in a few bits only.
constexpr std::uint64_t mix(std::uint64_t v) {
    v = (v ^ v >> 30) * 0xbf58476d1ce4e5b9;
    v = (v ^ v >> 27) * 0x94d049bb133111eb;
    return v ^ v >> 31;
}

constexpr std::uint32_t of(std::uint64_t system_identifier) {
    return 0x8000 | static_cast<std::uint32_t>(mix(system_identifier) >> 49);
}

// `configured`: negative if not set. The caller checks that it fits `node_bits`.
constexpr std::uint32_t effective(int configured, std::uint64_t system_identifier, unsigned node_bits) {
    if (configured >= 0) return static_cast<std::uint32_t>(configured);
    return node_bits < bits ? 0 : of(system_identifier);
}

}  // namespace snowflake_ids::automatic_machine_id
