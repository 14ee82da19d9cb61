// sno: 10 bytes, big endian. Source: the sno document, and its Go reference v1.2.1.
//
//   bits  0-38  bytes 0-4      units of 4 ms since 2010-01-01T00:00:00Z   39 bits
//   bit   39    byte 4, bit 0  tick-tock toggle                           0 or 1
//   bits 40-47  byte 5         metabyte                                   0-255
//   bits 48-63  bytes 6, 7     partition                                  0-65535
//   bits 64-79  bytes 8, 9     sequence                                   0-65535
//
// Order: that of the bytes. Every bit pattern is a legal sno.
//
// Text: 16 characters of `23456789abcdefghijklmnopqrstuvwx`, 5 bits each, most significant first. We accept exactly
// [2-9a-x]{16}, as the document says. The reference decodes other characters to garbage that differs by processor.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "core/bytes.hpp"
#include "core/digits.hpp"
#include "core/error.hpp"
#include "core/timeline.hpp"

namespace snowflake_ids::sno {

inline constexpr std::size_t binary_size = 10;
inline constexpr std::size_t text_size = 16;

// 2010-01-01T00:00:00Z to 2079-09-07T15:47:35.551999Z.
using Tick = std::chrono::duration<std::int64_t, std::ratio<4, 1000>>;
inline constexpr Timeline timeline{std::chrono::sys_days{std::chrono::January / 1 / 2010}, Tick{1}, 39};

// The reference accepts bounds of a sequence with max - min >= 5, so six numbers. Its README and its error message say
// four.
inline constexpr std::uint32_t max_sequence = 65535;
inline constexpr std::uint32_t least_numbers = 6;

struct Id {
    unsigned char bytes[binary_size];

    friend constexpr int compare(const Id& a, const Id& b) {
        const std::uint64_t ah = load_be<8>(a.bytes), bh = load_be<8>(b.bytes);
        if (ah != bh) return ah < bh ? -1 : 1;
        return static_cast<int>(load_be<2>(a.bytes + 8)) - static_cast<int>(load_be<2>(b.bytes + 8));
    }
};

struct Fields {
    std::uint64_t units = 0;
    std::uint32_t ticktock = 0;
    std::uint32_t metabyte = 0;
    std::uint32_t partition = 0;
    std::uint32_t sequence = 0;
};

constexpr Id compose(const Fields& f) {
    Id id{};
    store_be<8>(id.bytes, (f.units << 1 | f.ticktock) << 24 | std::uint64_t{f.metabyte} << 16 | f.partition);
    store_be<2>(id.bytes + 8, f.sequence);
    return id;
}

constexpr Fields split(const Id& id) {
    const std::uint64_t head = load_be<8>(id.bytes);
    return {head >> 25, static_cast<std::uint32_t>(head >> 24 & 1), static_cast<std::uint32_t>(head >> 16 & 0xff),
            static_cast<std::uint32_t>(head & 0xffff), static_cast<std::uint32_t>(load_be<2>(id.bytes + 8))};
}

constexpr UnixTime time_of(const Id& id) { return timeline.start(load_be<5>(id.bytes) >> 1); }

constexpr Result<Id> lower_bound(UnixTime t) {
    const Result<std::uint64_t> tick = timeline.ceil_tick(t);
    if (!tick) return tick.error;
    return compose({.units = tick.value});
}

constexpr Result<Id> upper_bound(UnixTime t) {
    const Result<std::uint64_t> tick = timeline.last_tick_at(t);
    if (!tick) return tick.error;
    return compose({tick.value, 1, 255, 65535, max_sequence});
}

inline constexpr char alphabet[] = "23456789abcdefghijklmnopqrstuvwx";
inline constexpr Digits digits = digits_of(alphabet);

// Forty bits are eight characters.
constexpr void print(const Id& id, char* out) {
    print_digits(alphabet, load_be<5>(id.bytes), out, 8);
    print_digits(alphabet, load_be<5>(id.bytes + 5), out + 8, 8);
}

// Errors: bad_length, bad_character.
constexpr Result<Id> parse(const char* text, std::size_t length) {
    if (length != text_size) return Error::bad_length;
    unsigned bad = 0;
    const std::uint64_t time = parse_digits<32>(digits, text, 8, bad);
    const std::uint64_t payload = parse_digits<32>(digits, text + 8, 8, bad);
    if (bad & 0x80) return Error::bad_character;
    Id id{};
    // In the pieces that are read next: a load that spans two recent stores waits for both.
    store_be<8>(id.bytes, time << 24 | payload >> 16);
    store_be<2>(id.bytes + 8, payload);
    return id;
}

// Error: bad_length.
constexpr Result<Id> from_bytes(const unsigned char* bytes, std::size_t length) {
    if (length != binary_size) return Error::bad_length;
    Id id{};
    std::copy_n(bytes, binary_size, id.bytes);
    return id;
}

// Both ends included.
struct Bounds {
    std::uint32_t min = 0;
    std::uint32_t max = max_sequence;
};

// As the reference: a max of 0 means max_sequence, and reversed bounds are exchanged. Errors: sequence_range,
// bounds_identical, bounds_too_close.
constexpr Result<Bounds> check_bounds(std::uint32_t min, std::uint32_t max) {
    if (min > max_sequence || max > max_sequence) return Error::sequence_range;
    if (max == 0 && min != max_sequence) max = max_sequence;
    if (min == max) return Error::bounds_identical;
    const Bounds b = min < max ? Bounds{min, max} : Bounds{max, min};
    if (b.max - b.min + 1 < least_numbers) return Error::bounds_too_close;
    return b;
}

// As the reference's NewWithTime, for porting old ids: a counter that ignores the time and wraps from max to min. Such
// ids may repeat those that the generator issues.
constexpr std::uint32_t next_at_given_time(std::uint32_t& next, const Bounds& b) {
    const std::uint32_t sequence = next < b.min || next > b.max ? b.min : next;
    next = sequence == b.max ? b.min : sequence + 1;
    return sequence;
}

}  // namespace snowflake_ids::sno
