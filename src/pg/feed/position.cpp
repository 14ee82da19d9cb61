// Makes positions, and says what is new since one.
#include "pg/feed/position.hpp"

#include <algorithm>

extern "C" {
#include "access/timeline.h"
#include "access/xact.h"
#include "access/xlog.h"
#include "access/xlogrecovery.h"
#include "catalog/pg_type.h"
#include "lib/stringinfo.h"
#include "nodes/execnodes.h"
#include "tcop/pquery.h"
#include "utils/array.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
}

#include "pg/ceilings/synchronous_standbys.hpp"
#include "pg/datum.hpp"
#include "pg/feed/errors.hpp"
#include "pg/feed/lives.hpp"
#include "pg/feed/parts.hpp"
#include "pg/feed/snapshot.hpp"
#include "pg/feed/wal.hpp"
#include "pg/server/shared_ledger.hpp"

namespace snowflake_ids::feed {

namespace {

std::string_view view_of(const text* t) { return {VARDATA_ANY(t), VARSIZE_ANY_EXHDR(t)}; }

// ---- text

struct Read {
    FeedPosition position;
    Unseen open;  // `from` is xmax
};

bool try_read(std::string_view text, Read& r) {
    // Each is at least one character.
    auto* const open = static_cast<uint64*>(palloc(text.size() * sizeof(uint64)));
    Size count = 0;
    if (!read_feed_position(text, r.position, [&](uint64 xid) { open[count++] = xid; })) return false;
    std::reverse(open, open + count);
    r.open = {r.position.xmax, open, count};
    return true;
}

Read read(std::string_view text) {
    Read r;
    if (try_read(text, r)) return r;
    ereport(ERROR, (errcode(ERRCODE_INVALID_TEXT_REPRESENTATION),
                    errmsg("invalid position of a feed: \"%s\"", pnstrdup(text.data(), text.size())),
                    errhint("Pass the position that a poll has returned, or '' to begin with the whole table.")));
}

text* text_of(const FeedPosition& p, const Unseen& open) {
    StringInfoData buffer;
    initStringInfo(&buffer);
    write_feed_position(p, open.open, open.open + open.count, [&](char c) { appendStringInfoChar(&buffer, c); });
    return cstring_to_text_with_len(buffer.data, buffer.len);
}

// ---- what is lost

// The server's own timeline, or that which it replays.
TimeLineID present_timeline() {
    TimeLineID timeline = 0;
    if (RecoveryInProgress())
        (void) GetXLogReplayRecPtr(&timeline);
    else
        (void) GetFlushRecPtr(&timeline);
    return timeline;
}

enum class Branch { same, left, unknown };

// Whether the WAL up to there, of that timeline, is part of the history of this server.
Branch branch_of(TimeLineID timeline, XLogRecPtr wal) {
    const TimeLineID present = present_timeline();
    if (timeline == present) return Branch::same;
    const ListCell* cell;
    foreach (cell, readTimeLineHistory(present)) {
        const auto* entry = static_cast<const TimeLineHistoryEntry*>(lfirst(cell));
        if (entry->tli == timeline)
            return entry->end == InvalidXLogRecPtr || wal <= entry->end ? Branch::same : Branch::left;
    }
    return Branch::unknown;
}

// ---- since

void check_life(const FeedPosition& p, const ledger::Continued& c, bool upgraded) {
    const Branch branch = upgraded ? Branch::same : branch_of(static_cast<TimeLineID>(p.timeline), p.wal);
    // Life and timeline begin in earlier WAL than the position has.
    const bool is_ahead = RecoveryInProgress() && (p.wal == 0 || GetXLogReplayRecPtr(nullptr) < p.wal);
    if (is_ahead && branch != Branch::left && (!c.known || branch == Branch::unknown)) {
        ereport(ERROR,
                (errcode(ERRCODE_T_R_SERIALIZATION_FAILURE), errmsg("this standby does not know the position yet"),
                 errdetail("The life or the timeline in which it was made was not replayed."),
                 errhint("Poll again later. If the position is of another cluster, poll with ''.")));
    }
    if (!c.known && branch != Branch::left) {
        fail_copy_again(
            "It was made by another cluster, by a server that was copied from this one, or more than 60 starts ago.");
    }
    if (c.lost || branch != Branch::same)
        fail_copy_again("This server has lost WAL that the server with this position had, by a failover or a restore.");
}

Unseen below(const Unseen& unseen, uint64 from) {
    const uint64* const end = std::lower_bound(unseen.open, unseen.open + unseen.count, from);
    return {from, unseen.open, static_cast<std::size_t>(end - unseen.open)};
}

// What the position has not seen, as transaction ids of the present life.
Unseen continued(const Read& r, bool upgraded) {
    const FeedPosition& p = r.position;
    if (p.database != MyDatabaseId) fail_copy_again("It was made in another database.");
    if (!RecoveryInProgress() && p.life == present_life()) return r.open;
    const ledger::Continued c = ledger::continue_from(all_lives(), p.life, p.xmax, p.wal, p.standby != 0);
    check_life(p, c, upgraded);
    return below(r.open, c.from);
}

bool is_of_this_cluster(const FeedPosition& p) { return p.cluster == GetSystemIdentifier(); }

}  // namespace

Since read_since(const text* text, Snapshot snapshot) {
    Since since{};
    since.whole = text == nullptr || view_of(text).empty();
    if (since.whole) return since;
    const Read r = read(view_of(text));
    since.position = r.position;
    since.upgraded = !is_of_this_cluster(r.position);
    since.unseen = continued(r, since.upgraded);
    since.is_behind = !covers(unseen_in(snapshot, Subtransactions::left_out), since.unseen);
    return since;
}

Unseen unseen_by_noted(const char* position) {
    const Read r = read(position);
    const ledger::Continued c = ledger::continue_from(all_lives(), r.position.life, r.position.xmax, 0, false);
    return c.known ? below(r.open, c.from) : Unseen{};
}

Datum array_of(const Unseen& unseen) {
    auto* const open = static_cast<Datum*>(palloc(Max(unseen.count, Size{1}) * sizeof(Datum)));
    for (Size i = 0; i < unseen.count; i++) open[i] = UInt64GetDatum(unseen.open[i]);
    return PointerGetDatum(construct_array(open, static_cast<int>(unseen.count), INT8OID, sizeof(int64),
                                           FLOAT8PASSBYVAL, TYPALIGN_DOUBLE));
}

namespace {

// What the reader may have seen is in this WAL. The flushed WAL of a primary may be ahead of its synchronous standbys,
// and then nobody has seen its end.
XLogRecPtr present_wal() {
    if (RecoveryInProgress()) return GetXLogReplayRecPtr(nullptr);
    TimeLineID timeline = 0;
    const XLogRecPtr flushed = GetFlushRecPtr(&timeline);
    return end_of_records(
        synchronous_standbys::commits_wait() ? Min(flushed, synchronous_standbys::released()) : flushed, timeline);
}

// Not after the snapshot was taken.
TimestampTz asked_at() {
    if (IsolationUsesXactSnapshot()) return GetCurrentTransactionStartTimestamp();
    return ActivePortal == nullptr ? GetCurrentStatementStartTimestamp() : ActivePortal->creation_time;
}

}  // namespace

text* make_position(Oid table, int column, uint64 seen, Snapshot snapshot) {
    const bool standby = RecoveryInProgress();
    if (!standby) note_life();
    const Unseen open = unseen_in(snapshot, Subtransactions::listed);
    const FeedPosition p{
        .table = table,
        .column = static_cast<uint64>(column),
        .database = MyDatabaseId,
        .life = standby ? all_lives().last() : present_life(),
        .cluster = GetSystemIdentifier(),
        .timeline = present_timeline(),
        .wal = present_wal(),
        .time = static_cast<uint64>(number_of(unix_time(asked_at()))),
        .seen = seen,
        .standby = standby,
        .lacks_subxids = snapshot->suboverflowed ? uint64{1} : uint64{0},
        .xmax = open.from,
    };
    return text_of(p, open);
}

uint64 seen_of(const text* position) {
    Read r;
    return try_read(view_of(position), r) ? r.position.seen : 0;
}

text* with_seen(text* position, uint64 seen) {
    Read r;
    if (!try_read(view_of(position), r)) return position;
    r.position.seen = seen;
    return text_of(r.position, r.open);
}

namespace {

const text* text_argument(FunctionCallInfo fcinfo, int n) { return PG_ARGISNULL(n) ? nullptr : PG_GETARG_TEXT_PP(n); }

// Of rows without a key. A reason tells those to whom its row is new. A position tells those that miss what it has
// seen. Returns true if there is a null: all rows were truncated.
bool check_again(ArrayType* again, const Unseen& unseen) {
    Datum* elements;
    bool* nulls;
    int count;
    bool truncated = false;
    deconstruct_array(again, TEXTOID, -1, false, TYPALIGN_INT, &elements, &nulls, &count);
    for (int i = 0; i < count; i++) {
        truncated = truncated || nulls[i];
        if (nulls[i]) continue;
        const char* const reason = TextDatumGetCString(elements[i]);
        Read r;
        if (!try_read(reason, r)) fail_copy_again(reason);
        if (!covers(unseen, unseen_by_noted(reason)))
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
    MemoryContext context;  // of what the pointers point to
    const char* bytes;
    Size length;
    Snapshot snapshot;
    TransactionId xmax;
    uint32 xcnt;
    uint64 from;
    Datum open;
};

const KeptSince& kept_since(FunctionCallInfo fcinfo) {
    const text* const text = text_argument(fcinfo, 0);
    const std::string_view bytes = text == nullptr ? std::string_view{} : view_of(text);
    const Snapshot s = active_snapshot();
    auto* kept = static_cast<KeptSince*>(fcinfo->flinfo->fn_extra);
    if (kept != nullptr && kept->snapshot == s && kept->xmax == s->xmax && kept->xcnt == s->xcnt &&
        bytes == std::string_view{kept->bytes, kept->length})
        return *kept;
    const Since since = read_since(text, s);
    if (kept == nullptr) {
        kept = static_cast<KeptSince*>(MemoryContextAllocZero(fcinfo->flinfo->fn_mcxt, sizeof(KeptSince)));
        kept->context = AllocSetContextCreate(fcinfo->flinfo->fn_mcxt, "position of a feed", ALLOCSET_SMALL_SIZES);
        fcinfo->flinfo->fn_extra = kept;
    }
    kept->snapshot = nullptr;  // until it is whole
    MemoryContextReset(kept->context);
    const MemoryContext before = MemoryContextSwitchTo(kept->context);
    kept->bytes = pnstrdup(bytes.data(), bytes.size());
    kept->length = bytes.size();
    kept->snapshot = s;
    kept->xmax = s->xmax;
    kept->xcnt = s->xcnt;
    kept->from = since.is_behind ? no_stamp : since.unseen.from;
    kept->open = array_of(since.is_behind ? Unseen{} : since.unseen);
    MemoryContextSwitchTo(before);
    return *kept;
}

}  // namespace

}  // namespace snowflake_ids::feed

namespace snowflake_ids {

// feed_from(since): stamps from here on are new. feed_open(since): these are new, too.
FUNCTION(snowflake_ids_feed_from) { PG_RETURN_INT64(static_cast<int64>(feed::kept_since(fcinfo).from)); }
FUNCTION(snowflake_ids_feed_open) { PG_RETURN_DATUM(feed::kept_since(fcinfo).open); }

namespace {

// The plan of the statement, which only a function in FROM is told. Null elsewhere.
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

// feed_step(stamp): 2.
FUNCTION(snowflake_ids_feed_step) {
    const auto stamp = static_cast<uint64>(PG_GETARG_INT64(0));
    auto*& next = reinterpret_cast<uint64*&>(fcinfo->flinfo->fn_extra);
    if (unlikely(next == nullptr))
        next = static_cast<uint64*>(MemoryContextAllocZero(fcinfo->flinfo->fn_mcxt, sizeof(uint64)));
    if (unlikely(stamp >= *next)) {
        *next = feed::next_xid();
        if (stamp >= *next) feed::fail_foreign_stamp(stamp);
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

// feed_position(of_table): the position of a reader that needs nothing of what is there.
FUNCTION(snowflake_ids_feed_position) {
    const Oid table = PG_GETARG_OID(0);
    PG_RETURN_TEXT_P(feed::make_position(table, feed::stamp_column(table), 0, feed::active_snapshot()));
}

// read_until(position): all rows with smaller stamps have been read.
FUNCTION(snowflake_ids_read_until) {
    const feed::Since since = feed::read_since(PG_GETARG_TEXT_PP(0), feed::active_snapshot());
    PG_RETURN_INT64(
        static_cast<int64>(since.unseen.count == 0 ? since.unseen.from : Min(since.unseen.open[0], since.unseen.from)));
}

// feed_position_time(position)
FUNCTION(snowflake_ids_feed_position_time) {
    if (feed::view_of(PG_GETARG_TEXT_PP(0)).empty()) PG_RETURN_NULL();
    const feed::Read r = feed::read(feed::view_of(PG_GETARG_TEXT_PP(0)));
    PG_RETURN_TIMESTAMPTZ(timestamptz(UnixTime{microseconds{static_cast<int64>(r.position.time)}}));
}

}  // namespace snowflake_ids
