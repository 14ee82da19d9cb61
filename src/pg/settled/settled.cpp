// snowflake_ids_settled(), sno_settled() and so on return the time or the id before which every id has arrived, for
// readers who continue after the last id that they have read. reader.cpp finds it.
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
#include "pg/types/layout_fields.hpp"

namespace snowflake_ids {

namespace {

// A settled time for a snapshot. Those of a snapshot that has ended are removed when another gets its address, so a
// loop that polls in one transaction takes no memory.
struct KeptTime {
    Snapshot of;  // only the address
    Oid table;
    StampFormat format;
    UnixTime until;
};
// Of the present transaction, in no order.
struct KeptTimes {
    KeptTime* all = nullptr;  // in TopMemoryContext
    uint32 count = 0, room = 0;
};
constinit KeptTimes kept_times{};

KeptTime* find_kept_time(Snapshot snapshot, Oid table, StampFormat format) {
    KeptTime* const end = kept_times.all + kept_times.count;
    KeptTime* const found = std::find_if(kept_times.all, end, [=](const KeptTime& t) {
        return t.of == snapshot && t.table == table && t.format == format;
    });
    return found == end ? nullptr : found;
}

void forget_kept_times(Snapshot snapshot) {
    const auto is_of = [=](const KeptTime& t) { return t.of == snapshot; };
    kept_times.count =
        static_cast<uint32>(std::remove_if(kept_times.all, kept_times.all + kept_times.count, is_of) - kept_times.all);
}

// All snapshots end with the transaction.
void forget_all_kept_times(XactEvent event, void*) {
    if (event == XACT_EVENT_COMMIT || event == XACT_EVENT_ABORT || event == XACT_EVENT_PREPARE) kept_times.count = 0;
}

void keep_time(const KeptTime& t) {
    if (kept_times.all == nullptr) {
        RegisterXactCallback(forget_all_kept_times, nullptr);
        kept_times.all = static_cast<KeptTime*>(MemoryContextAlloc(TopMemoryContext, 8 * sizeof(KeptTime)));
        kept_times.room = 8;
    } else if (kept_times.count == kept_times.room) {
        kept_times.all = static_cast<KeptTime*>(repalloc(kept_times.all, 2 * kept_times.room * sizeof(KeptTime)));
        kept_times.room *= 2;
    }
    kept_times.all[kept_times.count++] = t;
}

// All calls with one snapshot get the same time: in a scan that compares each row, in several partitions, in a cursor
// that is fetched in parts. With two times, a reader would lose rows between them, in the partition that was scanned
// with the earlier one.
UnixTime settled_time(Oid table, StampFormat format) {
    const Snapshot snapshot = readers_snapshot();
    uint64& has_kept_times = word_of_snapshot(snapshot);
    if (has_kept_times == 0) forget_kept_times(snapshot);
    has_kept_times = 1;
    if (const KeptTime* kept = find_kept_time(snapshot, table, format)) return kept->until;
    const UnixTime until = settle(snapshot, table, format);
    keep_time({snapshot, table, format, until});
    return until;
}

// The time before which all ticks of this length have settled; -infinity if none has. Argument `n`, if there is one, is
// the table.
TimestampTz settled(FunctionCallInfo fcinfo, int n, StampFormat format, microseconds tick_length) {
    const UnixTime t = settled_time(table_argument(fcinfo, n), format);
    return t == never ? DT_NOBEGIN : timestamptz(ledger::settled_for_ticks(t, tick_length));
}

// The smallest id of a layout that has not settled. `name()` is the word for it in errors.
template <class Name>
Datum settled_of_layout(FunctionCallInfo fcinfo, int n, StampFormat format, const Layout& layout, Name name) {
    const TimestampTz t = settled(fcinfo, n, format, layout.timeline.tick_length);
    return bound_of_time(layout, &Layout::lower_bound, t, name);
}

}  // namespace

// Each function has two forms in SQL: for all tables of the database, and with of_table at the end.

FUNCTION(snowflake_ids_settled) { PG_RETURN_TIMESTAMPTZ(settled(fcinfo, 0, any_format, ledger::longest_tick)); }

FUNCTION(snowflake_ids_sno_settled) {
    const TimestampTz t = settled(fcinfo, 0, {ledger::SqlFormat::sno}, sno::timeline.tick_length);
    return bound_datum(t, "sno", sno::timeline, sno::lower_bound);
}

FUNCTION(snowflake_ids_mastic_settled) {
    return settled_of_layout(fcinfo, 0, {ledger::SqlFormat::mastic}, mastic::layout, [] { return "mastic"; });
}

FUNCTION(snowflake_ids_snowflake_si_settled) {
    return settled_of_layout(fcinfo, 0, {ledger::SqlFormat::snowflake_si}, snowflake_si::layout,
                             [] { return "Snowflake-SI id"; });
}

FUNCTION(snowflake_ids_snowflake_settled) {
    const NamedLayout& named = layouts::argument(fcinfo, 0);
    const Layout layout = named.layout;
    return settled_of_layout(fcinfo, 1, {ledger::SqlFormat::layout, named.name}, layout, word_for_ids(fcinfo));
}

}  // namespace snowflake_ids
