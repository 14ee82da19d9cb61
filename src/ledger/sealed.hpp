// Sealed: a number with its check bits, as the WAL-logged sequences have it (pg/server/wal_sequence.hpp). All of it is
// in one positive 64-bit word, because pg_upgrade copies no more of a sequence than that.
//
//   bit  63         0
//   bits 62-w       the number
//   bits w-1 to 0   a CRC over role and number
//
// No number has the word 0, not even the number 0. The CRC finds every change of up to w neighbouring bits, and all
// but one in 2^w of the other changes. The role is part of the CRC: the word of one sequence counts as damaged in the
// other.
#pragma once

#include <cstdint>

namespace snowflake_ids::ledger {

struct Seal {
    std::uint8_t role;
    unsigned width;            // of the check bits
    std::uint64_t polynomial;  // without its highest bit

    constexpr std::uint64_t most() const { return ~std::uint64_t{0} >> 1 >> width; }

    constexpr std::uint64_t check_bits(std::uint64_t number) const {
        const std::uint64_t message = std::uint64_t{role} << 56 | number;
        std::uint64_t crc = 0;
        for (unsigned i = 64; i-- > 0;) {
            const std::uint64_t out = (crc >> (width - 1) ^ message >> i) & 1;
            crc = crc << 1 & ((std::uint64_t{1} << width) - 1);
            if (out != 0) crc ^= polynomial;
        }
        return crc;
    }

    // `number` is most() at most.
    constexpr std::int64_t close(std::uint64_t number) const {
        return static_cast<std::int64_t>(number << width | check_bits(number));
    }
    // False: damaged.
    constexpr bool open(std::int64_t word, std::uint64_t& number) const {
        if (word <= 0) return false;
        number = static_cast<std::uint64_t>(word) >> width;
        return close(number) == word;
    }
};

// Unix milliseconds, 48 bits of them.
inline constexpr Seal ceiling_seal{1, 15, 0x4599};

// 0 says that there is none yet. The sequence starts there: src/sql/install/05-wal_ceiling.sql.
static_assert(ceiling_seal.close(0) == 22320);

}  // namespace snowflake_ids::ledger
