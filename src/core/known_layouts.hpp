// The built-in layouts, as the services describe them.
#pragma once

#include <cstddef>
#include <cstring>

#include "core/layout.hpp"
#include "core/mastic.hpp"
#include "core/snowflake_si.hpp"

namespace snowflake_ids {

struct KnownLayout {
    const char* name;
    Layout layout;
    // False if the low bits are no sequence. True also after the end of its time.
    bool generates;
    const char* description;
};

inline constexpr Timeline ms_since(std::int64_t unix_ms, unsigned bits) {
    return {std::chrono::sys_time<milliseconds>{milliseconds{unix_ms}}, milliseconds{1}, bits};
}

inline constexpr KnownLayout known_layouts[] = {
    // 2010-11-04T01:42:54.657Z
    {"twitter", {ms_since(1288834974657, 41), 10, 12}, true, "Twitter, X: milliseconds, machine, sequence"},
    // 2015-01-01T00:00:00Z. The node is worker * 32 + process.
    {"discord", {ms_since(1420070400000, 42), 10, 12}, true, "Discord: milliseconds, worker and process, increment"},
    // 2011-08-24T21:07:01.721Z. The node is the logical shard.
    {"instagram", {ms_since(1314220021721, 41), 13, 10}, true, "Instagram: milliseconds, shard, sequence"},
    // The default start time, 2014-09-01T00:00:00Z.
    {"sonyflake",
     {{std::chrono::sys_days{std::chrono::September / 1 / 2014}, milliseconds{10}, 39}, 16, 8, true},
     true,
     "Sonyflake: 10 ms, sequence, machine"},
    // The low 16 bits are a hash (of table name and time) plus the table's sequence, so ids of one millisecond have no
    // order.
    {"mastodon", {ms_since(0, 48), 0, 16}, false, "Mastodon: milliseconds, 16 bits without order"},
    // 2023-01-01T00:00:00Z. Until version 1.2 (early 2024) the node was last; pgEdge's documentation said so until
    // November 2025.
    {"pgedge", {ms_since(1672531200000, 41), 10, 12}, true, "pgEdge snowflake: milliseconds, node, counter"},
    {"pgedge_old",
     {ms_since(1672531200000, 41), 10, 12, true},
     true,
     "pgEdge snowflake until early 2024: milliseconds, counter, node"},
    {"mastic", mastic::layout, true, "Mastic: milliseconds, sequence"},
    {"snowflake_si", snowflake_si::layout, true, "Snowflake-SI: milliseconds, machine, number"},
};

inline const KnownLayout* known_layout(const char* name, std::size_t length) {
    for (const KnownLayout& k : known_layouts)
        if (std::strlen(k.name) == length && std::memcmp(k.name, name, length) == 0) return &k;
    return nullptr;
}

}  // namespace snowflake_ids
