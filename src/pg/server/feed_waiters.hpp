// Who sleeps in a group of ledger/feed_wait.hpp: a condition variable of PostgreSQL. It has no pointers, so each
// process may see it at another address. A process leaves it when its transaction ends, however that ends: before
// dynamic shared memory is unmapped.
#pragma once

#include "ledger/slot.hpp"
#include "pg/pg.hpp"

extern "C" {
#include "storage/condition_variable.h"
}

namespace snowflake_ids {

inline ConditionVariable& waiters(ledger::Group& group) {
    static_assert(sizeof(ConditionVariable) <= sizeof group.waiters);
    return reinterpret_cast<ConditionVariable&>(group.waiters);
}

}  // namespace snowflake_ids
