// The trigger functions that stamp rows, for those who call them (stamp.cpp) and those who look for them
// (stamped_table.cpp).
#pragma once

#include "pg/settled/stamped_table.hpp"

namespace snowflake_ids {

struct Stamp {
    ledger::SqlFormat format;
    const char* function;   // of SQL; in C, snowflake_ids_ comes before it
    const char* arguments;  // of the trigger, for hints
    const char* type;       // of the column, in the schema of the function; null: bigint only
    bool or_bigint;
    int argument_count;
};
inline constexpr Stamp sno_stamp{ledger::SqlFormat::sno, "sno_stamp", "'my_column'", "sno", false, 1};
inline constexpr Stamp mastic_stamp{ledger::SqlFormat::mastic, "mastic_stamp", "'my_column'", "mastic", true, 1};
inline constexpr Stamp snowflake_si_stamp{
    ledger::SqlFormat::snowflake_si, "snowflake_si_stamp", "'my_column'", nullptr, true, 1};
inline constexpr Stamp snowflake_stamp{
    ledger::SqlFormat::layout, "snowflake_stamp", "'my_layout', 'my_column'", nullptr, true, 2};

}  // namespace snowflake_ids
