// What sorting and indexes need besides compare(): a 64-bit sort key that agrees with the order, and the neighbours of
// an id.
//
// Sort key. Sorting compares 64-bit keys and compares the ids only if two keys are equal. A key must never contradict
// the order (a < b gives key(a) <= key(b)), and two ids should seldom have the same. The first eight bytes would be a
// poor key: ids drawn in bulk differ only in later bytes. So both keys leave out bits that the ids of a format hardly
// use:
//
//   sno  bits 63-24   time, tick-tock: as they are
//        bits 23-0    metabyte, partition and sequence, relative to the first id sorted. It has metabyte M and
//                     partition P. The window is the 128 partitions that differ from P in the lowest 7 bits only. It
//                     gets half of all codes, because node numbers are small, or close together.
//                       M, in the window       exact: place in the window and sequence, 7 + 16 bits
//                       M, outside             half of the partition; above the window also the window's size
//                       another metabyte       15 bits for each; above M also the window's size
//                         P                      2000-5fff: a quarter of the sequence
//                         below P                1fff is P - 1, and so on; all that are further away share 0000
//                         above P                6000 is P + 1, and so on; all that are further away share 7fff
//   gid  bits 63-62   kind
//        bit  61      0: before the year 2248 (ms < 2^43)    1: later
//        bits 60-18   ms, 43 bits                            bits 60-13   ms, 48 bits
//        bits 17-0    the rest in 18 bits:                   bits 12-0    the rest, its upper 13 bits
//                     00000-0ffff  byte 7 below the prefix: byte 7 and the next 8 bits
//                     10000-2ffff  byte 7 is the prefix, as this project writes it: the next 17 bits
//                     30000-3ffff  byte 7 above the prefix: byte 7 and the next 8 bits
//
// Type, at the end of each namespace, describes the type to src/pg/types/id_type.hpp, which makes its SQL functions.
#pragma once

#include <cstdint>

#include "core/base58.hpp"
#include "core/bytes.hpp"
#include "core/gid.hpp"
#include "core/mastic.hpp"
#include "core/sno.hpp"

namespace snowflake_ids {

// `exists` is false past the ends of the type.
template <class Id>
struct Neighbour {
    Id id{};
    bool exists = false;
};

// The bytes of an id as one number, most significant 64 bits first: `low` is the rest.
template <class Id>
constexpr std::uint64_t low_bytes(const Id& id) {
    return load_be<sizeof(Id) - 8>(id.bytes + 8);
}

namespace sno {

class SortKey {
public:
    explicit constexpr SortKey(const Id& first)
        : metabyte_(first.bytes[5]),
          partition_(static_cast<std::uint32_t>(load_be<2>(first.bytes + 6))),
          window_start_(partition_ & ~(window - 1)) {}

    constexpr std::uint64_t operator()(const Id& id) const {
        const std::uint64_t head = load_be<8>(id.bytes);
        const auto metabyte = static_cast<std::uint32_t>(head >> 16 & 0xff);
        const auto partition = static_cast<std::uint32_t>(head & 0xffff);
        const auto sequence = static_cast<std::uint32_t>(low_bytes(id));
        const std::uint32_t code =
            metabyte == metabyte_ ? (metabyte << 15) + own(partition, sequence)
                                  : (metabyte < metabyte_ ? 0 : half) + (metabyte << 15 | other(partition, sequence));
        return (head & ~std::uint64_t{0xffffff}) | code;
    }

private:
    static constexpr std::uint32_t window = 128, half = window << 16;

    // Below half + 2^15, for the metabyte of the first id.
    constexpr std::uint32_t own(std::uint32_t partition, std::uint32_t sequence) const {
        if (partition < window_start_) return partition >> 1;
        const std::uint32_t place = partition - window_start_;
        return place < window ? (window_start_ >> 1) + (place << 16 | sequence) : half + (partition >> 1);
    }

    // Below 2^15, for all other metabytes.
    constexpr std::uint32_t other(std::uint32_t partition, std::uint32_t sequence) const {
        if (partition == partition_) return 0x2000 + (sequence >> 2);
        if (partition < partition_) return 0x1fff - capped(partition_ - 1 - partition);
        return 0x6000 + capped(partition - partition_ - 1);
    }

    static constexpr std::uint32_t capped(std::uint32_t distance) { return distance < 0x1fff ? distance : 0x1fff; }

