// How many backends wait for a generator. Each one adds itself and later subtracts itself, unless it is killed. After
// a kill the postmaster ends all backends and starts again, in the same life, and nobody subtracts. So the word names
// the run (the time from one such start to the next):
//
//   bits 63-32  run, a random number of each start and crash restart
//   bits 31-0   backends that wait
//
// A count of another run is 0.
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
