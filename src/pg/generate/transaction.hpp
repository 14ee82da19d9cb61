// What this process does when a transaction that has generated ids ends. transaction.cpp has the steps in their order.
#pragma once

namespace snowflake_ids::transaction {

// Called once, from _PG_init: from then on every transaction of this process goes through these steps.
void watch();

}  // namespace snowflake_ids::transaction
