// Ids of 64-bit layouts, from the arguments of SQL functions.
#pragma once

#include "core/layout.hpp"
#include "pg/datum.hpp"

namespace snowflake_ids {

// From the time in argument `n`, then the node, then the sequence. In a format without a node, `node` is null and has no
// argument. `what` is the word for the ids in errors; `node` and `sequence` are the names of their arguments.
inline Datum make_id(FunctionCallInfo fcinfo, const Layout& layout, const char* what, int n, const char* node,
                     const char* sequence) {
    Layout::Fields f{.tick = tick_argument(fcinfo, n, what, layout.timeline)};
    if (node != nullptr) f.node = number_argument(fcinfo, ++n, node, layout.max_node());
    f.sequence = number_argument(fcinfo, ++n, sequence, layout.max_sequence());
    return id_datum(layout.compose(f));
}

// `of` is &Layout::lower_bound or &Layout::upper_bound.
using Bound = Result<std::uint64_t> (Layout::*)(UnixTime) const;

inline Datum bound_datum(TimestampTz t, const char* what, const Layout& layout, Bound of) {
    return bound_datum(t, what, layout.timeline, [&](UnixTime time) { return (layout.*of)(time); });
}

}  // namespace snowflake_ids
