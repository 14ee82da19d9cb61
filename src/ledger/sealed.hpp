// A number with its check bits, as the WAL ceiling in its sequence (pg/ceilings/database_ceiling.hpp). One positive
// 64-bit word, because pg_upgrade copies no more of a sequence.
//
//   bits 62-15      the number
//   bits 14-0       a CRC over the number
//
// Never 0. The CRC finds every change of up to 15 neighbouring bits, and all but one in 2^15 of the others.
#pragma once

#include <cstdint>
#include <optional>

namespace snowflake_ids::ledger {

inline constexpr unsigned check_bits = 15;
inline constexpr std::uint64_t max_sealed = ~std::uint64_t{0} >> 1 >> check_bits;

// At most max_sealed.
constexpr std::int64_t seal(std::uint64_t number) {
    constexpr std::uint64_t polynomial = 0x4599;  // without its highest bit
    // With a bit above it, because 0 alone would have the CRC 0.
    const std::uint64_t message = std::uint64_t{1} << 56 | number;
    std::uint64_t crc = 0;
    for (unsigned i = 64; i-- > 0;) {
        const std::uint64_t out = (crc >> (check_bits - 1) ^ message >> i) & 1;
        crc = crc << 1 & ((std::uint64_t{1} << check_bits) - 1);
        if (out != 0) crc ^= polynomial;
    }
    return static_cast<std::int64_t>(number << check_bits | crc);
}

// Empty if it is damaged.
constexpr std::optional<std::uint64_t> unseal(std::int64_t word) {
    if (word <= 0) return {};
    const std::uint64_t number = static_cast<std::uint64_t>(word) >> check_bits;
    if (seal(number) != word) return {};
    return number;
}

// START in src/sql/05-wal_ceiling.sql.
inline constexpr std::int64_t start_of_sequence = 22320;
static_assert(seal(0) == start_of_sequence);

}  // namespace snowflake_ids::ledger
