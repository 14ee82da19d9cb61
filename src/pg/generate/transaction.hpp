// What happens to the ids of a transaction when it ends. The order of the steps is in one place.
#pragma once

namespace snowflake_ids::transaction {

// Called from _PG_init: from then on every transaction of this process goes through these steps.
void watch();

}  // namespace snowflake_ids::transaction
