// What must hold: no id twice, and an id is larger than all that its session had seen.
#pragma once

#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "simulator/site.hpp"

namespace snowflake_ids::simulator {

class Judge {
public:
    std::string fault;
    std::uint64_t ids = 0, claims = 0, commits = 0;
    std::uint64_t ended = 0;  // transactions, also those that were rolled back

    void blame(std::string what) {
        if (fault.empty()) fault = std::move(what);
    }

    void claimed(std::uint32_t generator, const ledger::Claim& c) {
        claims++;
        ids += c.count;
        auto& ranges = issued_[(c.tick << 1 | c.toggle) * generator_count + generator];
        const std::uint32_t end = c.first + c.count;
        for (const auto& [from, to] : ranges) {
            if (c.first < to && from < end) return blame("an id twice: " + name(generator, c.tick, c.toggle, c.first));
        }
        if (!ranges.empty() && ranges.back().second == c.first)
            ranges.back().second = end;
        else
            ranges.emplace_back(c.first, end);
    }
    void drew(std::uint32_t generator, Value tick, Value toggle, std::uint32_t number, Value after) {
        if (order(tick, number) <= after)
            blame("not larger than an id that was seen: " + name(generator, tick, toggle, number));
    }
    static Value order(Value tick, std::uint32_t number) { return tick << 16 | number; }

    Value seen[generator_count] = {};

private:
    static std::string name(std::uint32_t generator, Value tick, Value toggle, std::uint32_t number) {
        return "generator " + std::to_string(generator) + ", tick " + std::to_string(tick) + ", toggle " +
               std::to_string(toggle) + ", number " + std::to_string(number);
    }

    std::unordered_map<Value, std::vector<std::pair<std::uint32_t, std::uint32_t>>> issued_;
};

}  // namespace snowflake_ids::simulator
