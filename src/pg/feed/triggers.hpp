// The triggers of a feed: stamp_column() and check_triggers() look at those of one relation.
#pragma once

#include "pg/pg.hpp"

extern "C" {
#include "utils/rel.h"
#include "utils/reltrigger.h"
}

namespace snowflake_ids::feed {

// The trigger function in the schema snowflake_ids.
Oid feed_function(const char* name);

// The trigger functions of feeds.
struct Functions {
    Oid feed_stamp, note_deleted, note_lost;
};

// The number of the column of stamps. Raises mend_the_table if the table is not stamped.
int stamp_column(Oid table);

bool has_trigger(Relation relation, Oid function, bool (*wanted)(const Trigger&));

bool is_always(const Trigger& t);

// Raises mend_the_table if the triggers of the part do not stamp each row, or do not note each deletion.
void check_triggers(Oid table, Relation part, const Functions& f, const char* column, bool deletes);

}  // namespace snowflake_ids::feed
