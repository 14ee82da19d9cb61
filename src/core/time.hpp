// What times are, by type: those of std::chrono. Times of two clocks do not compare, and times of one clock compare
// exactly, whatever their units: a ceiling in milliseconds and a Unix time in microseconds are first brought to
// microseconds. A conversion that loses something says how: floor or ceil.
//
// To bring a time to a finer unit multiplies its number, which could overflow. So values such as "none" and "never" are
// times of the finest unit, or a state next to the time. And a time in milliseconds is not beyond the year 10889
// (ledger/ceiling_file.hpp).
//
// Nothing here reads a clock, and nobody calls now() of std::chrono: see ledger/clock.hpp.
#pragma once

#include <chrono>
#include <cstdint>

namespace snowflake_ids {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using std::chrono::seconds;

// Microseconds since 1970, as in a PostgreSQL timestamp.
using UnixTime = std::chrono::sys_time<microseconds>;

// A ceiling is a time that ids stay below; a floor is a time that they stay above. Both are written to disk in whole
// milliseconds, rounded up with std::chrono::ceil.
using Ceiling = std::chrono::sys_time<milliseconds>;
using Floor = Ceiling;

// The clock of a MonotonicTime. It counts from a start of the machine and never goes back. ledger/clock.hpp reads it.
struct Monotonic {
    using duration = microseconds;
    using rep = duration::rep;
    using period = duration::period;
    using time_point = std::chrono::time_point<Monotonic>;
    static constexpr bool is_steady = true;
};
using MonotonicTime = Monotonic::time_point;

// The number of units since the start of the clock (1970 for a UnixTime). It is for everything that has no types of
// time: bits of an id, bytes of a file, SQL.
template <class Clock, class Duration>
constexpr std::int64_t number_of(std::chrono::time_point<Clock, Duration> t) {
    return t.time_since_epoch().count();
}

// The milliseconds in a duration, with their fraction, for messages and views.
constexpr double in_ms(microseconds d) { return std::chrono::duration<double, std::milli>(d).count(); }

}  // namespace snowflake_ids
