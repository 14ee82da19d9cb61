// Notes the old key of a row whose key changes. The trigger that stamps rows does it: a trigger with the condition that
// the key has changed would depend on the columns of the key, and keep their types from being altered.
#pragma once

#include "pg/pg.hpp"

extern "C" {
#include "commands/trigger.h"
}

namespace snowflake_ids::feed {

// Ends the reason of a part that was truncated. To a reader who empties its copy anyway, it says nothing new.
inline constexpr const char* part_was_truncated = ", a part of the table, was truncated.";

struct Deletions;

// BEFORE UPDATE, as the last trigger. A note of an update that does not happen is harmless: polls look whether the key
// is there. `key` is null at first in each statement, and then allocated in `context`.
void note_changed_key(const TriggerData& t, Deletions*& key, MemoryContext context);

}  // namespace snowflake_ids::feed
