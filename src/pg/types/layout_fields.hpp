// Makes ids of 64-bit layouts from the arguments of SQL functions.
#pragma once

#include "core/layout.hpp"
#include "pg/datum.hpp"
#include "pg/errors.hpp"
#include "pg/pg.hpp"

namespace snowflake_ids {

// Time, node and sequence follow each other. In a format without a node, `node` is null and has no argument.
struct Arguments {
    int created;       // the number of the argument
    const char* node;  // names, for messages
    const char* sequence;
};

// `what()` is the word for the ids in errors.
template <class What>
Datum make_from_arguments(FunctionCallInfo fcinfo, const Layout& layout, const Arguments& names, What what) {
    int n = names.created;
    const TimestampTz t = PG_GETARG_TIMESTAMPTZ(n);
    const Result<std::uint64_t> tick = layout.timeline.floor_tick(unix_time(t));
    if (!tick) fail_time(tick.error, what(), layout.timeline, t);
    uint32 node = 0;
    if (names.node != nullptr) node = number_argument(fcinfo, ++n, names.node, Error::node_range, layout.max_node());
    const uint32 sequence = number_argument(fcinfo, ++n, names.sequence, Error::sequence_range, layout.max_sequence());
    PG_RETURN_INT64(static_cast<int64>(layout.compose({tick.value, node, sequence})));
}

// Argument 0 is the name of a layout.
inline auto word_for_ids(FunctionCallInfo fcinfo) {
    return [fcinfo] { return psprintf("%s id", text_to_cstring(PG_GETARG_TEXT_PP(0))); };
}

using Bound = Result<std::uint64_t> (Layout::*)(UnixTime) const;

// `of` is Layout::lower_bound or upper_bound. Raises an error if there is no such id.
template <class What>
Datum bound_of_time(const Layout& layout, Bound of, TimestampTz t, What what) {
    const Result<std::uint64_t> id = (layout.*of)(unix_time(t));
    if (!id) fail_time(id.error, what(), layout.timeline, t);
    PG_RETURN_INT64(static_cast<int64>(id.value));
}

}  // namespace snowflake_ids
