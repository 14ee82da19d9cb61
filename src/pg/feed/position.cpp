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
#include "tcop/pquery.h"
#include "utils/array.h"
}

#include "pg/ceilings/synchronous_standbys.hpp"
#include "pg/datum.hpp"
#include "pg/feed/end_of_records.hpp"
#include "pg/feed/errors.hpp"
#include "pg/feed/lives.hpp"
#include "pg/feed/snapshot.hpp"
#include "pg/feed/triggers.hpp"
#include "pg/server/shared_ledger.hpp"

namespace snowflake_ids::feed {

// ---- text

bool try_read(std::string_view text, Read& r) {
    // A transaction takes at least one character of the text.
    auto* const open = static_cast<uint64*>(palloc(text.size() * sizeof(uint64)));
    Size count = 0;
    if (!read_feed_position(text, r.position, [&](uint64 xid) { open[count++] = xid; })) return false;
    std::reverse(open, open + count);
    r.open = {r.position.xmax, open, count};
    return true;
}

text* text_of(const FeedPosition& p, const Unseen& open) {
    StringInfoData buffer;
    initStringInfo(&buffer);
    write_feed_position(p, open.open, open.open + open.count, [&](std::string_view text) {
        appendBinaryStringInfo(&buffer, text.data(), static_cast<int>(text.size()));
    });
    return cstring_to_text_with_len(buffer.data, buffer.len);
}

namespace {

Read read(std::string_view text) {
    Read r;
    if (try_read(text, r)) return r;
    ereport(ERROR, (errcode(ERRCODE_INVALID_TEXT_REPRESENTATION),
                    errmsg("invalid position of a feed: \"%s\"", pnstrdup(text.data(), text.size())),
                    errhint("Pass the position that a poll has returned, or '' to begin with the whole table.")));
}

// ---- what is lost

TimeLineID present_timeline() {
    TimeLineID timeline = 0;
    RecoveryInProgress() ? GetXLogReplayRecPtr(&timeline) : GetFlushRecPtr(&timeline);
    return timeline;
}

enum class Branch { same, left, unknown };

// Whether the WAL of the timeline up to `wal` is part of the history of this server. The end of a timeline belongs to
// the next one, too.
Branch branch_of(TimeLineID timeline, XLogRecPtr wal) {
    List* const history = readTimeLineHistory(present_timeline());
    if (!tliInHistory(timeline, history)) return Branch::unknown;
    return tliOfPointInHistory(Max(wal, XLogRecPtr{1}) - 1, history) <= timeline ? Branch::same : Branch::left;
}

// ---- since

void check_life(const FeedPosition& p, const ledger::Continued& c, bool upgraded) {
    const Branch branch = upgraded ? Branch::same : branch_of(static_cast<TimeLineID>(p.timeline), p.wal);
    // The standby may know the life and the timeline later, because both begin in WAL before that of the position.
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

Unseen with_lower_from(const Unseen& unseen, uint64 from) {
    const uint64* const end = std::lower_bound(unseen.open, unseen.open + unseen.count, from);
    return {from, unseen.open, static_cast<std::size_t>(end - unseen.open)};
}

// What the position has not seen, as transaction ids of the present life.
Unseen unseen_now(const Read& r, bool upgraded) {
    const FeedPosition& p = r.position;
    if (p.database != MyDatabaseId) fail_copy_again("It was made in another database.");
    if (!RecoveryInProgress() && p.life == present_life()) return r.open;
    const ledger::Continued c = ledger::continue_from(all_lives(), p.life, p.xmax, p.wal, p.standby != 0);
    check_life(p, c, upgraded);
    return with_lower_from(r.open, c.from);
}

}  // namespace

Since read_since(const text* text, Snapshot snapshot) {
    Since since{};
    since.whole = text == nullptr || view_of(text).empty();
    if (since.whole) return since;
    const Read r = read(view_of(text));
    since.position = r.position;
    since.upgraded = r.position.cluster != GetSystemIdentifier();
    since.unseen = unseen_now(r, since.upgraded);
    since.is_behind = !is_subset(unseen_in(snapshot, Subtransactions::left_out), since.unseen);
    return since;
}

Unseen unseen_by_noted(const char* position) {
    const Read r = read(position);
    const ledger::Continued c = ledger::continue_from(all_lives(), r.position.life, r.position.xmax, 0, false);
    return c.known ? with_lower_from(r.open, c.from) : Unseen{};
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
    const XLogRecPtr flushed = GetFlushRecPtr(nullptr);
    return end_of_records(
        synchronous_standbys::commits_wait() ? Min(flushed, synchronous_standbys::released()) : flushed,
        present_timeline());
}

// Not after the poll's snapshot was taken.
TimestampTz poll_began_at() {
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
        .time = static_cast<uint64>(number_of(unix_time(poll_began_at()))),
        .seen = seen,
        .standby = standby,
        .lacks_subxids = snapshot->suboverflowed ? uint64{1} : uint64{0},
        .xmax = open.from,
    };
    return text_of(p, open);
}

}  // namespace snowflake_ids::feed

namespace snowflake_ids {

// feed_position(of_table): the position of a reader that needs no row that is there now.
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

// feed_position_time(position): when the poll that made it began; null for ''
FUNCTION(snowflake_ids_feed_position_time) {
    if (feed::view_of(PG_GETARG_TEXT_PP(0)).empty()) PG_RETURN_NULL();
    const feed::Read r = feed::read(feed::view_of(PG_GETARG_TEXT_PP(0)));
    PG_RETURN_TIMESTAMPTZ(timestamptz(UnixTime{microseconds{static_cast<int64>(r.position.time)}}));
}

}  // namespace snowflake_ids
