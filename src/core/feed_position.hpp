// The position of a reader of a feed: a snapshot of the database, as text. All that was committed in it has been read.
// A reader that kept only its largest stamp would miss the row of transaction 10 here:
//   10 and 11 stamp rows, 11 commits
//   poll: the row of 11; position: 12 is the next (xmax), 10 is open
//   10 commits
//   poll: the row of 10, because it was open; 11 is below xmax and was not open, so it is not new
//
// Text, so that a client keeps it in any column: numbers in hexadecimal, a dot after each. They are the version, the
// fields of FeedPosition in their order, and the transactions that were in progress, from the newest: each one's
// distance from the one before it, the first one's from `xmax`.
#pragma once

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <system_error>

namespace snowflake_ids {

struct FeedPosition {
    std::uint64_t table;     // its oid
    std::uint64_t column;    // the number of its column of stamps; a dropped feed that is made again has another
    std::uint64_t database;  // its oid
    std::uint64_t life;      // ledger/feed_lives.hpp; 0: none was noted yet
    std::uint64_t cluster;   // its system identifier
    std::uint64_t timeline;  // with `wal`: up to there, WAL has all that was read
    std::uint64_t wal;
    std::uint64_t time;           // when it was made: Unix time in microseconds, for people
    std::uint64_t seen;           // the count of pg/feed/wait.cpp; 0: none
    std::uint64_t standby;        // 1: made on a standby; `wal` may be of a next life, not noted yet
    std::uint64_t lacks_subxids;  // 1: the list lacks subtransactions
    std::uint64_t xmax;           // transactions with this full id or a later one had not ended
};

inline constexpr std::uint64_t FeedPosition::*feed_position_fields[] = {
    &FeedPosition::table,   &FeedPosition::column,   &FeedPosition::database,      &FeedPosition::life,
    &FeedPosition::cluster, &FeedPosition::timeline, &FeedPosition::wal,           &FeedPosition::time,
    &FeedPosition::seen,    &FeedPosition::standby,  &FeedPosition::lacks_subxids, &FeedPosition::xmax,
};

// No stamp, and no transaction id, is that large.
inline constexpr std::uint64_t no_stamp = (std::uint64_t{1} << 63) - 1;

inline constexpr std::uint64_t position_version = 1;

// `put(text)` gets the parts of the text. `open`: the transactions in progress, ascending, all below p.xmax.
template <class It, class Put>
void write_feed_position(const FeedPosition& p, It begin, It end, Put put) {
    const auto write = [&](std::uint64_t number) {
        char text[17];
        char* const last = std::to_chars(text, text + 16, number, 16).ptr;
        *last = '.';
        put(std::string_view(text, static_cast<std::size_t>(last + 1 - text)));
    };
    write(position_version);
    for (const auto field : feed_position_fields) write(p.*field);
    for (std::uint64_t above = p.xmax; end != begin; above = *end) {
        --end;
        write(above - *end);
    }
}

// False if the text is no position. `open(xid)` gets the transactions in progress, from the newest.
template <class Open>
bool read_feed_position(std::string_view text, FeedPosition& p, Open open) {
    const char *at = text.data(), *const end = at + text.size();
    const auto read = [&](std::uint64_t& number) {
        const auto [rest, error] = std::from_chars(at, end, number, 16);
        if (error != std::errc{} || rest == end || *rest != '.') return false;
        at = rest + 1;
        return true;
    };
    std::uint64_t version = 0, gap = 0;
    if (!read(version) || version != position_version) return false;
    for (const auto field : feed_position_fields)
        if (!read(p.*field)) return false;
    if (p.xmax >= no_stamp) return false;
    for (std::uint64_t above = p.xmax; at != end; open(above)) {
        if (!read(gap) || gap == 0 || gap >= above) return false;
        above -= gap;
    }
    return true;
}

// What a reader has not seen. A stamp is new to it if the stamp is at least `from`, or among the `open` ones
// (ascending, all below `from`).
struct Unseen {
    std::uint64_t from = 0;
    const std::uint64_t* open = nullptr;
    std::size_t count = 0;

    constexpr bool has(std::uint64_t xid) const { return xid >= from || std::binary_search(open, open + count, xid); }
};

// True if `theirs` contains each transaction of `mine`: the reader with `mine` has seen at least as much.
constexpr bool is_subset(const Unseen& mine, const Unseen& theirs) {
    for (std::size_t i = 0; i < mine.count && mine.open[i] < theirs.from; i++)
        if (!theirs.has(mine.open[i])) return false;
    if (theirs.from <= mine.from) return true;
    // Each id from mine.from on and below theirs.from must be one of theirs.open.
    const std::uint64_t* const first = std::lower_bound(theirs.open, theirs.open + theirs.count, mine.from);
    return static_cast<std::uint64_t>(theirs.open + theirs.count - first) == theirs.from - mine.from;
}

}  // namespace snowflake_ids
