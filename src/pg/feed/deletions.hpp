// Notes the old key of a row whose key changes. The trigger that stamps rows does it: a trigger with the condition that
// the key has changed would depend on the columns of the key, and keep their types from being altered.
#pragma once

#include "pg/pg.hpp"

extern "C" {
#include "commands/trigger.h"
#include "utils/rel.h"
}

namespace snowflake_ids::feed {

// The end of the reason that is noted if a part was truncated. A reader that empties its copy anyway ignores it.
inline constexpr const char* part_was_truncated = ", a part of the table, was truncated.";

// Where a trigger notes the deletions of its table, and the columns of the key. Looked up once for each statement.
struct Deletions {
    Oid table;  // InvalidOid: not looked up yet
    int count;  // of the columns of the key
    struct {
        int from;  // its number in the table on which the trigger fires
        int to;    // its index, from 0, in the table of deletions
        Oid type;  // in the table of deletions
    } columns[INDEX_MAX_KEYS];
};

// The table of the deletions of a table or a part: its own, or the next one of those above. InvalidOid if there is
// none.
Oid deletions_of_part(Oid table);

// Finds the columns of `rel` that are those of the table of deletions. Returns what is wrong if they are not the key,
// or if `rel` has none and needs one; null: nothing.
const char* match_key(Deletions& d, Relation deletions, Relation rel, bool needs_key = false);

// Raises an error if this is no call of a trigger, or if the trigger does not fit.
const TriggerData& trigger_data(FunctionCallInfo fcinfo, const char* function, bool (*fits)(TriggerEvent));

// Call it BEFORE UPDATE, in the last trigger. A note of an update that does not happen is harmless: polls look whether
// the key is there. `key` is null at first in each statement, and then allocated in `context`.
void note_changed_key(const TriggerData& t, Deletions*& key, MemoryContext context);

}  // namespace snowflake_ids::feed
