// The three errors of a poll. A reader tells by the SQLSTATE what to do.
#pragma once

#include "pg/pg.hpp"

namespace snowflake_ids::feed {

// The class SF is none of PostgreSQL's.
inline constexpr int copy_again = MAKE_SQLSTATE('S', 'F', '0', '0', '1');
inline constexpr int mend_the_table = MAKE_SQLSTATE('S', 'F', '0', '0', '2');

// 40001: the next poll, with a newer plan and snapshot, may pass.
[[noreturn]] void fail_again(Oid table, const char* detail);

// SF001: the position is of no use any more.
[[noreturn]] void fail_copy_again(const char* detail);

// SF002: readers of the table could miss rows. `hint` says what its owner types.
[[noreturn]] void fail_mend(Oid table, const char* detail, const char* hint);

// SF002, for what create_feed() mends.
[[noreturn]] void fail_unsound(Oid table, const char* detail);

}  // namespace snowflake_ids::feed
