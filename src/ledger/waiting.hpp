// How many backends wait for a generator. Each adds itself and takes itself off, unless it is killed. Then the server
// ends all others too and starts anew in the same life, and nobody takes off what they had added. So the word says
// which run of the server's processes it counts:
//
//   bits 63-32  run, a random number of each start and crash restart
//   bits 31-0   backends that wait
//
// A count of another run is none.
#pragma once

#include <cstdint>

#include "ledger/slot.hpp"

namespace snowflake_ids::ledger {

inline std::uint64_t waiting_in(std::uint32_t run, std::uint64_t word) {
    return word >> 32 == run ? word << 32 >> 32 : 0;
}

inline std::uint64_t waiting_in(std::uint32_t run, const Word& waiting) {
    return waiting_in(run, waiting.load(std::memory_order_relaxed));
}

inline void begin_waiting(Word& waiting, std::uint32_t run) {
    std::uint64_t word = waiting.load(std::memory_order_relaxed);
    while (!waiting.compare_exchange_weak(word, std::uint64_t{run} << 32 | (waiting_in(run, word) + 1))) {}
}

inline void end_waiting(Word& waiting, std::uint32_t run) {
    std::uint64_t word = waiting.load(std::memory_order_relaxed);
    while (waiting_in(run, word) != 0 && !waiting.compare_exchange_weak(word, word - 1)) {}
}

}  // namespace snowflake_ids::ledger
