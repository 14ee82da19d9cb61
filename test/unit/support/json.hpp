// The JSON of the golden files. Numbers stay text, so that 64 bits are not rounded.
#pragma once

#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "support/tsv.hpp"

namespace snowflake_ids::test {

struct JsonObject {
    std::map<std::string, std::vector<std::string>> members;  // a plain value is an array of one

    bool has(const char* name) const { return members.count(name) != 0; }

    const std::string& text(const char* name) const {
        const auto found = members.find(name);
        if (found == members.end() || found->second.size() != 1) throw std::runtime_error(std::string("no ") + name);
        return found->second[0];
    }

    std::uint64_t u64(const char* name) const { return to_u64(text(name)); }
    std::uint32_t u32(const char* name) const { return static_cast<std::uint32_t>(u64(name)); }
    std::int64_t i64(const char* name) const { return to_i64(text(name)); }
    std::int64_t i64(const char* name, std::int64_t otherwise) const { return has(name) ? i64(name) : otherwise; }
};

inline bool is_integer(const std::string& s) {
    const std::size_t first = !s.empty() && s[0] == '-' ? 1 : 0;
    return s.size() > first && s.find_first_not_of("0123456789", first) == std::string::npos;
}

inline JsonObject parse_json_object(std::string_view in) {
    std::size_t at = 0;
    const auto peek = [&] { return at < in.size() ? in[at] : '\0'; };
    const auto expect = [&](char c) {
        if (peek() != c) throw std::runtime_error("bad JSON: " + std::string(in));
        at++;
    };
    const auto string = [&] {
        expect('"');
        const std::size_t end = in.find('"', at);
        if (end == std::string_view::npos) throw std::runtime_error("bad JSON: " + std::string(in));
        std::string s(in.substr(at, end - at));
        at = end + 1;
        return s;
    };
    const auto scalar = [&]() -> std::string {
        if (peek() == '"') return string();
        const std::size_t end = in.find_first_of(",]}", at);
        if (end == std::string_view::npos || end == at) throw std::runtime_error("bad JSON: " + std::string(in));
        std::string s(in.substr(at, end - at));
        at = end;
        return s;
    };
    JsonObject object;
    expect('{');
    while (peek() != '}') {
        const std::string name = string();
        expect(':');
        std::vector<std::string>& value = object.members[name];
        if (peek() == '[') {
            for (at++; peek() != ']';) {
                value.push_back(scalar());
                if (peek() == ',') at++;
            }
            at++;
        } else {
            value.push_back(scalar());
        }
        if (peek() != '}') expect(',');
    }
    expect('}');
    if (at != in.size()) throw std::runtime_error("bad JSON: " + std::string(in));
    return object;
}

// Nothing for a JSON value other than a string.
inline std::optional<std::string> json_string_body(const std::string& in) {
    if (in.size() < 2 || in.front() != '"' || in.back() != '"') return std::nullopt;
    return in.substr(1, in.size() - 2);
}

}  // namespace snowflake_ids::test
