// Core errors as PostgreSQL errors: one table gives SQLSTATE, message and detail.
//
// Names in src/pg: fail_x() ends in an error; check_x() does so if something is wrong.
#pragma once

#include <cstddef>

#include "core/error.hpp"
#include "core/timeline.hpp"
#include "pg/pg.hpp"

namespace snowflake_ids {

// Where a value came from. It decides the SQLSTATE and the wording.
enum class Source : unsigned char {
    text,      // input function, or a text that is read as an id
    binary,    // receive function, bytea or uuid with the bytes of an id
    uuid,      // uuid with the text characters of a sno
    modifier,  // type modifier: gid(volume)
    argument,  // any other argument, and settings
};

struct Given {
    Source source;
    const char* what;             // the type or argument: "sno", "metabyte", "machine id"
    const char* shown = nullptr;  // the value, safe to print
    const char* first = nullptr;  // permitted range, where the error is about one
    const char* last = nullptr;
};

// Raises the error. With a soft error context it saves the error there instead and returns.
void report(Error error, const Given& given, Node* escontext = nullptr);

// Raises the error that a time is outside those of `what`, or that no id of `what` lies on the side of it that was
// asked for. The detail shows the times of the time line.
[[noreturn]] void fail_time(Error error, const char* what, const Timeline& timeline, TimestampTz given);

// Raises the error that a number is outside the permitted range, first to last.
[[noreturn]] void fail_range(Error error, const char* what, int64 given, int64 first, int64 last);

// For functions that are not strict, because a NULL result would look like success: raises an error that names the
// first argument that is null. `names` has all of them.
template <std::size_t count>
void check_not_null(FunctionCallInfo fcinfo, const char* const (&names)[count]) {
    for (std::size_t i = 0; i < count; i++) {
        if (!fcinfo->args[i].isnull) continue;
        ereport(ERROR, (errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED), errmsg("argument must not be null: %s", names[i])));
    }
}

// Values as error messages show them, palloc'd. A time is in ISO format and in UTC, not in the session's time zone. So
// it can be compared with the range that is shown next to it.
char* show_time(TimestampTz t);
char* show_bytes(const unsigned char* bytes, std::size_t length);

}  // namespace snowflake_ids
