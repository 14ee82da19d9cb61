// The trigger functions that stamp rows, for those who call them (stamp.cpp) and those who look for them
// (stamped_table.cpp).
#pragma once

#include "pg/settled/stamped_table.hpp"

namespace snowflake_ids {

struct Stamp {
    ledger::SqlFormat format;
    const char* function;  // of SQL; in C, snowflake_ids_ comes before it
    const char* type;      // of the column, in the schema of the function; null: bigint only
    bool or_bigint;
    int argument_count;
};
inline constexpr Stamp sno_stamp{ledger::SqlFormat::sno, "sno_stamp", "sno", false, 1};
inline constexpr Stamp mastic_stamp{ledger::SqlFormat::mastic, "mastic_stamp", "mastic", true, 1};
inline constexpr Stamp snowflake_si_stamp{ledger::SqlFormat::snowflake_si, "snowflake_si_stamp", nullptr, true, 1};
inline constexpr Stamp snowflake_stamp{ledger::SqlFormat::layout, "snowflake_stamp", nullptr, true, 2};

// What to type. It also replaces a trigger that does not stamp each row.
const char* create_feed_command(Oid table, const Stamp& s, StampFormat format);

}  // namespace snowflake_ids
