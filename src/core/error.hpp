// Errors of input are values. pg/errors.cpp turns them into SQLSTATE, message and detail.
#pragma once

namespace snowflake_ids {

enum class Error : unsigned char {
    none,
    bad_length,
    bad_character,
    bad_separator,  // gid: the dash is missing or not at index 10
    bad_magnitude,  // gid: a base58 block does not fit its bytes, or random part < 58^12
    bad_kind,
    id_range,
    time_before_epoch,
    time_after_end,
    sequence_range,
    bad_width,        // layout: a field is too wide, or there is no timestamp
    bad_total_width,  // layout: more than 63 bits
    bad_tick,
    bad_epoch,
    bounds_identical,
    bounds_too_close,  // sno: fewer than least_numbers sequence numbers from min to max
};

// True if `error` is none; otherwise `value` is meaningless.
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
