// Looking inside a Mastic id, putting one together, its text, and the ids that bound a time range.
//
// SQL has no unsigned 64-bit number: a bigint holds the same 64 bits, so ids from the year 6485
// on are negative. Nothing here cares; only the order of bigint does.
#include "core/mastic.hpp"

#include "pg/datum.hpp"
#include "pg/errors.hpp"
#include "pg/pg.hpp"

namespace snowflake_ids {

using mastic::layout;

namespace {

constexpr const char* name = "Mastic id";

uint64 id_argument(FunctionCallInfo fcinfo, int n) { return static_cast<uint64>(PG_GETARG_INT64(n)); }

// Every 64-bit number is an id: splitting cannot fail.
Layout::Fields fields_argument(FunctionCallInfo fcinfo) { return layout.split(id_argument(fcinfo, 0)).value; }

}  // namespace

FUNCTION(mastic_timestamp) { PG_RETURN_TIMESTAMPTZ(timestamptz(layout.time_us(id_argument(fcinfo, 0)))); }
FUNCTION(mastic_sequence) { PG_RETURN_INT32(static_cast<int32>(fields_argument(fcinfo).sequence)); }

FUNCTION(mastic_decode) {
    const Layout::Fields f = fields_argument(fcinfo);
    Datum values[] = {TimestampTzGetDatum(timestamptz(layout.timeline.start_us(f.tick))), UInt32GetDatum(f.sequence)};
    return record(fcinfo, values, lengthof(values));
}

FUNCTION(make_mastic) {
    const TimestampTz t = PG_GETARG_TIMESTAMPTZ(0);
    const Result<std::uint64_t> tick = layout.timeline.floor_tick(unix_us(t));
    if (!tick) report_time(tick.error, name, layout.timeline, t);
    const uint32 sequence = number_argument(fcinfo, 1, "sequence", Error::sequence_range, layout.max_sequence());
    PG_RETURN_INT64(static_cast<int64>(layout.compose({tick.value, 0, sequence})));
}

FUNCTION(mastic_to_text) {
    char text[mastic::max_text_size];
    const std::size_t length = mastic::print(id_argument(fcinfo, 0), text);
    PG_RETURN_TEXT_P(cstring_to_text_with_len(text, static_cast<int>(length)));
}

FUNCTION(mastic_from_text) {
    const text* given = PG_GETARG_TEXT_PP(0);
    const Result<std::uint64_t> id = mastic::parse(VARDATA_ANY(given), VARSIZE_ANY_EXHDR(given));
    if (!id) {
        report(id.error, {Source::text, name, text_to_cstring(given), "0", psprintf(UINT64_FORMAT, layout.max_id())});
    }
    PG_RETURN_INT64(static_cast<int64>(id.value));
}

FUNCTION(mastic_lower_bound) {
    const TimestampTz t = PG_GETARG_TIMESTAMPTZ(0);
    const Result<std::uint64_t> id = layout.lower_bound(unix_us(t));
    if (!id) report_bound(id.error, name, layout.timeline, t);
    PG_RETURN_INT64(static_cast<int64>(id.value));
}

FUNCTION(mastic_upper_bound) {
    const TimestampTz t = PG_GETARG_TIMESTAMPTZ(0);
    const Result<std::uint64_t> id = layout.upper_bound(unix_us(t));
    if (!id) report_bound(id.error, name, layout.timeline, t);
    PG_RETURN_INT64(static_cast<int64>(id.value));
}

}  // namespace snowflake_ids
