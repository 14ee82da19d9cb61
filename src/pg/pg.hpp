// PostgreSQL as this layer sees it: the only header that includes postgres.h. Every file in src/pg includes it before
// any other header of PostgreSQL; those follow inside extern "C". Headers of core may come first.
//
// Rules of this layer. A PostgreSQL error is a longjmp: no object with a destructor may exist where one can be raised,
// nothing is allocated with new, and nothing here throws.
#pragma once

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

// FUNCTION(snowflake_ids_sno_in) { … } defines a C function that SQL calls. (.ctags.d tells ctags.)
#define FUNCTION(name)                        \
    extern "C" {                              \
    PGDLLEXPORT Datum name(PG_FUNCTION_ARGS); \
    PG_FUNCTION_INFO_V1(name);                \
    }                                         \
    Datum name(PG_FUNCTION_ARGS)

namespace snowflake_ids {

// Unix microseconds of a timestamptz and back. PostgreSQL counts from 2000-01-01. The infinities become the ends of
// int64, so they are outside every format's range.
inline constexpr int64 postgres_epoch_us = int64{POSTGRES_EPOCH_JDATE - UNIX_EPOCH_JDATE} * USECS_PER_DAY;

inline int64 unix_us(TimestampTz t) {
    if (TIMESTAMP_NOT_FINITE(t)) return t;
    int64 us;
    return pg_add_s64_overflow(t, postgres_epoch_us, &us) ? PG_INT64_MAX : us;
}

inline TimestampTz timestamptz(int64 us) { return us - postgres_epoch_us; }

}  // namespace snowflake_ids
