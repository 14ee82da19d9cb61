// The SQL functions that a poll calls.
#include "pg/feed/position.hpp"

#include <algorithm>

extern "C" {
#include "catalog/pg_type.h"
#include "nodes/execnodes.h"
#include "utils/array.h"
}

#include "pg/datum.hpp"
#include "pg/feed/deletions.hpp"
#include "pg/feed/errors.hpp"
#include "pg/feed/lives.hpp"
#include "pg/feed/parts.hpp"
#include "pg/feed/snapshot.hpp"
#include "pg/feed/triggers.hpp"

namespace snowflake_ids::feed {

namespace {

const text* text_argument(FunctionCallInfo fcinfo, int n) { return PG_ARGISNULL(n) ? nullptr : PG_GETARG_TEXT_PP(n); }

// `again` has the values of the rows without a key that the reader must know (deletions.cpp). A reason makes it copy
// the table again, and so does a position that has seen what the reader has not. A null says that all rows were
// truncated: then the result is true, and the reader gets all present rows, so it need not know that a part was
// truncated alone.
bool check_again(ArrayType* again, const Unseen& unseen) {
    Datum* elements;
    bool* nulls;
    int count;
    deconstruct_array(again, TEXTOID, -1, false, TYPALIGN_INT, &elements, &nulls, &count);
    const bool truncated = std::find(nulls, nulls + count, true) != nulls + count;
    for (int i = 0; i < count; i++) {
        if (nulls[i]) continue;
        const char* const reason = TextDatumGetCString(elements[i]);
        if (truncated && std::string_view(reason).ends_with(part_was_truncated)) continue;
        Read r;
        if (!try_read(reason, r)) fail_copy_again(reason);
        if (!is_subset(unseen, unseen_by_noted(reason)))
            fail_copy_again("Deletions that this reader has not read were forgotten.");
    }
    return truncated;
}

[[noreturn]] void fail_foreign_stamp(uint64 stamp) {
    ereport(
        ERROR,
        (errcode(mend_the_table),
         errmsg("a row of a feed has stamp " UINT64_FORMAT ", which this server has not given", stamp),
         errdetail("Rows of another server were restored without their triggers."),
         errhint(
             "As the owner, call this, and run what it returns: SELECT to_do FROM snowflake_ids.create_feed('my_table');")));
}

// A scan that finds no index calls the function for each row, so the last result is kept.
struct KeptSince {
    std::string_view text;  // a copy, as `open` is
    Snapshot snapshot;
    TransactionId xmax;
    uint32 xcnt;
    uint64 from;
    Datum open;
};

const KeptSince& kept_since(FunctionCallInfo fcinfo) {
    const text* const given = text_argument(fcinfo, 0);
    const std::string_view bytes = given == nullptr ? std::string_view{} : view_of(given);
    const Snapshot s = active_snapshot();
    auto*& kept = reinterpret_cast<KeptSince*&>(fcinfo->flinfo->fn_extra);
    if (kept != nullptr && kept->snapshot == s && kept->xmax == s->xmax && kept->xcnt == s->xcnt && kept->text == bytes)
        return *kept;
    const Since since = read_since(given, s);
    const MemoryContext before = MemoryContextSwitchTo(fcinfo->flinfo->fn_mcxt);
    auto* const now = static_cast<KeptSince*>(palloc(sizeof(KeptSince)));
    *now = {{pnstrdup(bytes.data(), bytes.size()), bytes.size()},
            s,
            s->xmax,
            s->xcnt,
            since.is_behind ? no_stamp : since.unseen.from,
            array_of(since.is_behind ? Unseen{} : since.unseen)};
    MemoryContextSwitchTo(before);
    if (kept != nullptr) {
        pfree(const_cast<char*>(kept->text.data()));
        pfree(DatumGetPointer(kept->open));
        pfree(kept);
    }
    kept = now;
    return *kept;
}

}  // namespace

}  // namespace snowflake_ids::feed

namespace snowflake_ids {

// feed_from(since): stamps from here on are new. feed_open(since): these are new, too.
FUNCTION(snowflake_ids_feed_from) { PG_RETURN_INT64(static_cast<int64>(feed::kept_since(fcinfo).from)); }
FUNCTION(snowflake_ids_feed_open) { PG_RETURN_DATUM(feed::kept_since(fcinfo).open); }

namespace {

// The plan of the statement. PostgreSQL shows it only to a function in FROM; elsewhere it is null.
const PlannedStmt* plan_around(FunctionCallInfo fcinfo) {
    const auto* const caller = reinterpret_cast<const ReturnSetInfo*>(fcinfo->resultinfo);
    if (caller == nullptr || !IsA(caller, ReturnSetInfo) || caller->econtext->ecxt_estate == nullptr) return nullptr;
    return caller->econtext->ecxt_estate->es_plannedstmt;
}

}  // namespace

// feed_begin(since, of_table, deletions, again): checks the poll before it reads. True if the reader empties its copy.
FUNCTION(snowflake_ids_feed_begin) {
    if (PG_ARGISNULL(1)) PG_RETURN_NULL();
    const Snapshot snapshot = feed::active_snapshot();
    const Oid table = PG_GETARG_OID(1), deletions = PG_ARGISNULL(2) ? InvalidOid : PG_GETARG_OID(2);
    const feed::Since since = feed::read_since(feed::text_argument(fcinfo, 0), snapshot);
    feed::check_parts(table, deletions, since, snapshot, plan_around(fcinfo));
    if (!RecoveryInProgress()) feed::note_life();
    if (since.whole) PG_RETURN_BOOL(true);
    if (since.position.table != table || since.position.column != static_cast<uint64>(feed::stamp_column(table)))
        feed::fail_copy_again("It was made by the feed of another table, or before this feed was created again.");
    if (since.is_behind || PG_ARGISNULL(3)) PG_RETURN_BOOL(false);
    PG_RETURN_BOOL(feed::check_again(PG_GETARG_ARRAYTYPE_P(3), since.unseen));
}

// feed_step(stamp): 2, the step of a present row in a poll. An error if this server cannot have given the stamp.
FUNCTION(snowflake_ids_feed_step) {
    const auto stamp = static_cast<uint64>(PG_GETARG_INT64(0));
    static uint64 next = 0;  // next_xid() as of some earlier call: it only grows
    if (unlikely(stamp >= next)) {
        next = feed::next_xid();
        if (stamp >= next) feed::fail_foreign_stamp(stamp);
    }
    PG_RETURN_INT32(2);
}

// feed_end(since, of_table): the position after the poll.
FUNCTION(snowflake_ids_feed_end) {
    if (PG_ARGISNULL(1)) PG_RETURN_NULL();
    const text* const text = feed::text_argument(fcinfo, 0);
    const Oid table = PG_GETARG_OID(1);
    const Snapshot snapshot = feed::active_snapshot();
    const feed::Since since = feed::read_since(text, snapshot);
    if (since.is_behind) PG_RETURN_DATUM(PG_GETARG_DATUM(0));
    PG_RETURN_TEXT_P(feed::make_position(table, feed::stamp_column(table), since.position.seen, snapshot));
}

}  // namespace snowflake_ids
