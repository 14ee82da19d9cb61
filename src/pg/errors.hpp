// Raises the errors of core as PostgreSQL errors, and those of arguments that several functions have.
#pragma once

#include <cstddef>

#include "core/error.hpp"
#include "core/timeline.hpp"
#include "pg/pg.hpp"

namespace snowflake_ids {

enum class Source : unsigned char {
    text,    // input function, or a text that is read as an id
    binary,  // receive function, or bytea with the bytes of an id
};

struct Given {
    Source source;
    const char* what;   // the type
    const char* shown;  // safe to print
};

// The input is no id. With a context of soft errors, saves the error there and returns.
void report(Error error, const Given& given, Node* escontext);

// `given` is outside the times of `timeline`, or no id is at or after it (or before it). `what` is the word for the
// ids.
[[noreturn]] void fail_time(const char* what, const Timeline& timeline, TimestampTz given);

[[noreturn]] void fail_range(const char* what, int64 given, int64 first, int64 last);

// For messages, palloc'd. Times are in ISO format and UTC, easy to compare with a range next to them. Of bytes, at most
// 32 are shown, in hex.
char* show_time(TimestampTz t);
char* show_bytes(const unsigned char* bytes, std::size_t length);

}  // namespace snowflake_ids
