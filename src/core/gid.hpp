// Graft GID: 16 bytes. The sources are the GID document and, where the document says nothing or differs, graft v0.2.1
// (prefix values, the dash in the text, what a reader accepts).
//
//   byte  0     prefix = kind: 0x80 volume, 0xA0 log, 0xC0 segment
//   bytes 1-6   milliseconds since 1970, 48 bits, big endian
//   byte  7     We write the prefix again, as the document says. Graft writes a random byte with the top bit set.
//               Like graft, we read every byte with which bytes 7-15 are at least 58^12
//   bytes 8-15  64 random bits
//
// Gids have the order of their 16 bytes: kind, time, rest. There is no order within a millisecond.
//
// The text is TIME-RANDOM, 24 characters: bytes 0-6 in base58 (Bitcoin alphabet) in 10 characters, a dash, and bytes
// 7-15 in base58 in 13 characters. The values of the leading bytes keep both lengths fixed.
#pragma once

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
inline constexpr std::size_t short_size = 13;  // the RANDOM part
inline constexpr std::size_t random_size = 8;

// 1970-01-01T00:00:00Z to 10889-08-02T05:31:50.655999Z.
inline constexpr Timeline timeline{UnixTime{}, milliseconds{1}, 48};

enum class Kind : unsigned char { volume = 0, log = 1, segment = 2 };
inline constexpr int kind_count = 3;
inline constexpr const char* kind_names[kind_count] = {"volume", "log", "segment"};

// The kind with this name. Error: bad_kind. The three names have different lengths, so one comparison of known length
// decides.
constexpr Result<Kind> kind_of_name(const char* name, std::size_t length) {
    switch (length) {
        case 6:
            if (std::string_view(name, 6) == "volume") return Kind::volume;
            break;
        case 3:
            if (std::string_view(name, 3) == "log") return Kind::log;
            break;
        case 7:
            if (std::string_view(name, 7) == "segment") return Kind::segment;
            break;
    }
    return Error::bad_kind;
}

// Byte 0 of the gids of a kind.
constexpr unsigned char prefix(Kind kind) {
    return static_cast<unsigned char>(0x80 | static_cast<unsigned>(kind) << 5);
}

// The kind of the gids that begin with this byte. Error: bad_kind.
constexpr Result<Kind> kind_of_prefix(unsigned char byte) {
    const unsigned k = byte >> 5 & 3;
    if (k == kind_count || byte != prefix(static_cast<Kind>(k))) return Error::bad_kind;
    return static_cast<Kind>(k);
}

struct Id {
    unsigned char bytes[binary_size];

    friend constexpr bool operator==(const Id& a, const Id& b) { return compare(a, b) == 0; }
    friend constexpr bool operator<(const Id& a, const Id& b) { return compare(a, b) < 0; }

    // Negative, zero, positive, as memcmp on the bytes.
    friend constexpr int compare(const Id& a, const Id& b) {
        const std::uint64_t ah = load_be<8>(a.bytes), bh = load_be<8>(b.bytes);
        if (ah != bh) return ah < bh ? -1 : 1;
        const std::uint64_t al = load_be<8>(a.bytes + 8), bl = load_be<8>(b.bytes + 8);
        return al < bl ? -1 : al > bl;
    }
};

struct Fields {
    Kind kind = Kind::volume;
    std::uint64_t ms = 0;        // at most timeline.max_tick()
    unsigned char byte7 = 0x80;  // see the head of this file
    std::uint64_t random = 0;
};

// The id with these fields. `ms` must be in range. check() says whether the bytes that follow are valid.
constexpr Id compose(const Fields& f) {
    Id id{};
    store_be<8>(id.bytes, std::uint64_t{prefix(f.kind)} << 56 | f.ms << 8 | f.byte7);
    store_be<8>(id.bytes + 8, f.random);
    return id;
}

// An id as this project writes it: byte 7 repeats the prefix.
constexpr Id make(Kind kind, std::uint64_t ms, std::uint64_t random) {
    return compose({kind, ms, prefix(kind), random});
}

// The fields of an id. Its prefix must be that of a kind, as in every result of parse(), from_bytes() and compose().
constexpr Fields split(const Id& id) {
    return {static_cast<Kind>(id.bytes[0] >> 5 & 3), load_be<6>(id.bytes + 1), id.bytes[7], load_be<8>(id.bytes + 8)};
}

// The kind of an id. Its prefix must be that of a kind.
constexpr Kind kind(const Id& id) { return static_cast<Kind>(id.bytes[0] >> 5 & 3); }

// The time of an id: the start of its millisecond.
constexpr UnixTime time_of(const Id& id) { return timeline.start(load_be<6>(id.bytes + 1)); }

// The id that graft calls EMPTY: the prefix, time 0, the byte 0x80 (for logs and segments not the prefix) and eight
// zero bytes.
constexpr Id empty(Kind kind) { return compose({kind, 0, 0x80, 0}); }

// Smallest valid id of the kind whose time is at or after `t`. Its bytes 7-15 are 58^12, because a smaller number has
// fewer than 13 digits. Error: time_after_end (there is none).
constexpr Result<Id> lower_bound(Kind kind, UnixTime t) {
    const Result<std::uint64_t> tick = timeline.ceil_tick(t);
    if (!tick) return tick.error;
    return compose({kind, tick.value, base58::random_min_high, base58::random_min_low});
}

// Largest id of the kind whose time is at or before `t`. Error: time_before_epoch (there is none).
constexpr Result<Id> upper_bound(Kind kind, UnixTime t) {
    const Result<std::uint64_t> tick = timeline.last_tick_at(t);
    if (!tick) return tick.error;
    return compose({kind, tick.value, 0xff, ~std::uint64_t{0}});
}

// Checks what graft requires: a known prefix, and bytes 7-15 of at least 58^12. Graft's own serializer fails below
// that. Returns none, bad_kind or bad_magnitude.
constexpr Error check(const Id& id) {
    if (!kind_of_prefix(id.bytes[0])) return Error::bad_kind;
    const std::uint64_t low = load_be<8>(id.bytes + 8);
    if (id.bytes[7] < base58::random_min_high ||
        (id.bytes[7] == base58::random_min_high && low < base58::random_min_low))
        return Error::bad_magnitude;
    return Error::none;
}

// The gid with these bytes. Errors: bad_length, bad_kind, bad_magnitude.
constexpr Result<Id> from_bytes(const unsigned char* bytes, std::size_t length) {
    if (length != binary_size) return Error::bad_length;
    Id id{};
    copy_bytes<binary_size>(id.bytes, bytes);
    const Error error = check(id);
    if (error != Error::none) return error;
    return id;
}

// Writes the 13 characters of the RANDOM part, no terminator.
constexpr void print_short(const Id& id, char* out) {
    base58::print_random(id.bytes[7], load_be<8>(id.bytes + 8), out);
}

// Writes text_size characters, no terminator. The id must be valid.
constexpr void print(const Id& id, char* out) {
    base58::print_time(load_be<7>(id.bytes), out);
    out[time_digits] = '-';
    print_short(id, out + time_digits + 1);
}

// The gid with this text. The checks have the order of graft: length, dash, characters, numbers that do not fit, kind,
// bytes 7-15 below 58^12. Errors: bad_length, bad_separator, bad_character, bad_magnitude, bad_kind.
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
    const Error error = check(id);
    if (error != Error::none) return error;
    return id;
}

}  // namespace snowflake_ids::gid
