// The SQL functions snowflake_ids_settled(), sno_settled() and so on. They return the time or the id before which every
// id has arrived, for readers who continue after the last id that they have read. All calls for one table with one
// snapshot get the same time. reader.cpp finds it.
#include <algorithm>

#include "core/sno.hpp"
#include "ledger/settling.hpp"
#include "pg/pg.hpp"

extern "C" {
#include "access/xact.h"
#include "utils/memutils.h"
}

#include "pg/datum.hpp"
#include "pg/layouts/layouts.hpp"
#include "pg/settled/reader.hpp"

namespace snowflake_ids {

namespace {

// A settled time that this transaction has found for a snapshot. The answers of a snapshot that has ended are removed
// when another snapshot gets its address. So a loop that polls in one transaction takes no memory.
struct Answer {
    Snapshot of;  // only the address
    Oid table;
    StampFormat format;
    UnixTime until;
};
// All answers of the present transaction, in no order.
struct Answers {
    Answer* all = nullptr;  // in TopMemoryContext
    uint32 count = 0, room = 0;
};
constinit Answers answers{};

// The answer for this snapshot and table, or null.
Answer* find_answer(Snapshot snapshot, Oid table, StampFormat format) {
    Answer* const end = answers.all + answers.count;
    Answer* const found = std::find_if(
        answers.all, end, [=](const Answer& a) { return a.of == snapshot && a.table == table && a.format == format; });
    return found == end ? nullptr : found;
}

// Forgets the answers of an earlier snapshot that had the same address.
void forget_answers(Snapshot snapshot) {
    const auto is_of = [=](const Answer& a) { return a.of == snapshot; };
    answers.count = static_cast<uint32>(std::remove_if(answers.all, answers.all + answers.count, is_of) - answers.all);
}

// PostgreSQL calls this at the end of a transaction, where all snapshots end.
void forget_all_answers(XactEvent event, void*) {
    if (event == XACT_EVENT_COMMIT || event == XACT_EVENT_ABORT || event == XACT_EVENT_PREPARE) answers.count = 0;
}

// Keeps an answer until the end of the transaction, or until the address of its snapshot is used again.
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
// that compares each row, in several partitions, in a cursor that is fetched in parts. With two times, a reader would
// lose rows between them, in the partition that was scanned with the earlier time. So a snapshot keeps its times as
// long as it is open. Two snapshots with the same content may have different times. Each time is right for the rows of
// its snapshot, and a loop that polls in one transaction advances. Raises an error in a parallel worker, on a standby,
// and as settle() does.
UnixTime settled_time(Oid table, StampFormat format) {
    const Snapshot snapshot = readers_snapshot();
    // PostgreSQL sets this word of a new snapshot to 0 (pg/compat.hpp).
    uint64& has_answers = word_of_snapshot(snapshot);
    if (has_answers == 0) forget_answers(snapshot);
    has_answers = 1;
    if (const Answer* kept = find_answer(snapshot, table, format)) return kept->until;
    const UnixTime until = settle(snapshot, table, format);
    keep_answer({snapshot, table, format, until});
    return until;
}

// The time before which all ticks of this length have settled, as a timestamptz; -infinity if none has settled. If the
// function has an argument `n`, it is the table.
Datum settled(FunctionCallInfo fcinfo, int n, StampFormat format, microseconds tick_length) {
    const UnixTime t = settled_time(table_argument(fcinfo, n), format);
    return TimestampTzGetDatum(t == never ? DT_NOBEGIN : timestamptz(ledger::settled_start(t, tick_length)));
}

}  // namespace

// SQL functions of other files: the smallest id that has the time in the last argument, or a later one.
extern "C" {
Datum snowflake_ids_sno_lower_bound(PG_FUNCTION_ARGS);
Datum snowflake_ids_mastic_lower_bound(PG_FUNCTION_ARGS);
Datum snowflake_ids_snowflake_si_lower_bound(PG_FUNCTION_ARGS);
Datum snowflake_ids_snowflake_lower_bound(PG_FUNCTION_ARGS);
}

// Each of these functions has two forms in SQL: for all tables of the database, and with the argument of_table.

// snowflake_ids_settled(), snowflake_ids_settled(of_table)
FUNCTION(snowflake_ids_settled) { return settled(fcinfo, 0, StampFormat::any, ledger::longest_tick); }

// sno_settled(), sno_settled(of_table)
FUNCTION(snowflake_ids_sno_settled) {
    return DirectFunctionCall1(snowflake_ids_sno_lower_bound,
                               settled(fcinfo, 0, StampFormat::sno, sno::timeline.tick_length));
}

// mastic_settled(), mastic_settled(of_table)
FUNCTION(snowflake_ids_mastic_settled) {
    return DirectFunctionCall1(snowflake_ids_mastic_lower_bound,
                               settled(fcinfo, 0, StampFormat::mastic, mastic::layout.timeline.tick_length));
}

// snowflake_si_settled(), snowflake_si_settled(of_table)
FUNCTION(snowflake_ids_snowflake_si_settled) {
    return DirectFunctionCall1(
        snowflake_ids_snowflake_si_lower_bound,
        settled(fcinfo, 0, StampFormat::snowflake_si, snowflake_si::layout.timeline.tick_length));
}

// snowflake_settled(layout), snowflake_settled(layout, of_table)
FUNCTION(snowflake_ids_snowflake_settled) {
    const microseconds tick_length = layouts::argument(fcinfo, 0).layout.timeline.tick_length;
    return DirectFunctionCall2(snowflake_ids_snowflake_lower_bound, PG_GETARG_DATUM(0),
                               settled(fcinfo, 1, StampFormat::snowflake, tick_length));
}

}  // namespace snowflake_ids
