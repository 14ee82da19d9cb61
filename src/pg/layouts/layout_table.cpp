// Opens the table of created layouts, and checks the fields of a layout.
#include "pg/layouts/layout_table.hpp"

extern "C" {
#include "access/table.h"
}

#include "pg/errors.hpp"
#include "pg/layouts/layouts.hpp"
#include "pg/server/extension_relation.hpp"

namespace snowflake_ids::layouts {

Oid relation_oid = InvalidOid;

namespace {

Layout checked_layout(TimestampTz epoch, const Interval& tick, int32 timestamp_bits, int32 node_bits,
                      int32 sequence_bits, bool node_last) {
    constexpr int32 most = Layout::max_field_bits, most_time = Layout::max_timestamp_bits;
    if (timestamp_bits < 1 || timestamp_bits > most_time) fail_range("timestamp_bits", timestamp_bits, 1, most_time);
    if (node_bits < 0 || node_bits > most) fail_range("node_bits", node_bits, 0, most);
    if (sequence_bits < 0 || sequence_bits > most) fail_range("sequence_bits", sequence_bits, 0, most);
    const bool time_only = tick.day == 0 && tick.month == 0;
    const Layout l{{unix_time(epoch), microseconds{time_only ? tick.time : 0}, static_cast<unsigned>(timestamp_bits)},
                   static_cast<unsigned>(node_bits),
                   static_cast<unsigned>(sequence_bits),
                   node_last};
    const Error error = check_layout(l);
    if (error == Error::none && !TIMESTAMP_NOT_FINITE(epoch)) return l;
    ereport(
        ERROR,
        (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
         error == Error::bad_total_width ? errmsg("layout too wide: %u bits", l.bits())
         : error == Error::bad_tick      ? errmsg("invalid tick: \"%s\"", DatumGetCString(DirectFunctionCall1(
                                                                              interval_out, IntervalPGetDatum(&tick))))
                                         : errmsg("invalid epoch: \"%s\"", show_time(epoch)),
         error == Error::bad_total_width ? errdetail("Timestamp, node and sequence may have at most 63 bits together.")
         : error == Error::bad_tick
             ? errdetail("The tick must be at least one microsecond, and a time without days or months.")
             : errdetail("The first and the last time of a layout must be times that a timestamptz can hold.")));
}

}  // namespace

// Sessions read the table to generate ids, so their wait is limited. Only administrators change it.
Relation open_relation(LOCKMODE lock) {
    return open_extension_relation(relation_oid, "created_layout", lock, {.queues = lock != AccessShareLock});
}

Layout layout_of_row(Relation rel, HeapTuple row) {
    Datum values[columns];
    bool nulls[columns];
    heap_deform_tuple(row, RelationGetDescr(rel), values, nulls);
    return checked_layout(DatumGetTimestampTz(values[1]), *DatumGetIntervalP(values[2]), DatumGetInt32(values[3]),
                          DatumGetInt32(values[4]), DatumGetInt32(values[5]), DatumGetBool(values[6]));
}

Layout from_fields(FunctionCallInfo fcinfo, int n) {
    return checked_layout(PG_GETARG_TIMESTAMPTZ(n), *PG_GETARG_INTERVAL_P(n + 1), PG_GETARG_INT32(n + 2),
                          PG_GETARG_INT32(n + 3), PG_GETARG_INT32(n + 4), PG_GETARG_BOOL(n + 5));
}

}  // namespace snowflake_ids::layouts
