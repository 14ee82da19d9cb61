// The steps of a reader of settled ids (ledger/settling.hpp).
#include "pg/settled/reader.hpp"

#include "ledger/clock.hpp"
#include "ledger/formats.hpp"
#include "ledger/settling.hpp"

extern "C" {
#include "access/parallel.h"
#include "access/xact.h"
#include "access/xlog.h"
#include "storage/procarray.h"
#include "tcop/pquery.h"
#include "utils/memutils.h"
}

#include "pg/ceilings/ceiling_file.hpp"
#include "pg/ceilings/issue_limit.hpp"
#include "pg/ceilings/synchronous_standbys.hpp"
#include "pg/promise/writer.hpp"
#include "pg/server/shared_ledger.hpp"

namespace snowflake_ids {

namespace {

// Those of ids with a time, so that not all slots must be looked at.
struct SlotsWithTime {
    uint64 taken = 0;  // what Header::slots_taken was then
    uint32 count = 0;
    uint16* slots = nullptr;  // room for all slots; not static for the reason in entropy.cpp
};
constinit SlotsWithTime slots_with_time{};

void find_slots_with_time(const ledger::Ledger& shared) {
    const uint64 taken = shared.header->slots_taken.load();
    if (slots_with_time.slots == nullptr) {
        const Size bytes = ledger::slot_count * sizeof(uint16);
        slots_with_time.slots = static_cast<uint16*>(MemoryContextAlloc(TopMemoryContext, bytes));
    } else if (taken == slots_with_time.taken) {
        return;
    }
    slots_with_time.count = 0;
    for (uint32 i = 0; i < ledger::slot_count; i++) {
        const ledger::Slot& slot = shared.slots[i];
        if (ledger::has_time(ledger::format_of(slot)))
            slots_with_time.slots[slots_with_time.count++] = static_cast<uint16>(i);
    }
    slots_with_time.taken = taken;
}

// The time just after the last id that any generator may have issued; `never` if there is none.
UnixTime issued_until(const ledger::Ledger& shared) {
    find_slots_with_time(shared);
    UnixTime until = never;
    for (uint32 i = 0; i < slots_with_time.count; i++) {
        const ledger::Slot& slot = shared.slots[slots_with_time.slots[i]];
        const bool toggle = ledger::has_toggle(ledger::format_of(slot));
        const State state = ledger::unpack(slot.word.load(), slot.safe.load(), toggle);
        const Timeline timeline = ledger::timeline_of(slot);
        until = std::max(until, timeline.last(std::max(state.tick, state.safe)) + microseconds{1});
    }
    return until;
}

// How far the promise stays behind the clock. A session that takes longer between its claim and its look at the promise
// may have to claim again.
constexpr microseconds promise_slack = milliseconds{5};

// Lifts the promise as far as ids that are generated now will keep it, but at most to `promise_slack` behind its clock,
// to its ceiling in the file, and to one longest tick after the last id: only a forced reset takes it back, and a clock
// may be wrong. Without that tick, the last ids would not settle for snowflake_ids_settled() until others follow.
UnixTime lift_promise(const ledger::Ledger& shared) {
    const UnixTime wall = ledger::wall_clock();
    const UnixTime now = ledger::promise_clock(shared.header->promise_base.load(), ledger::monotonic_clock(), wall);
    const auto& durable = shared.header->settled_ceiling;
    UnixTime until = std::min(now - promise_slack, issued_until(shared) + ledger::longest_tick);
    if (until > durable.load()) {
        // A life begins above this ceiling. So it is lifted by a small step if the promise is ahead of the wall clock.
        const UnixTime ceiling = std::max(ceiling_file::ahead_of(wall), until + issue_limit::lift_step());
        ceiling_file::try_lift_settled(ledger::ceiling_at(ceiling));
        until = std::min<UnixTime>(until, durable.load());
    }
    auto& word = shared.header->promise;
    if (until > UnixTime{}) ledger::lift_to(word, until);
    return word.load();
}

// Old ones, which count for every table, are transactions of this database that were prepared before the server
// started. Call this for one that the snapshot calls unfinished, and that is not in the ledger's table.
bool is_old_prepared(TransactionId xid) {
    // If a process has the transaction, it is not prepared.
    for (uint32 i = 0; i < static_cast<uint32>(MaxBackends); i++) {
        if (process(i).xid == xid) return false;
    }
    bool known = false;
    each_prepared([&](PGPROC& p) {
        known = known || (p.xid == xid && (p.databaseId != MyDatabaseId || !prepared_before_start(p)));
    });
    return !known;
}

}  // namespace

bool ledger_has_prepared(const ledger::Ledger& shared, uint64 xid) {
    for (uint32 i = 0; i < shared.header->prepared_count; i++) {
        if ((shared.prepared[i].xid.load() & ~ledger::taken_mark) == xid) return true;
    }
    return false;
}

namespace {

// True if the snapshot calls all old ones finished. Only full ids below Header::prepared_below can be such.
bool old_prepared_finished(const ledger::Ledger& shared, const FullXidSnapshot& seen) {
    const uint64 below = shared.header->prepared_below.load();
    if (max_prepared_xacts == 0 || seen.full(seen.snapshot->xmin) >= below) return true;
    for (uint32 i = 0; i < seen.snapshot->xcnt; i++) {
        const TransactionId xid = seen.snapshot->xip[i];
        const uint64 full = seen.full(xid);
        if (full < below && !ledger_has_prepared(shared, full) && is_old_prepared(xid)) return false;
    }
    return true;
}

// Step 7 of the protocol. Call it after lift_promise().
UnixTime earliest_of_writers(const ledger::Ledger& shared, const FullXidSnapshot& seen, UnixTime t, Oid table) {
    const auto finished = [&seen](uint64 xid) { return seen.finished(xid); };
    for (uint32 i = 0; i < static_cast<uint32>(MaxBackends); i++)
        ledger::limit_by(shared.backends[i], MyDatabaseId, finished, t, table);
    for (uint32 i = 0; i < shared.header->prepared_count; i++)
        ledger::limit_by(shared.prepared[i], MyDatabaseId, finished, t, table);
    return t == UnixTime{} || !old_prepared_finished(shared, seen) ? never : t;
}

}  // namespace

Snapshot active_snapshot() {
    if (!ActiveSnapshotSet() || !IsMVCCSnapshot(GetActiveSnapshot())) elog(ERROR, "no active snapshot");
    return GetActiveSnapshot();
}

Snapshot readers_snapshot() {
    // A worker has a copy of the leader's snapshot, without the times that the leader keeps for it.
    if (IsParallelWorker()) {
        ereport(ERROR, (errcode(ERRCODE_INVALID_TRANSACTION_STATE),
                        errmsg("a parallel worker does not know which ids are settled"),
                        errdetail("The workers and the leader of a query would use different times."),
                        errhint("Run ALTER FUNCTION ... PARALLEL RESTRICTED for the function that calls it.")));
    }
    const Snapshot snapshot = active_snapshot();
    // A snapshot from before a promotion does not know the transactions of the old primary one by one.
    if (RecoveryInProgress() || snapshot->takenDuringRecovery) {
        ereport(
            ERROR,
            (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE), errmsg("a standby does not know which ids are settled"),
             errhint(
                 "On the primary, write the settled id into a table now and then. On the standby, read it together with the rows: it is where the next read begins (>=).")));
    }
    return snapshot;
}

