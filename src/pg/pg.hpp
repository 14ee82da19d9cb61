// The only header that includes postgres.h, before any other header of PostgreSQL; those follow inside extern "C".
// Headers of core may come first, and time.hpp must, because the macros of PostgreSQL would break the standard library.
#pragma once

#include "core/time.hpp"

extern "C" {
#include "postgres.h"

#include "common/int.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/timestamp.h"
}

#include "pg/compat.hpp"

// An abbreviated sort key needs a whole Datum, and so does a bigint id.
static_assert(sizeof(Datum) == 8 && FLOAT8PASSBYVAL,
              "snowflake_ids needs a PostgreSQL whose Datum has 64 bits: a 64-bit server, or any from version 19 on");

// FUNCTION(snowflake_ids_sno_in) { … } defines a C function that SQL calls.
#define FUNCTION(name)                        \
    extern "C" {                              \
    PGDLLEXPORT Datum name(PG_FUNCTION_ARGS); \
    PG_FUNCTION_INFO_V1(name);                \
    }                                         \
    Datum name(PG_FUNCTION_ARGS)

namespace snowflake_ids {

// PostgreSQL counts microseconds from 2000-01-01. The infinities, and times too late for a UnixTime, become the ends of
// UnixTime, which are outside every format's range. `never` is -infinity.
inline constexpr UnixTime postgres_epoch = std::chrono::sys_days{std::chrono::January / 1 / 2000};
inline constexpr UnixTime never = UnixTime::min();

inline UnixTime unix_time(TimestampTz t) {
    if (TIMESTAMP_NOT_FINITE(t)) return UnixTime{microseconds{t}};
    int64 us;
    return pg_add_s64_overflow(t, number_of(postgres_epoch), &us) ? UnixTime::max() : UnixTime{microseconds{us}};
}

inline TimestampTz timestamptz(UnixTime t) { return (t - postgres_epoch).count(); }

}  // namespace snowflake_ids
