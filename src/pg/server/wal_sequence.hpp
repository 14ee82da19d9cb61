// A sequence relation of the extension, used as a page of two numbers that is WAL-logged. It has what the generators
// must know about the ids of this database, wherever its rows were replayed or recovered.
//
// A change is written as generic WAL on the relation's only page, and flushed before it counts. That needs no
// transaction id, so it works in read-only transactions and in parallel workers.
//
// Ids depend on the numbers. So a page that is not a sequence's, or a number with wrong check bits
// (ledger/sealed.hpp), is an error; repair() corrects it. On a good page 0 is damage as well: a relation that was just
// created has the sealed 0.
#pragma once

#include "ledger/sealed.hpp"
#include "pg/pg.hpp"
#include "pg/server/wait.hpp"

namespace snowflake_ids::wal_sequence {

struct Place {
    const char* name;      // of the relation, in the schema of the extension
    const char* purpose;   // for the messages when it is missing or damaged
    ledger::Seal seal;     // of the number
    Oid oid = InvalidOid;  // see open_extension_relation()
};

struct Content {
    uint64 number = 0;  // sealed in last_value
    int64 log_cnt = 0;

    friend bool operator==(const Content&, const Content&) = default;
};

// The present content, flushed; on a standby, what has been replayed.
Content read(Place& place, const Patience& patience);

// Replaces the present content by what `next` makes of it, if that differs. Flushed. Returns the new content.
Content update(Place& place, Content (*next)(const Content& now, const Content& wanted), const Content& wanted,
               const Patience& patience);

// The same without waiting for another session, and only if the number is not above `enough` already. False: another
// session has the relation locked, or it is missing, unlogged or damaged. A call that needs it will get the error.
bool update_if_free(Place& place, Content (*next)(const Content& now, const Content& wanted), const Content& wanted,
                    uint64 enough, Content& content);

// Writes exactly `wanted`. Flushed. Returns the content before.
Content set(Place& place, const Content& wanted, const Patience& patience);

// True if the page or the number is damaged. Raises an error for damage that repair() cannot correct.
bool is_damaged(Place& place, const Patience& patience);

// Creates the page again with content `wanted`, if it is damaged. Flushed. Not in recovery.
void repair(Place& place, const Content& wanted, const Patience& patience);

}  // namespace snowflake_ids::wal_sequence
