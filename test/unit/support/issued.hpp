// Which numbers have been issued, to find one that is issued twice.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <unordered_map>
#include <utility>

namespace snowflake_ids::test {

class Issued {
public:
    // False if one was there already.
    bool add(std::uint64_t tick, std::uint32_t toggle, std::uint32_t first, std::uint32_t count) {
        Ranges& ranges = ticks_[tick << 1 | toggle];
        const std::uint64_t end = std::uint64_t{first} + count;
        const auto after = ranges.lower_bound(first);
        bool fresh = after == ranges.end() || after->first >= end;
        if (after != ranges.begin()) {
            const auto before = std::prev(after);
            fresh = fresh && before->second <= first;
            if (fresh && before->second == first) {
                before->second = end;
                return true;
            }
        }
        std::uint64_t& known_end = ranges[first];
        known_end = std::max(known_end, end);
        return fresh;
    }

    bool contains(std::uint64_t tick, std::uint32_t toggle, std::uint32_t sequence) const {
        const auto found = ticks_.find(tick << 1 | toggle);
        if (found == ticks_.end()) return false;
        const auto after = found->second.upper_bound(sequence);
        return after != found->second.begin() && std::prev(after)->second > sequence;
    }

    void clear() { ticks_.clear(); }

private:
    using Ranges = std::map<std::uint64_t, std::uint64_t>;  // first -> one past the last
    std::unordered_map<std::uint64_t, Ranges> ticks_;
};

}  // namespace snowflake_ids::test
