// Wakes the readers that sleep until a transaction commits rows (wait.cpp).
#pragma once

#include "pg/pg.hpp"

namespace snowflake_ids::feed {

// The present transaction writes to the table: at its end, readers of it and of those that it is a part of are woken.
// Call it in each statement, because the table may have become a part of others.
void will_write(Oid table);

}  // namespace snowflake_ids::feed
