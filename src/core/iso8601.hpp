// Reads a point in time in one fixed spelling, for settings: no session time zone, no locale, no `now`. Example:
// `2026-01-01 00:00:00+00`. Also allowed: `T` instead of the blank, and up to six decimals of a second. The zone is
// required: Z, +HH, +HHMM or +HH:MM.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/error.hpp"

namespace snowflake_ids::iso8601 {

// Days from 1970-01-01 to a proleptic Gregorian date. Years count from 1 March, so the
// leap day comes last and month lengths follow one formula.
constexpr std::int64_t days_from_civil(std::int64_t year, unsigned month, unsigned day) {
    const std::int64_t y = year - (month <= 2);
    const std::int64_t era = (y >= 0 ? y : y - 399) / 400;
    const std::int64_t year_of_era = y - era * 400;
    const std::int64_t day_of_year = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1;
    return era * 146097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719468;
}

namespace detail {

struct Reader {
    const char* p;
    const char* end;
    bool ok = true;

    constexpr bool at(char c) const { return p < end && *p == c; }
    constexpr bool accept(char c) {
        if (!at(c)) return false;
        p++;
        return true;
    }
    constexpr void expect(char c) { ok &= accept(c); }
    constexpr bool digit() const { return p < end && *p >= '0' && *p <= '9'; }

    // Exactly `n` digits, value within lo .. hi.
    constexpr unsigned number(int n, unsigned lo, unsigned hi) {
        unsigned v = 0;
        for (int i = 0; i < n; i++) {
            if (!digit()) {
                ok = false;
                return lo;
            }
            v = v * 10 + static_cast<unsigned>(*p++ - '0');
        }
        if (v < lo || v > hi) ok = false;
        return v;
    }

    // Decimals of a second, in microseconds; more than six are refused, not rounded.
    constexpr unsigned fraction() {
        unsigned us = 0;
        int n = 0;
        for (; n < 6 && digit(); n++) us = us * 10 + static_cast<unsigned>(*p++ - '0');
        if (n == 0 || digit()) ok = false;
        for (; n < 6; n++) us *= 10;
        return us;
    }

    // Seconds east of UTC.
    constexpr std::int64_t zone() {
        if (accept('Z')) return 0;
        const bool west = at('-');
        if (!accept('-')) expect('+');
        const unsigned hours = number(2, 0, 15);
        const bool colon = accept(':');
        const unsigned minutes = colon || digit() ? number(2, 0, 59) : 0;
        const std::int64_t s = hours * 3600 + minutes * 60;
        return west ? -s : s;
    }
};

}  // namespace detail

// Unix microseconds. The only error is bad_character.
constexpr Result<std::int64_t> parse(const char* text, std::size_t length) {
    detail::Reader in{text, text + length};
    const unsigned year = in.number(4, 1, 9999);
    in.expect('-');
    const unsigned month = in.number(2, 1, 12);
    in.expect('-');
    const unsigned day = in.number(2, 1, 31);
    if (!in.accept('T')) in.expect(' ');
    const unsigned hour = in.number(2, 0, 23);
    in.expect(':');
    const unsigned minute = in.number(2, 0, 59);
    in.expect(':');
    const unsigned second = in.number(2, 0, 59);
    const unsigned us = in.accept('.') ? in.fraction() : 0;
    const std::int64_t zone = in.zone();
    if (!in.ok || in.p != in.end) return Error::bad_character;

    const std::int64_t days = days_from_civil(year, month, day);
    // February 30 would become March 2: refuse it.
    const std::int64_t next_month = month == 12 ? days_from_civil(year + 1, 1, 1) : days_from_civil(year, month + 1, 1);
    if (days >= next_month) return Error::bad_character;
    const std::int64_t seconds = days * 86400 + hour * 3600 + minute * 60 + second - zone;
    return seconds * 1000000 + us;
}

}  // namespace snowflake_ids::iso8601
