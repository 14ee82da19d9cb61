// Bytes as text, and a time as the golden files write it.
#pragma once

#include <cstdint>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace snowflake_ids::test {

inline std::string to_hex(const unsigned char* bytes, std::size_t n) {
    static constexpr char digits[] = "0123456789abcdef";
    std::string out;
    for (std::size_t i = 0; i < n; i++) {
        out += digits[bytes[i] >> 4];
        out += digits[bytes[i] & 15];
    }
    return out;
}

inline std::string to_hex(std::uint64_t v) {
    char out[17];
    std::snprintf(out, sizeof out, "%016llx", static_cast<unsigned long long>(v));
    return out;
}

// "-" stands for no bytes at all.
inline std::vector<unsigned char> from_hex(std::string_view hex) {
    std::vector<unsigned char> out;
    if (hex == "-") return out;
    if (hex.size() % 2 != 0) throw std::runtime_error("odd hex");
    const auto digit = [](char c) -> unsigned {
        if (c >= '0' && c <= '9') return static_cast<unsigned>(c - '0');
        if (c >= 'a' && c <= 'f') return static_cast<unsigned>(c - 'a' + 10);
        throw std::runtime_error("bad hex");
    };
    for (std::size_t i = 0; i < hex.size(); i += 2)
        out.push_back(static_cast<unsigned char>(digit(hex[i]) << 4 | digit(hex[i + 1])));
    return out;
}

inline std::string string_from_hex(std::string_view hex) {
    const std::vector<unsigned char> bytes = from_hex(hex);
    return std::string(bytes.begin(), bytes.end());
}

inline std::string to_uuid(const unsigned char* bytes) {
    const std::string h = to_hex(bytes, 16);
    return h.substr(0, 8) + "-" + h.substr(8, 4) + "-" + h.substr(12, 4) + "-" + h.substr(16, 4) + "-" + h.substr(20);
}

// 2031-05-08T23:03:34.976Z. Shares none of the core's arithmetic.
inline std::string to_iso(std::int64_t unix_ms) {
    if (unix_ms < 0) throw std::runtime_error("no golden time is before 1970");
    std::int64_t days = unix_ms / 86400000;
    const int ms = static_cast<int>(unix_ms % 86400000);
    const auto leap = [](int y) { return (y % 4 == 0 && y % 100 != 0) || y % 400 == 0; };
    int year = 1970;
    for (; days >= (leap(year) ? 366 : 365); year++) days -= leap(year) ? 366 : 365;
    static constexpr int lengths[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    int month = 0;
    for (;; month++) {
        const int length = lengths[month] + (month == 1 && leap(year));
        if (days < length) break;
        days -= length;
    }
    char out[80];
    std::snprintf(out, sizeof out, "%04d-%02d-%02dT%02d:%02d:%02d.%03dZ", year, month + 1, static_cast<int>(days) + 1,
                  ms / 3600000, ms / 60000 % 60, ms / 1000 % 60, ms % 1000);
    return out;
}

}  // namespace snowflake_ids::test
