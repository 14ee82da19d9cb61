// The SQL functions that show generators (stats) and the server (status), and set the counters to 0 (stats_reset).
#include "pg/generate/generator.hpp"
#include "pg/pg.hpp"
#include "pg/server/settings.hpp"
#include "pg/server/shared_ledger.hpp"

#include <initializer_list>

extern "C" {
#include "access/xlog.h"
#include "funcapi.h"
#include "utils/tuplestore.h"
}

#include "core/known_layouts.hpp"
#include "ledger/formats.hpp"
#include "pg/ceilings/ceiling_in_file.hpp"
#include "pg/ceilings/ceiling_in_wal.hpp"
#include "pg/ceilings/issue_limit.hpp"
#include "pg/datum.hpp"
#include "pg/errors.hpp"
#include "pg/server/machine_id.hpp"
#include "pg/server/refused_settings.hpp"

namespace snowflake_ids {

namespace {

Datum count_datum(const ledger::Word& counter) {
    return Int64GetDatum(static_cast<int64>(counter.load(std::memory_order_relaxed)));
}

// A slot has no name, because a created layout may have another one in each database. A layout that can only be decoded
// has no slot.
const char* known_name(uint64 packed_layout) {
    for (const KnownLayout& k : known_layouts) {
        const Result<uint64> known = ledger::pack_layout(k.layout);
        if (k.generates && known && known.value == packed_layout) return k.name;
    }
    return nullptr;
}

Datum layout_datum(const Layout& l) {
    if (const char* name = known_name(ledger::pack_layout(l).value)) return CStringGetTextDatum(name);
    return CStringGetTextDatum(psprintf("epoch %s, tick %g ms, %u node bits%s, %u sequence bits",
                                        show_time(timestamptz(l.timeline.epoch)), in_ms(l.timeline.tick_length),
                                        l.node_bits, l.node_last ? " (last)" : "", l.sequence_bits));
}

void put_row(ReturnSetInfo* result, const ledger::Slot& slot, const ledger::Header& header, UnixTime now) {
    const ledger::Key key = ledger::Key::unpack(slot.key.load());
    const ledger::SqlFormat format = ledger::sql_format_of(slot);
    const bool has_toggle = ledger::has_toggle(key.format);
    const bool has_time = ledger::has_time(key.format);
    const State state = ledger::unpack(slot.word.load(), slot.safe.load(), has_toggle);
    const UnixTime last = ledger::timeline_of(slot).start(state.tick);
    const Ceiling ceiling = slot.ceiling.load();
    const ledger::Counters& c = slot.counters;

    Columns row;
    row.add(CStringGetTextDatum(ledger::sql_format_name(format)));
    row.add(Int32GetDatum(key.node));
    row.add(count_datum(c.issued));
    row.add(count_datum(c.overflow_waits));
    row.add(Float8GetDatum(in_ms(c.waited.load(std::memory_order_relaxed))));
    row.add(count_datum(c.waiting));
    row.add(count_datum(c.regressions));
    row.add(count_datum(c.holds));
    row.add(Int32GetDatum(static_cast<int32>(state.toggle())), !has_toggle);
    // no id yet, or a generator that does not count time (sno_at)
    const bool no_time = state.tick == 0 || !has_time;
    row.add(TimestampTzGetDatum(timestamptz(last)), no_time);
    row.add(Float8GetDatum(in_ms(Max(last - now, microseconds{}))), no_time);
    row.add(TimestampTzGetDatum(timestamptz(ceiling)), ceiling == Ceiling{} || !has_time);
    row.add(ObjectIdGetDatum(key.owner), key.owner == InvalidOid);
    const bool is_layout = format == ledger::SqlFormat::layout;
    row.add(is_layout ? layout_datum(ledger::layout_of(slot)) : Datum{0}, !is_layout);
    row.add(TimestampTzGetDatum(timestamptz(header.stats_since.load())));
    tuplestore_putvalues(result->setResult, result->setDesc, row.values, row.nulls);
}

}  // namespace

// snowflake_ids.generators(), for the view snowflake_ids.stats.
FUNCTION(snowflake_ids_stats) {
    InitMaterializedSRF(fcinfo, 0);
    auto* result = reinterpret_cast<ReturnSetInfo*>(fcinfo->resultinfo);
    // so that the counters contain this session's ids
    generator::end_leases_and_count();
    const ledger::Ledger& shared = issue_limit::ledger_in_life();
    const UnixTime now = ledger::wall_clock();
    for (uint32 i = 0; i < ledger::slot_count; i++) {
        const ledger::Slot& slot = shared.slots[i];
        if (ledger::sql_format_of(slot) == ledger::SqlFormat::none) continue;
        put_row(result, slot, *shared.header, now);
    }
    PG_RETURN_NULL();
}

// snowflake_ids.status(). It raises no error if the ledger or the ceiling file cannot be used, because people call it
// when something is wrong.
FUNCTION(snowflake_ids_status) {
    const char* why = nullptr;
    const ledger::Ledger* shared = try_shared_ledger(&why);
    const bool in_recovery = RecoveryInProgress();
    const bool known = !refused_settings::is_refused(refused_settings::machine_id), in_use = known && !in_recovery;
    constexpr unsigned wide = automatic_machine_id::bits, narrow = wide - 1;
    const char* refused = refused_settings::describe();
    const int64 life = shared != nullptr ? static_cast<int64>(shared->header->life_number.load()) : 0;

    Columns row;
    row.add(UInt32GetDatum(machine_id::of_server(wide)), !in_use);
    row.add(CStringGetTextDatum(known ? machine_id::source() : "not accepted"));
    row.add(UInt32GetDatum(machine_id::of_server(narrow)), !in_use);
    row.add(Int64GetDatum(static_cast<int64>(GetSystemIdentifier())));
    row.add(CStringGetTextDatum(refused != nullptr ? refused : ""), refused == nullptr);
    row.add(Int64GetDatum(life), life == 0);
    row.add(TimestampTzGetDatum(timestamptz(life != 0 ? shared->header->life_began.load() : UnixTime{})), life == 0);
    row.add(CStringGetTextDatum(ledger_memory_kind()));
    row.add(Int64GetDatum(shared != nullptr ? static_cast<int64>(shared->header->bytes) : 0));
    row.add(CStringGetTextDatum(shared == nullptr              ? why
                                : ceiling_in_wal::is_damaged() ? "damaged in this database"
                                                               : ceiling_in_file::state_for_people()));
    row.add(BoolGetDatum(in_recovery));
    row.add(CStringGetTextDatum(SNOWFLAKE_IDS_VERSION));
    PG_RETURN_DATUM(record(fcinfo, row.values, row.count, row.nulls));
}

// snowflake_ids.stats_reset() keeps the number of sessions that wait now. This session's uncounted ids are counted
// before, so that they are not in the new counters.
FUNCTION(snowflake_ids_stats_reset) {
    generator::end_leases_and_count();
    const ledger::Ledger& shared = shared_ledger();
    for (uint32 i = 0; i < ledger::slot_count; i++) {
        ledger::Counters& c = shared.slots[i].counters;
        for (ledger::Word* w : {&c.issued, &c.overflow_waits, &c.regressions, &c.holds})
            w->store(0, std::memory_order_relaxed);
        c.waited.store({}, std::memory_order_relaxed);
    }
    shared.header->stats_since.store(ledger::wall_clock());
    PG_RETURN_VOID();
}

}  // namespace snowflake_ids