    std::uint32_t metabyte_, partition_, window_start_;
};

constexpr Id lowest() { return {}; }
constexpr Id highest() { return compose({timeline.max_tick(), 1, 255, 65535, max_sequence}); }

constexpr Neighbour<Id> next(const Id& id) {
    Neighbour<Id> n{id, compare(id, highest()) != 0};
    const std::uint64_t low = low_bytes(id) + 1;
    store_be<2>(n.id.bytes + 8, low);
    if (low > max_sequence) store_be<8>(n.id.bytes, load_be<8>(id.bytes) + 1);
    return n;
}

constexpr Neighbour<Id> previous(const Id& id) {
    Neighbour<Id> n{id, compare(id, lowest()) != 0};
    const std::uint64_t low = low_bytes(id);
    store_be<2>(n.id.bytes + 8, low - 1);
    if (low == 0) store_be<8>(n.id.bytes, load_be<8>(id.bytes) - 1);
    return n;
}

struct Type {
    using Id = sno::Id;
    using SortKey = sno::SortKey;
    static constexpr const char* name = "sno";
    static constexpr std::size_t binary_size = sno::binary_size, text_size = sno::text_size;
    static constexpr auto& parse = sno::parse;
    static constexpr auto& print = sno::print;
    static constexpr auto& from_bytes = sno::from_bytes;
    static constexpr Id lowest() { return sno::lowest(); }
    static constexpr Id highest() { return sno::highest(); }
};

}  // namespace sno

namespace gid {

class SortKey {
public:
    explicit constexpr SortKey(const Id&) {}

    constexpr std::uint64_t operator()(const Id& id) const {
        const std::uint64_t head = load_be<8>(id.bytes);
        const std::uint64_t kind = (head >> 61 & 3) << 62, ms = head >> 8 & 0xffffffffffff,
                            code = rest(head, low_bytes(id));
        if (ms >> 43 == 0) return kind | ms << 18 | code;
        return kind | std::uint64_t{1} << 61 | ms << 13 | code >> 5;
    }

private:
    static constexpr std::uint64_t rest(std::uint64_t head, std::uint64_t random) {
        const std::uint64_t prefix = head >> 56, byte7 = head & 0xff;
        if (byte7 == prefix) return 0x10000 + (random >> 47);
        return (byte7 < prefix ? 0 : 0x30000) + (byte7 << 8 | random >> 56);
    }
};

constexpr Id lowest(Kind kind, std::uint64_t ms) {
    return compose({kind, ms, base58::random_min_high, base58::random_min_low});
}
constexpr Id highest(Kind kind, std::uint64_t ms) { return compose({kind, ms, 0xff, ~std::uint64_t{0}}); }
constexpr Id lowest() { return lowest(Kind::volume, 0); }
constexpr Id highest() { return highest(Kind::segment, timeline.max_tick()); }

// Neighbours among the valid ids. After the last id of a millisecond comes the first of the next one, and after the
// last id of a kind the first of the next kind.
constexpr Neighbour<Id> next(const Id& id) {
    Fields f = split(id);
    if (compare(id, highest(f.kind, f.ms)) != 0) {
        if (++f.random == 0) f.byte7++;
        return {compose(f), true};
    }
    if (f.ms != timeline.max_tick()) return {lowest(f.kind, f.ms + 1), true};
    if (f.kind != Kind::segment) return {lowest(static_cast<Kind>(static_cast<int>(f.kind) + 1), 0), true};
    return {};
}

constexpr Neighbour<Id> previous(const Id& id) {
    Fields f = split(id);
    if (compare(id, lowest(f.kind, f.ms)) != 0) {
        if (f.random-- == 0) f.byte7--;
        return {compose(f), true};
    }
    if (f.ms != 0) return {highest(f.kind, f.ms - 1), true};
    if (f.kind != Kind::volume)
        return {highest(static_cast<Kind>(static_cast<int>(f.kind) - 1), timeline.max_tick()), true};
    return {};
}

struct Type {
    using Id = gid::Id;
    using SortKey = gid::SortKey;
    static constexpr const char* name = "gid";
    static constexpr std::size_t binary_size = gid::binary_size, text_size = gid::text_size;
    static constexpr auto& parse = gid::parse;
    static constexpr auto& print = gid::print;
    static constexpr auto& from_bytes = gid::from_bytes;
    static constexpr Id lowest() { return gid::lowest(); }
    static constexpr Id highest() { return gid::highest(); }
};

}  // namespace gid

namespace mastic {

// A number needs no sort key: it is one.

constexpr Id lowest() { return {0}; }
constexpr Id highest() { return {layout.max_id()}; }
constexpr Neighbour<Id> next(const Id& id) { return {{id.number + 1}, id.number != highest().number}; }
constexpr Neighbour<Id> previous(const Id& id) { return {{id.number - 1}, id.number != 0}; }

struct Type {
    using Id = mastic::Id;
    static constexpr const char* name = "mastic";
    static constexpr Id lowest() { return mastic::lowest(); }
    static constexpr Id highest() { return mastic::highest(); }
};

}  // namespace mastic

}  // namespace snowflake_ids
