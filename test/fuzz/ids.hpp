// What holds for every valid id of a format, and for every two of them.
#pragma once

#include "core/gid.hpp"
#include "core/gid_sort_key.hpp"
#include "core/mastic.hpp"
#include "core/sno.hpp"
#include "core/sno_sort_key.hpp"
#include "fuzz.hpp"

namespace snowflake_ids::fuzz {

inline void require_consistent(const sno::Id& id) {
    require(compare(sno::compose(sno::split(id)), id) == 0);
    require(sno::timeline.floor_tick(sno::time_of(id)).value == sno::split(id).units);
    require(compare(sno::lower_bound(sno::time_of(id)).value, id) <= 0);
    require(compare(id, sno::upper_bound(sno::time_of(id)).value) <= 0);
}

inline void require_consistent(const gid::Id& id) {
    require(gid::check(id).error == Error::none);
    require(compare(gid::compose(gid::split(id)), id) == 0);
    require(gid::kind_of_prefix(id.bytes[0]).value == gid::kind(id));
    require(gid::time_of(id) == gid::timeline.start(gid::split(id).ms));
    require(compare(gid::lower_bound(gid::kind(id), gid::time_of(id)).value, id) <= 0);
    require(compare(id, gid::upper_bound(gid::kind(id), gid::time_of(id)).value) <= 0);
}

template <class Format, class Id>
void require_round_trip(const Id& id) {
    char text[Format::text_size];
    Format::print(id, text);
    const Exact exact(text, sizeof text);
    const auto parsed = Format::parse(exact.bytes, exact.size);
    require(parsed && compare(parsed.value, id) == 0);
    const auto read = Format::from_bytes(id.bytes, sizeof id.bytes);
    require(read && compare(read.value, id) == 0);
}

// Order is the same in bytes and text, and sort keys never contradict it.
template <class Format, class Id>
void require_one_order(const Id& a, const Id& b, const Id& first) {
    const int order = sign(compare(a, b));
    require(order == sign(std::memcmp(a.bytes, b.bytes, sizeof a.bytes)));
    char a_text[Format::text_size], b_text[Format::text_size];
    Format::print(a, a_text);
    Format::print(b, b_text);
    require(order == sign(std::memcmp(a_text, b_text, sizeof a_text)));
    require(order == -sign(compare(b, a)));

    require(order <= 0 || sort_key(a, first) >= sort_key(b, first));
    require(order >= 0 || sort_key(a, first) <= sort_key(b, first));
}

// A text that is taken is canonical, and nothing beyond it is read.
template <class Format>
void try_text(const std::uint8_t* data, std::size_t size) {
    const Exact text(data, size);
    const auto id = Format::parse(text.bytes, text.size);
    if (!id) return;
    char again[Format::text_size];
    Format::print(id.value, again);
    require(size == sizeof again && std::memcmp(data, again, size) == 0);
    require_consistent(id.value);
    require_round_trip<Format>(id.value);

    require(Format::parse(text.bytes, size - 1).error == Error::bad_length);
    for (std::size_t i = 0; i < size; i++) {
        const char was = text.bytes[i];
        text.bytes[i] = '_';
        require(!Format::parse(text.bytes, size));
        text.bytes[i] = was;
    }
}

// Up to three ids, whose order is checked.
template <class Format>
void try_bytes(const std::uint8_t* data, std::size_t size) {
    const Exact whole(data, size);
    require(!Format::from_bytes(whole.data(), size) || size == Format::binary_size);

    typename Format::Id ids[3];
    int n = 0;
    for (std::size_t at = 0; n < 3 && at + Format::binary_size <= size; at += Format::binary_size) {
        const Exact bytes(data + at, Format::binary_size);
        const auto id = Format::from_bytes(bytes.data(), bytes.size);
        if (!id) continue;
        require(std::memcmp(id.value.bytes, bytes.bytes, bytes.size) == 0);
        require_consistent(id.value);
        require_round_trip<Format>(id.value);
        ids[n++] = id.value;
    }
    if (n > 0) require_one_order<Format>(ids[0], ids[n / 2], ids[n - 1]);
}

#define FORMAT(name, format)                                                                           \
    struct name {                                                                                      \
        using Id = format::Id;                                                                         \
        static constexpr std::size_t binary_size = format::binary_size, text_size = format::text_size; \
        static constexpr auto& parse = format::parse;                                                  \
        static constexpr auto& print = format::print;                                                  \
        static constexpr auto& from_bytes = format::from_bytes;                                        \
    }
FORMAT(Sno, sno);
FORMAT(Gid, gid);

}  // namespace snowflake_ids::fuzz
