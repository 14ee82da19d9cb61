// Graft GID: 16 bytes. Sources: the GID document and, where it is silent or differs, graft v0.2.1 (prefix values, the
// dash in the text, what a reader accepts).
//
//   byte  0     prefix = kind: 0x80 volume, 0xA0 log, 0xC0 segment
//   bytes 1-6   milliseconds since 1970, 48 bits, big endian
//   byte  7     the prefix again, as in the document. Graft writes a random byte with the top bit set. Like graft,
//               we read every byte with which bytes 7-15 are at least 58^12
//   bytes 8-15  64 random bits
//
// Order: that of the bytes, so by kind, then by time. Within a millisecond, the order is random.
//
// Text: bytes 0-6 in base58, 10 characters; a dash; bytes 7-15, 13 characters.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/base58.hpp"
#include "core/bytes.hpp"
#include "core/error.hpp"
#include "core/timeline.hpp"

namespace snowflake_ids::gid {

inline constexpr std::size_t binary_size = 16;
inline constexpr std::size_t text_size = 24;
inline constexpr std::size_t time_digits = 10;
inline constexpr std::size_t random_size = 8;

// 1970-01-01T00:00:00Z to 10889-08-02T05:31:50.655999Z.
inline constexpr Timeline timeline{UnixTime{}, milliseconds{1}, 48};

enum class Kind : unsigned char { volume = 0, log = 1, segment = 2 };
inline constexpr int kind_count = 3;
inline constexpr std::string_view kind_names[kind_count] = {"volume", "log", "segment"};

constexpr unsigned char prefix(Kind kind) {
    return static_cast<unsigned char>(0x80 | static_cast<unsigned>(kind) << 5);
}

// The prefix has the bits 1kk00000, with kk below 3. Error: bad_kind.
constexpr Result<Kind> kind_of_prefix(unsigned char byte) {
    const unsigned k = byte >> 5 & 3;
    if (k == kind_count || byte != prefix(static_cast<Kind>(k))) return Error::bad_kind;
    return static_cast<Kind>(k);
}

struct Id {
    unsigned char bytes[binary_size];

    friend constexpr int compare(const Id& a, const Id& b) {
        const std::uint64_t ah = load_be<8>(a.bytes), bh = load_be<8>(b.bytes);
        if (ah != bh) return ah < bh ? -1 : 1;
        const std::uint64_t al = load_be<8>(a.bytes + 8), bl = load_be<8>(b.bytes + 8);
        return al < bl ? -1 : al > bl;
    }
};

struct Fields {
    Kind kind = Kind::volume;
    std::uint64_t ms = 0;
    unsigned char byte7 = 0x80;
    std::uint64_t random = 0;
};

// `ms` must be in range. check() tells if the rest is.
constexpr Id compose(const Fields& f) {
    Id id{};
    store_be<8>(id.bytes, std::uint64_t{prefix(f.kind)} << 56 | f.ms << 8 | f.byte7);
    store_be<8>(id.bytes + 8, f.random);
    return id;
}

constexpr Id make(Kind kind, std::uint64_t ms, std::uint64_t random) {
    return compose({kind, ms, prefix(kind), random});
}

// The prefix must be valid.
constexpr Fields split(const Id& id) {
    return {static_cast<Kind>(id.bytes[0] >> 5 & 3), load_be<6>(id.bytes + 1), id.bytes[7], load_be<8>(id.bytes + 8)};
}

constexpr Kind kind(const Id& id) { return static_cast<Kind>(id.bytes[0] >> 5 & 3); }

constexpr UnixTime time_of(const Id& id) { return timeline.start(load_be<6>(id.bytes + 1)); }

constexpr Result<Id> lower_bound(Kind kind, UnixTime t) {
    const Result<std::uint64_t> tick = timeline.ceil_tick(t);
    if (!tick) return tick.error;
    return compose({kind, tick.value, base58::random_min_high, base58::random_min_low});
}

constexpr Result<Id> upper_bound(Kind kind, UnixTime t) {
    const Result<std::uint64_t> tick = timeline.last_tick_at(t);
    if (!tick) return tick.error;
    return compose({kind, tick.value, 0xff, ~std::uint64_t{0}});
}

// The id if it is valid. Errors: bad_kind; bad_magnitude, if bytes 7-15 are below 58^12, for which graft's own
// serializer fails.
constexpr Result<Id> check(const Id& id) {
    if (!kind_of_prefix(id.bytes[0])) return Error::bad_kind;
    const std::uint64_t low = load_be<8>(id.bytes + 8);
    if (id.bytes[7] < base58::random_min_high ||
        (id.bytes[7] == base58::random_min_high && low < base58::random_min_low))
        return Error::bad_magnitude;
    return id;
}

// Errors: bad_length, bad_kind, bad_magnitude.
constexpr Result<Id> from_bytes(const unsigned char* bytes, std::size_t length) {
    if (length != binary_size) return Error::bad_length;
    Id id{};
    std::copy_n(bytes, binary_size, id.bytes);
    return check(id);
}

// The id must be valid.
constexpr void print(const Id& id, char* out) {
    print_digits(base58::alphabet, load_be<7>(id.bytes), out, time_digits);
    out[time_digits] = '-';
    base58::print_random(id.bytes[7], load_be<8>(id.bytes + 8), out + time_digits + 1);
}

// Errors, in graft's order: bad_length, bad_separator, bad_character, bad_magnitude (a block), bad_kind, bad_magnitude
// (below 58^12).
constexpr Result<Id> parse(const char* text, std::size_t length) {
    if (length != text_size) return Error::bad_length;
    if (text[time_digits] != '-') return Error::bad_separator;
    std::uint64_t time = 0, low = 0;
    unsigned char high = 0;
    if (const Error e = base58::parse_time(text, time); e != Error::none) return e;
    if (const Error e = base58::parse_random(text + time_digits + 1, high, low); e != Error::none) return e;
    Id id{};
    store_be<8>(id.bytes, time << 8 | high);
    store_be<8>(id.bytes + 8, low);
    return check(id);
}

}  // namespace snowflake_ids::gid
