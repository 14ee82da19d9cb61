// snowflake_ids_settled() and its relatives: the time before which every id has arrived, for readers who continue after
// the last id; and the transactions that hold that time back. The protocol is in ledger/settling.hpp.
#include <algorithm>

#include "core/known_layouts.hpp"
#include "core/sno.hpp"
#include "ledger/clock.hpp"
#include "ledger/formats.hpp"
#include "ledger/settling.hpp"
#include "pg/pg.hpp"

extern "C" {
#include "access/parallel.h"
#include "access/twophase.h"
#include "access/xact.h"
#include "access/xlog.h"
#include "funcapi.h"
#include "storage/proc.h"
#include "storage/procarray.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"
#include "utils/tuplestore.h"
}

#include "pg/datum.hpp"
#include "pg/errors.hpp"
#include "pg/generate/issue_limit.hpp"
#include "pg/generate/unsettled.hpp"
#include "pg/layouts/layouts.hpp"
#include "pg/server/ceiling_file.hpp"
#include "pg/server/shared_ledger.hpp"
#include "pg/settled/table_writers.hpp"

namespace snowflake_ids {

namespace {

// How long a session may take between its claim and the look at the promise. If it takes longer, it claims again.
constexpr microseconds slack = milliseconds{5};

// What a snapshot shows of transactions, by full transaction id.
struct View {
    Snapshot snapshot;
    uint64 next;  // a full transaction id that is later than the snapshot

