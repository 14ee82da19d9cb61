// The position of a reader of a feed: a snapshot of the database, as text. All that was committed in it has been read.
// A reader that kept only its largest stamp would miss the row of transaction 10 here:
//   10 and 11 stamp rows, 11 commits
//   poll: the row of 11; position: 12 is the next (xmax), 10 is open
//   10 commits
//   poll: the row of 10, because it was open; 11 is below xmax and was not open, so it is not new
//
// Text, so that a client keeps it in any column: numbers in lower-case hexadecimal, with dots between them, in the
// order of the fields of FeedPosition, after the version. The last part is the list of the transactions that were in
// progress, from the newest: each one's distance from the one before it, the first one's from `xmax`. Five bits are a
// character, the lowest first; the alphabet's second half says that more follow.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string_view>

namespace snowflake_ids {

struct FeedPosition {
    std::uint64_t table;     // its oid
    std::uint64_t column;    // the number of its column of stamps; a dropped feed that is made again has another
    std::uint64_t database;  // its oid
    std::uint64_t life;      // ledger/feed_lives.hpp; 0: none was noted yet
    std::uint64_t cluster;   // its system identifier
    std::uint64_t timeline;  // with `wal`: WAL without which what was read is lost
    std::uint64_t wal;
    std::uint64_t time;           // when it was made: Unix time in microseconds, for people
    std::uint64_t seen;           // the count of pg/feed/wait.cpp; 0: none
    std::uint64_t standby;        // 1: made on one, so `wal` may be that of the next life, which was not noted yet
    std::uint64_t lacks_subxids;  // 1: the list lacks subtransactions
    std::uint64_t xmax;           // full transaction ids from here on were not over
};

inline constexpr std::uint64_t FeedPosition::*feed_position_fields[] = {
    &FeedPosition::table,   &FeedPosition::column,   &FeedPosition::database,      &FeedPosition::life,
    &FeedPosition::cluster, &FeedPosition::timeline, &FeedPosition::wal,           &FeedPosition::time,
    &FeedPosition::seen,    &FeedPosition::standby,  &FeedPosition::lacks_subxids, &FeedPosition::xmax,
};

// No stamp, and no transaction id, is that large.
inline constexpr std::uint64_t no_stamp = (std::uint64_t{1} << 63) - 1;

namespace detail {

inline constexpr std::string_view position_version = "1";
inline constexpr char position_alphabet[] = "abcdefghijklmnopqrstuvwxyz234567ABCDEFGHIJKLMNOPQRSTUVWXYZ0189-_";
inline constexpr std::uint64_t digit_bits = 5, digits = 1 << digit_bits;

constexpr int hexadecimal_of(char c) {
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

}  // namespace detail

// `put(char)` gets the text. `open`: the transactions in progress, ascending, all below p.xmax.
template <class It, class Put>
constexpr void write_feed_position(const FeedPosition& p, It begin, It end, Put put) {
    using namespace detail;
    for (const char c : position_version) put(c);
    for (const auto field : feed_position_fields) {
        put('.');
        const std::uint64_t value = p.*field;
        int shift = 60;
        while (shift > 0 && value >> shift == 0) shift -= 4;
        for (; shift >= 0; shift -= 4) put("0123456789abcdef"[value >> shift & 15]);
    }
    put('.');
    std::uint64_t above = p.xmax;
    while (end != begin) {
        const std::uint64_t xid = *--end;
        std::uint64_t gap = above - xid;
        for (; gap >= digits; gap >>= digit_bits) put(position_alphabet[digits + gap % digits]);
        put(position_alphabet[gap]);
        above = xid;
    }
}

// False if the text is no position. `open(xid)` gets the transactions in progress, from the newest.
template <class Open>
constexpr bool read_feed_position(std::string_view text, FeedPosition& p, Open open) {
    using namespace detail;
    if (!text.starts_with(position_version)) return false;
    std::size_t i = position_version.size();
    for (const auto field : feed_position_fields) {
        if (i >= text.size() || text[i++] != '.') return false;
        std::uint64_t value = 0;
        const std::size_t first = i;
        for (int digit; i < text.size() && (digit = hexadecimal_of(text[i])) >= 0; i++) {
            if (value >> 60 != 0) return false;
            value = value << 4 | static_cast<std::uint64_t>(digit);
        }
        if (i == first) return false;
        p.*field = value;
    }
    if (i >= text.size() || text[i++] != '.' || p.xmax >= no_stamp) return false;
    std::uint64_t above = p.xmax, gap = 0;
    std::uint64_t shift = 0;
    for (; i < text.size(); i++) {
        const char* const found = std::find(std::begin(position_alphabet), std::end(position_alphabet) - 1, text[i]);
        const auto value = static_cast<std::uint64_t>(found - position_alphabet);
        if (value >= 2 * digits || shift > 60 || (shift == 60 && value >= 8)) return false;
        gap |= value % digits << shift;
        shift += digit_bits;
        if (value >= digits) continue;
        if (gap == 0 || gap >= above) return false;
        above -= gap;
        open(above);
        gap = shift = 0;
    }
    return shift == 0;
}

// What a reader has not seen. A stamp is new to it if the stamp is at least `from`, or among the `open` ones
// (ascending, all below `from`).
struct Unseen {
    std::uint64_t from = 0;
    const std::uint64_t* open = nullptr;
    std::size_t count = 0;

    constexpr bool has(std::uint64_t xid) const { return xid >= from || std::binary_search(open, open + count, xid); }
};

// True if somebody who has not seen `mine` has seen all that others have seen who have not seen `theirs`.
constexpr bool covers(const Unseen& mine, const Unseen& theirs) {
    for (std::size_t i = 0; i < mine.count && mine.open[i] < theirs.from; i++)
        if (!theirs.has(mine.open[i])) return false;
    if (theirs.from <= mine.from) return true;
    // Each one between the two must be among theirs that are open.
    const std::uint64_t* const first = std::lower_bound(theirs.open, theirs.open + theirs.count, mine.from);
    return static_cast<std::uint64_t>(theirs.open + theirs.count - first) == theirs.from - mine.from;
}

}  // namespace snowflake_ids
