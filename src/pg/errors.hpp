// Raises the errors of core as PostgreSQL errors: one table gives SQLSTATE, message and detail.
//
// Names in src/pg: fail_x() always raises an error; check_x() raises one if something is wrong.
#pragma once

#include <cstddef>

#include "core/error.hpp"
#include "core/timeline.hpp"
#include "pg/pg.hpp"

namespace snowflake_ids {

// Where a wrong value came from. It decides the SQLSTATE and the wording of the error.
enum class Source : unsigned char {
    text,      // input function, or a text that is read as an id
    binary,    // receive function, bytea or uuid with the bytes of an id
    uuid,      // uuid with the text characters of a sno
    modifier,  // type modifier: gid(volume)
    argument,  // any other argument, and settings
};

// The wrong value that an error is about.
struct Given {
    Source source;
    const char* what;             // the type or argument: "sno", "metabyte", "machine id"
    const char* shown = nullptr;  // the value as a text that is safe to print
    const char* first = nullptr;  // the permitted range, or other words that the detail needs
    const char* last = nullptr;
};

// Raises the PostgreSQL error for an error of core. If `escontext` is the context of soft errors, it saves the error
// there instead, and returns.
void report(Error error, const Given& given, Node* escontext = nullptr);

// Raises the error that `given` is outside the times of `timeline`, or that no id is at or after it (or before it).
// `what` names the ids. The detail shows the first and the last time that these ids can have.
[[noreturn]] void fail_time(Error error, const char* what, const Timeline& timeline, TimestampTz given);

// Raises the error that the number `given` is not between `first` and `last`. `what` names the argument.
[[noreturn]] void fail_range(Error error, const char* what, int64 given, int64 first, int64 last);

// Raises an error that names the first argument that is null. `names` has the names of all arguments to check, from
// argument 0 on. Functions call this that are not STRICT, because a NULL as their result would look like success.
template <std::size_t count>
void check_not_null(FunctionCallInfo fcinfo, const char* const (&names)[count]) {
    for (std::size_t i = 0; i < count; i++) {
        if (!fcinfo->args[i].isnull) continue;
        ereport(ERROR, (errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED), errmsg("argument must not be null: %s", names[i])));
    }
}

// These return a value as error messages show it, palloc'd. A time is in ISO format and in UTC, not in the session's
// time zone, so it is easy to compare with the range that is shown next to it. Of bytes, at most 32 are shown, in hex.
char* show_time(TimestampTz t);
char* show_bytes(const unsigned char* bytes, std::size_t length);

}  // namespace snowflake_ids
