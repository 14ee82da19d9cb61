// Times, by type. Times of two clocks do not compare, and those of one clock compare exactly, whatever their units.
//
// A comparison multiplies the coarser number, which would overflow for extreme times. So milliseconds end in 10889
// (ledger/ceiling_file.hpp), and "never" is a time in microseconds, or a state next to the time.
#pragma once

#include <chrono>
#include <cstdint>

namespace snowflake_ids {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using std::chrono::seconds;

// As in a PostgreSQL timestamp.
using UnixTime = std::chrono::sys_time<microseconds>;

// Ids stay below a ceiling and above a floor. Rounded up.
using Ceiling = std::chrono::sys_time<milliseconds>;
using Floor = Ceiling;

// From a start of the machine; never goes back.
struct Monotonic {
    using duration = microseconds;
    using rep = duration::rep;
    using period = duration::period;
    using time_point = std::chrono::time_point<Monotonic>;
    static constexpr bool is_steady = true;
};
using MonotonicTime = Monotonic::time_point;

template <class Clock, class Duration>
constexpr std::int64_t number_of(std::chrono::time_point<Clock, Duration> t) {
    return t.time_since_epoch().count();
}

constexpr double in_ms(microseconds d) { return std::chrono::duration<double, std::milli>(d).count(); }

}  // namespace snowflake_ids
