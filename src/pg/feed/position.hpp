// The positions of readers (core/feed_position.hpp) on this server.
#pragma once

#include <string_view>

#include "core/feed_position.hpp"
#include "pg/pg.hpp"

extern "C" {
#include "utils/snapmgr.h"
}

namespace snowflake_ids::feed {

inline std::string_view view_of(const text* t) { return {VARDATA_ANY(t), VARSIZE_ANY_EXHDR(t)}; }

struct Read {
    FeedPosition position;
    Unseen open;  // `from` is xmax
};

bool try_read(std::string_view text, Read& r);

text* text_of(const FeedPosition& p, const Unseen& open);

// What a position means for the present snapshot. palloc'd.
struct Since {
    bool whole;      // no position: the whole table is new
    bool is_behind;  // the snapshot shows less than the reader has seen, so nothing is new
    bool upgraded;   // the position is of the cluster before pg_upgrade
    FeedPosition position;
    Unseen unseen;
};

// `text` may be null. Raises copy_again if the position is of another database, of a life that is not known, or if WAL
// that it needs is lost. If a standby may know the life later, the error is 40001.
Since read_since(const text* text, Snapshot snapshot);

// What a position in the table of deletions has not seen. If its life is no longer known, it is older than every
// position that is still accepted from readers, so it counts as having seen nothing.
Unseen unseen_by_noted(const char* position);

// The `open` ids as an array of bigint.
Datum array_of(const Unseen& unseen);

// The position of a reader of the table that has read the snapshot. `column`: the number of the column of stamps. Notes
// the life (lives.hpp) unless in recovery, so it may wait.
text* make_position(Oid table, int column, uint64 seen, Snapshot snapshot);

}  // namespace snowflake_ids::feed
