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
    metabyte_range,
    node_range,  // partition or machine id
    sequence_range,
    ticktock_range,
    // configuration
    bad_width,
    bad_total_width,
    bad_tick,
    bad_epoch,
    bounds_identical,
    bounds_too_close,
    sequence_underflow,
};

// A value or the reason why there is none. `value` is meaningful only if `error` is none.
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