    // The full id of a transaction.
    uint64 full(TransactionId xid) const {
        const auto behind = static_cast<uint32>(static_cast<uint32>(next) - xid);
        return next - behind;
    }
    // True if the transaction has ended before the snapshot was taken.
    bool finished(uint64 xid) const {
        if (xid < full(snapshot->xmin)) return true;
        if (xid >= full(snapshot->xmax)) return false;
        return !XidInMVCCSnapshot(static_cast<TransactionId>(xid), snapshot);
    }
};

// The longest tick of the ids for which the time of snowflake_ids_settled() is right: that of all built-in formats. It
// is a constant, because the time must not depend on which layouts there are: a layout may be created, and used, while
// a query with that time runs. For layouts with a longer tick there is snowflake_settled(layout).
constexpr microseconds longest = milliseconds{10};

constexpr bool is_longest() {
    microseconds found = sno::timeline.tick_length;
    for (const KnownLayout& known : known_layouts) found = std::max(found, known.layout.timeline.tick_length);
    return found == longest;
}
static_assert(is_longest());

// The slots of generators that count time. They are looked up again when there are more.
struct Generators {
    uint64 taken = 0;
    uint32 count = 0;
    uint16* slots = nullptr;  // as many as the ledger has; not static for the reason in entropy.cpp
};
constinit Generators generators{};

// Updates `generators`.
void find_generators(const ledger::Ledger& shared) {
    const uint64 taken = shared.header->slots_taken.load();
    if (generators.slots == nullptr) {
        const Size bytes = ledger::slot_count * sizeof(uint16);
        generators.slots = static_cast<uint16*>(MemoryContextAlloc(TopMemoryContext, bytes));
    } else if (taken == generators.taken) {
        return;
    }
    generators.count = 0;
    for (uint32 i = 0; i < ledger::slot_count; i++) {
        const ledger::Slot& slot = shared.slots[i];
        if (ledger::has_time(ledger::format_of(slot))) generators.slots[generators.count++] = static_cast<uint16>(i);
    }
    generators.taken = taken;
}

// The time just after the last id that any generator may have issued.
UnixTime issued_until(const ledger::Ledger& shared) {
    UnixTime until = never;
    for (uint32 i = 0; i < generators.count; i++) {
        const ledger::Slot& slot = shared.slots[generators.slots[i]];
        const bool toggle = ledger::has_toggle(ledger::format_of(slot));
        const State state = ledger::unpack(slot.word.load(), slot.safe.load(), toggle);
        const Timeline timeline = ledger::timeline_of(slot);
        until = std::max(until, timeline.last(std::max(state.tick, state.safe)) + microseconds{1});
    }
    return until;
}

// Lifts the promise as far as ids that are generated now will keep it, and returns it. The promise goes no further than
// ids were issued, because it remains if the clock is wrong and far ahead, and is corrected later. But it goes the
// longest tick further than that. Otherwise the last ids would not settle for snowflake_ids_settled() until others
// follow.
UnixTime lift_promise(const ledger::Ledger& shared) {
    find_generators(shared);
    const UnixTime now = ledger::wall_clock();
    const auto& durable = shared.header->settled_ceiling;
    UnixTime until = std::min(now - slack, issued_until(shared) + longest);
    if (until > durable.load()) {
        ceiling_file::try_lift_settled(ledger::ceiling_at(ceiling_file::ahead_of(now)));
        until = std::min<UnixTime>(until, durable.load());
    }
    auto& word = shared.header->promise;
    if (until > UnixTime{}) ledger::lift_to(word, until);
    return word.load();
}

// The process with this index; it has the backend of the same index in the ledger.
PGPROC& process(uint32 i) { return ProcGlobal->allProcs[i]; }

// Calls `of(process)` for each place that PostgreSQL has for a prepared transaction.
template <class Of>
void each_prepared(Of of) {
    const uint32 first = static_cast<uint32>(MaxBackends) + NUM_AUXILIARY_PROCS;
    for (uint32 i = 0; i < static_cast<uint32>(max_prepared_xacts); i++) of(process(first + i));
}

// True if it is certain that this transaction, which the snapshot calls unfinished, is no writer of this database that
// was prepared before the server started. A transaction that was prepared since then and is not in the ledger has
// generated no id. If a transaction has not ended after its locks were looked at, all of them were seen.
bool is_no_old_writer(TableWriters& writers, TransactionId xid) {
    for (uint32 i = 0; i < static_cast<uint32>(MaxBackends); i++) {
        if (process(i).xid == xid) return true;
    }
    bool known = false;
    each_prepared([&](PGPROC& p) {
        known = known || (p.xid == xid && (p.databaseId != MyDatabaseId || !prepared_before_start(p) ||
                                           (!writers.has_prepared(p) && TransactionIdIsInProgress(xid))));
    });
    return known;
}

// True if a prepared transaction that is in the ledger may be a writer. While it is being prepared, its process has its
// locks, and the reader has asked that process before.
bool prepared_writes(TableWriters& writers, TransactionId xid) {
    bool writes = false;
    each_prepared([&](PGPROC& p) { writes = writes || (p.xid == xid && writers.has_prepared(p)); });
    return writes || !TransactionIdIsInProgress(xid);
}

// True if the ledger's table of prepared transactions has this one.
bool table_has(const ledger::Ledger& shared, uint64 xid) {
    for (uint32 i = 0; i < shared.header->prepared_count; i++) {
        if ((shared.prepared[i].xid.load() & ~ledger::taken_mark) == xid) return true;
    }
    return false;
}

// True if no transaction that was prepared before the server started, and that the ledger does not know, may be a
// writer.
bool no_old_writers(const ledger::Ledger& shared, const View& view, TableWriters& writers) {
    const uint64 below = shared.header->prepared_below.load();
    if (max_prepared_xacts == 0 || view.full(view.snapshot->xmin) >= below) return true;
    for (uint32 i = 0; i < view.snapshot->xcnt; i++) {
        const TransactionId xid = view.snapshot->xip[i];
        const uint64 full = view.full(xid);
        if (full < below && !table_has(shared, full) && !is_no_old_writer(writers, xid)) return false;
    }
    return true;
}

// The earliest time that the open writers of the table allow, `t` at most. `never` (before all times): nothing has
// settled, because a transaction that was prepared before the server started may be a writer.
UnixTime earliest_of_writers(const ledger::Ledger& shared, const View& view, UnixTime t, Oid table) {
    TableWriters writers{table};
    const auto finished_in_view = [&view](uint64 xid) { return view.finished(xid); };
    for (uint32 i = 0; i < static_cast<uint32>(MaxBackends); i++) {
        const auto writes = [&](uint64) { return writers.has(process(i)); };
        ledger::limit_by(shared.backends[i], MyDatabaseId, finished_in_view, t, writes);
    }
    const auto writes = [&](uint64 xid) { return prepared_writes(writers, static_cast<TransactionId>(xid)); };
    for (uint32 i = 0; i < shared.header->prepared_count; i++)
        ledger::limit_by(shared.prepared[i], MyDatabaseId, finished_in_view, t, writes);
    return t == UnixTime{} || !no_old_writers(shared, view, writers) ? never : t;
}

Snapshot active_snapshot() {
    if (!ActiveSnapshotSet() || !IsMVCCSnapshot(GetActiveSnapshot())) elog(ERROR, "no active snapshot");
    return GetActiveSnapshot();
}

// The time that has settled for this snapshot and table, as the protocol finds it now. `never`: none.
UnixTime settle(Snapshot snapshot, Oid table) {
    if (table != unsettled::every_table) check_is_table(table);
    const View view{snapshot, unsettled::next_xid()};
    const Patience patience;
    const ledger::Ledger& shared = issue_limit::enter_life_and_database(false, patience);
    const UnixTime promised = lift_promise(shared);
    const UnixTime until = std::min<UnixTime>(promised, issue_limit::wal_ceiling_at(promised, patience));
    // No id before that may be issued by a standby that is promoted later.
    issue_limit::note_latest(until);
    return until <= UnixTime{} ? never : earliest_of_writers(shared, view, until, table);
}

// A settled time that this transaction has found, and for which snapshot, by its address. The answers of a snapshot
// that has ended are removed when its address is used again. So a loop of polls takes no memory.
struct Answer {
    Snapshot of;  // null: free
    Oid table;
    UnixTime until;
};
struct Answers {
    Answer* all = nullptr;  // in TopMemoryContext
    uint32 count = 0, room = 0;
};
constinit Answers answers{};

// The answer for this snapshot and table, or null.
Answer* find_answer(Snapshot snapshot, Oid table) {
    Answer* const end = answers.all + answers.count;
    Answer* const found =
        std::find_if(answers.all, end, [=](const Answer& a) { return a.of == snapshot && a.table == table; });
    return found == end ? nullptr : found;
}

void forget_answers(Snapshot snapshot) {
    const auto is_of = [=](const Answer& a) { return a.of == snapshot; };
    answers.count = static_cast<uint32>(std::remove_if(answers.all, answers.all + answers.count, is_of) - answers.all);
}

void forget_all_answers(XactEvent event, void*) {
    if (event == XACT_EVENT_COMMIT || event == XACT_EVENT_ABORT || event == XACT_EVENT_PREPARE) answers.count = 0;
}

void keep_answer(const Answer& answer) {
    if (answers.all == nullptr) {
        RegisterXactCallback(forget_all_answers, nullptr);
        answers.all = static_cast<Answer*>(MemoryContextAlloc(TopMemoryContext, 8 * sizeof(Answer)));
        answers.room = 8;
    } else if (answers.count == answers.room) {
        answers.all = static_cast<Answer*>(repalloc(answers.all, 2 * answers.room * sizeof(Answer)));
        answers.room *= 2;
    }
    answers.all[answers.count++] = answer;
}

// The settled time for the active snapshot and this table. All calls with one snapshot get the same time: in a scan
// that compares each row, in several partitions, in a cursor that is fetched in parts. Two times would lose the rows
// between them, in the partition that was scanned with the earlier one. So a snapshot keeps its times as long as it is
// open. Two snapshots with the same content may have different times. Each is right for its own rows, and a loop that
// polls in one transaction advances.
UnixTime settled_time(Oid table) {
    // A worker has a copy of the leader's snapshot, without the times that the leader keeps for it.
    if (IsParallelWorker()) {
        ereport(ERROR, (errcode(ERRCODE_INVALID_TRANSACTION_STATE),
                        errmsg("a parallel worker cannot tell which ids are settled"),
                        errdetail("The workers and the leader of a query would use different times."),
                        errhint("Declare the function that calls it PARALLEL RESTRICTED.")));
    }
    const Snapshot snapshot = active_snapshot();
    // A snapshot from before a promotion does not know the transactions of the old primary one by one.
    if (RecoveryInProgress() || snapshot->takenDuringRecovery) {
        ereport(
            ERROR,
            (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE), errmsg("a standby cannot tell which ids are settled"),
             errhint(
                 "Ask the primary for the settled id and pg_current_wal_insert_lsn(), and read from the standby when it has replayed up to there.")));
    }
    uint64& has_answers = word_of_snapshot(snapshot);
    if (has_answers == 0) forget_answers(snapshot);
    has_answers = 1;
    if (const Answer* kept = find_answer(snapshot, table)) return kept->until;
    const UnixTime until = settle(snapshot, table);
    keep_answer({snapshot, table, until});
    return until;
}

// The table in argument `n`, or every table if the function has no such argument.
Oid table_argument(FunctionCallInfo fcinfo, int n) {
    return PG_NARGS() > n ? PG_GETARG_OID(n) : unsettled::every_table;
}

// The time before which all ticks of this length have settled, as a timestamptz. Argument `n`, if there is one, says
// for which table.
Datum settled(FunctionCallInfo fcinfo, int n, microseconds tick_length) {
    const UnixTime t = settled_time(table_argument(fcinfo, n));
    return TimestampTzGetDatum(t == never ? DT_NOBEGIN : timestamptz(ledger::settled_start(t, tick_length)));
}

}  // namespace

