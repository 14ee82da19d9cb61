// Notes the old key of a row whose key changes. The trigger that stamps rows does it: a trigger with the condition that
// the key has changed would depend on the columns of the key, and keep their types from being altered.
#pragma once

#include "pg/pg.hpp"

extern "C" {
#include "commands/trigger.h"
}

namespace snowflake_ids::feed {

// With what a statement notes the keys that it changes. Allocated in `context`, once for each statement.
struct ChangedKeys;
ChangedKeys* watch_keys(const TriggerData& t, MemoryContext context);

// BEFORE UPDATE, as the last trigger. A note of an update that does not happen is harmless: polls look whether the key
// is there.
void note_changed_key(ChangedKeys* keys, const TriggerData& t);

}  // namespace snowflake_ids::feed
