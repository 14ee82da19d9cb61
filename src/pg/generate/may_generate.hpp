// What is checked before a generator is set up: whether this process, with these settings, this clock and this machine
// id, may generate ids of a format. Each function raises an error otherwise.
#pragma once

#include "core/layout.hpp"
#include "pg/pg.hpp"

namespace snowflake_ids::generator {

// In all these functions, `name` is the name of the format or layout, for messages.

// Raises an error in a parallel worker, and if the value of a setting on which uniqueness depends was not accepted.
void check_may_generate(const char* name);

// The numbering (ledger/numbering.hpp) of a layout. Raises an error if no generator can have the tick or the epoch of
// the layout, so that its ids can only be decoded.
uint64 numbering_of(const char* name, const Layout& layout);

// Raises an error if the clock is outside the format. Call it before the generator gets a slot: a layout that has a
// slot counts as used, so a created layout with a wrong epoch could not be dropped any more.
void check_clock(const char* name, const Timeline& timeline);

// The node that ids of the layout get on this server; 0 if the layout has no node bits. Raises an error if the node
// does not fit into the layout, or if in recovery a standby may not generate such ids (see to_generate_with() in
// server/machine_id.hpp). Warns if other servers may have the same node.
uint32 node_of(const char* name, const Layout& layout, bool in_recovery);

}  // namespace snowflake_ids::generator