extern "C" {
Datum snowflake_ids_sno_lower_bound(PG_FUNCTION_ARGS);
Datum snowflake_ids_mastic_lower_bound(PG_FUNCTION_ARGS);
Datum snowflake_ids_snowflake_si_lower_bound(PG_FUNCTION_ARGS);
Datum snowflake_ids_snowflake_lower_bound(PG_FUNCTION_ARGS);
}

FUNCTION(snowflake_ids_settled) { return settled(fcinfo, 0, longest); }
FUNCTION(snowflake_ids_sno_settled) {
    return DirectFunctionCall1(snowflake_ids_sno_lower_bound, settled(fcinfo, 0, sno::timeline.tick_length));
}
FUNCTION(snowflake_ids_mastic_settled) {
    return DirectFunctionCall1(snowflake_ids_mastic_lower_bound,
                               settled(fcinfo, 0, mastic::layout.timeline.tick_length));
}
FUNCTION(snowflake_ids_snowflake_si_settled) {
    return DirectFunctionCall1(snowflake_ids_snowflake_si_lower_bound,
                               settled(fcinfo, 0, snowflake_si::layout.timeline.tick_length));
}
// snowflake_settled(layout), snowflake_settled(layout, of_table)
FUNCTION(snowflake_ids_snowflake_settled) {
    const microseconds tick_length = layouts::argument(fcinfo, 0).layout.timeline.tick_length;
    return DirectFunctionCall2(snowflake_ids_snowflake_lower_bound, PG_GETARG_DATUM(0),
                               settled(fcinfo, 1, tick_length));
}

