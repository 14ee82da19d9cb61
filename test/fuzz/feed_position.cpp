// The text of a position: no input reads beyond its end, and what is read is written again as it was, but for zeros.
#include "core/feed_position.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "fuzz.hpp"

using namespace snowflake_ids;
using namespace snowflake_ids::fuzz;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const Exact text(data, size);
    FeedPosition p{};
    std::vector<std::uint64_t> open;
    if (!read_feed_position({text.bytes, text.size}, p, [&](std::uint64_t xid) { open.push_back(xid); })) return 0;
    require(std::is_sorted(open.rbegin(), open.rend()) && (open.empty() || (open.front() < p.xmax && open.back() > 0)));
    std::reverse(open.begin(), open.end());
    std::string once;
    write_feed_position(p, open.begin(), open.end(), [&](std::string_view part) { once += part; });

    FeedPosition again{};
    std::vector<std::uint64_t> same;
    require(read_feed_position(once, again, [&](std::uint64_t xid) { same.push_back(xid); }));
    for (const auto field : feed_position_fields) require(again.*field == p.*field);
    require(std::equal(open.rbegin(), open.rend(), same.begin(), same.end()));
    return 0;
}
