// What becomes of the ids of a transaction when it ends: one place for the order of the steps.
#pragma once

namespace snowflake_ids::transaction {

// For _PG_init: from here on every transaction of this process goes through these steps.
void watch();

}  // namespace snowflake_ids::transaction