namespace {

// Adds a row of snowflake_ids.unsettled_transactions() to the result.
void put_unsettled(ReturnSetInfo* result, int pid, TransactionId xid, UnixTime t) {
    Datum values[3] = {};
    bool nulls[3] = {pid == 0, !TransactionIdIsValid(xid), false};
    values[0] = Int32GetDatum(pid);
    values[1] = TransactionIdGetDatum(xid);
    values[2] = TimestampTzGetDatum(t == never ? DT_NOBEGIN : timestamptz(t));
    tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
}

}  // namespace

// snowflake_ids.unsettled_transactions(), and for one table: rows of pid or transaction, and the time of its first id.
FUNCTION(snowflake_ids_unsettled) {
    InitMaterializedSRF(fcinfo, 0);
    auto* result = reinterpret_cast<ReturnSetInfo*>(fcinfo->resultinfo);
    const ledger::Ledger& shared = shared_ledger();
    const Oid table = table_argument(fcinfo, 0);
    if (table != unsettled::every_table) check_is_table(table);
    TableWriters writers{table};
    for (uint32 i = 0; i < static_cast<uint32>(MaxBackends); i++) {
        const ledger::Backend& b = shared.backends[i];
        const UnixTime low = b.low.load();
        if (low == ledger::no_low || b.database.load() != MyDatabaseId) continue;
        if (!writers.has(process(i)) && b.unlocked.load() == 0) continue;
        const int pid = process(i).pid;
        if (pid != 0) put_unsettled(result, pid, InvalidTransactionId, low);
    }
    const View view{active_snapshot(), unsettled::next_xid()};
    const uint64 below = shared.header->prepared_below.load();
    each_prepared([&](PGPROC& p) {
        const TransactionId xid = p.xid;
        if (!prepared_before_start(p) || p.databaseId != MyDatabaseId || !TransactionIdIsValid(xid) ||
            !TransactionIdIsInProgress(xid))
            return;
        const uint64 full = view.full(xid);
        if (full < below && !table_has(shared, full) && writers.has_prepared(p)) put_unsettled(result, 0, xid, never);
    });
    for (uint32 i = 0; i < shared.header->prepared_count; i++) {
        const ledger::Backend& b = shared.prepared[i];
        const uint64 xid = b.xid.load() & ~ledger::taken_mark;
        if (xid == 0 || view.finished(xid) || b.database.load() != MyDatabaseId ||
            !prepared_writes(writers, static_cast<TransactionId>(xid)))
            continue;
        put_unsettled(result, 0, static_cast<TransactionId>(xid), b.low.load());
    }
    return Datum{0};
}

}  // namespace snowflake_ids
