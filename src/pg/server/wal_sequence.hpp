// A sequence relation of the extension as a page of two numbers that travels with WAL: what
// the generators must know of ids that exist in this database, wherever its rows have been
// replayed or recovered to.
//
// Written as generic WAL on the relation's only page and flushed before it counts. That needs
// no transaction id: it works in read-only transactions and in parallel workers.
//
// What is read counts for ids, so nothing is read from a page that is not a sequence's, and no
// number whose check bits are wrong (ledger/sealed.hpp): that is an error, and repair() leads
// out. 0 on a good page is no number either. A relation that was just made holds the sealed 0.
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

// What is there now, flushed; on a standby, what has been replayed.
Content read(Place& place, const Patience& patience);

// Puts what `next` makes of the current content there, if it differs. Flushed. Returns it.
Content update(Place& place, Content (*next)(const Content& now, const Content& wanted), const Content& wanted,
               const Patience& patience);

// The same without waiting for another session, and only if the number is not beyond `enough` already. False: another
// session has the relation locked, or it is missing or damaged. Who needs it will meet that.
bool update_if_free(Place& place, Content (*next)(const Content& now, const Content& wanted), const Content& wanted,
                    uint64 enough, Content& content);

// Puts exactly that there. Flushed. Returns what was there before.
Content set(Place& place, const Content& wanted, const Patience& patience);

// The operator's way out. True if page or number are damaged; raises for what repair() cannot mend.
bool is_damaged(Place& place, const Patience& patience);

// Makes the page again with that content if it is damaged. Flushed. Not in recovery.
void repair(Place& place, const Content& wanted, const Patience& patience);

}  // namespace snowflake_ids::wal_sequence
