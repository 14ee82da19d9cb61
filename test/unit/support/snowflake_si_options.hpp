// The layouts that the reference's options describe. Not checked.
#pragma once

#include "core/layout.hpp"
#include "support/json.hpp"
#include "support/times.hpp"

namespace snowflake_ids::test {

// v1: 40 bits of time, and 13 that machine id and UIN share.
inline Layout si_layout_v1(const JsonObject& o) {
    const std::int64_t uin_bits = o.i64("uinBitWidth", 8);
    return {
        {unix_ms(o.i64("baseClock")), 1ms, 40}, static_cast<unsigned>(13 - uin_bits), static_cast<unsigned>(uin_bits)};
}

// v2: the sequence has the rest of 53 bits, unless it is given.
inline Layout si_layout_v2(const JsonObject& o) {
    const std::int64_t clock_bits = o.i64("clockBitWidth", 40), machine_bits = o.i64("machineIdBitWidth", 5);
    return {{unix_ms(o.i64("epoch")), 1ms, static_cast<unsigned>(clock_bits)},
            static_cast<unsigned>(machine_bits),
            static_cast<unsigned>(o.i64("sequenceBitWidth", 53 - clock_bits - machine_bits))};
}

}  // namespace snowflake_ids::test