namespace {

// Before the running statement, or the cursor, was planned.
TimestampTz statement_began() {
    return ActivePortal == nullptr ? GetCurrentStatementStartTimestamp() : ActivePortal->creation_time;
}

}  // namespace

// Steps 6 and 7 of the protocol. A time above the WAL ceiling does not count as settled.
UnixTime settle(Snapshot snapshot, Oid table, StampFormat format) {
    const FullXidSnapshot seen{snapshot, next_xid()};
    const Deadline deadline;
    const ledger::Ledger& shared = issue_limit::enter_life_and_database(false, deadline);
    const UnixTime before = shared.header->promise.load();
    UnixTime until = lift_promise(shared);
    if (synchronous_standbys::commits_wait()) until = issue_limit::replicated_until(until, before, deadline);
    until = std::min<UnixTime>(until, issue_limit::wal_ceiling_at(until, deadline));
    if (table != writer::every_table) {
        const TableParts parts = check_stamped(table, format);
        if (were_rewritten(parts, snapshot)) return never;
        // The plan may have been made before a part was attached, and the snapshot taken after the part got rows.
        if (parts.count > 1 && !parts.known) until = std::min(until, unix_time(statement_began()));
    }
    return until <= UnixTime{} ? never : earliest_of_writers(shared, seen, until, table);
}

Oid table_argument(FunctionCallInfo fcinfo, int n) {
    if (PG_NARGS() <= n) return writer::every_table;
    const Oid table = PG_GETARG_OID(n);
    if (!OidIsValid(table)) fail_no_table(table);
    return table;
}

}  // namespace snowflake_ids
