// A sequence relation of the extension as a page of two numbers that travels with WAL: what
// the generators must know of ids that exist in this database, wherever its rows have been
// replayed or recovered to.
//
// Written as generic WAL on the relation's only page and flushed before it counts. That needs
// no transaction id: it works in read-only transactions and in parallel workers.
#pragma once

#include "pg/pg.hpp"

namespace snowflake_ids::wal_sequence {

struct Place {
    const char* name;      // of the relation, in the schema of the extension
    const char* purpose;   // for the message when it is missing
    Oid oid = InvalidOid;  // see open_extension_relation()
};

struct Content {
    int64 last_value = 0;
    int64 log_cnt = 0;

    friend bool operator==(const Content&, const Content&) = default;
};

// An older version of the extension's objects may lack it. Where that is no error it has no content, and takes none.
enum class Missing : bool { is_error, is_empty };

// What is there now, flushed; on a standby, what has been replayed.
Content read(Place& place, Missing missing = Missing::is_error);

// Puts what `next` makes of the current content there, if it differs. Flushed. Returns it.
Content update(Place& place, Content (*next)(const Content& now, const Content& wanted), const Content& wanted,
               Missing missing = Missing::is_error);

// Puts exactly that there. Flushed. Returns what was there before.
Content set(Place& place, const Content& wanted, Missing missing = Missing::is_error);

}  // namespace snowflake_ids::wal_sequence
