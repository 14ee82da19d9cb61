// What can be wrong with an input: errors are values here. The layer above turns them into SQLSTATE, message and
// detail in one table (pg/errors.cpp).
#pragma once

namespace snowflake_ids {

enum class Error : unsigned char {
    none,
    // text and binary input
    bad_length,     // not the number of characters or bytes that the format has
    bad_character,  // a character outside the format's alphabet
    bad_separator,  // gid: the dash is missing or not at index 10
    bad_magnitude,  // gid: a base58 block does not fit its bytes, or random part < 58^12
    bad_kind,       // gid: the prefix byte is none of the three kinds
    id_range,       // a number that the format cannot hold
    // fields
    time_before_epoch,
    time_after_end,
    metabyte_range,  // not 0 to 255
    node_range,      // partition or machine id
    sequence_range,
    ticktock_range,  // neither 0 nor 1
    // configuration
    bad_width,           // layout: a field is too wide, or there is no timestamp
    bad_total_width,     // layout: more than 63 bits
    bad_tick,            // layout: a tick length that is not allowed
    bad_epoch,           // layout: an epoch that is not allowed
    bounds_identical,    // sno: both bounds of the sequence are the same
    bounds_too_close,    // sno: fewer numbers between the bounds than the reference allows
    sequence_underflow,  // sno snapshot: the sequence is below its lower bound
};

// A value, or the reason why there is none. `value` is meaningful only if `error` is none. A Result is true if it has a
// value.
template <class T>
struct Result {
    T value{};
    Error error = Error::none;

    constexpr Result() = default;
    constexpr Result(const T& v) : value(v) {}
    constexpr Result(Error e) : error(e) {}
    constexpr explicit operator bool() const { return error == Error::none; }
};

}  // namespace snowflake_ids
