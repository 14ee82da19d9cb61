// What is checked before a generator is set up: that this process, these settings, this clock and this machine id may
// generate ids of a format. Each function raises an error otherwise.
#pragma once

#include "core/layout.hpp"
#include "pg/pg.hpp"

namespace snowflake_ids::generator {

// `name` is that of the format, for messages.

// An error in a parallel worker, and while the value of a setting was not accepted.
void check_may_generate(const char* name);

// The numbering (ledger/numbering.hpp) of a layout; an error if its ids can only be decoded.
uint64 numbering_of(const char* name, const Layout& layout);

// An error if the clock is outside the format. Call it before the generator gets a slot: a layout that has one counts
// as used, and a created layout with a wrong epoch could not be dropped any more.
void check_clock(const char* name, const Timeline& timeline);

// The node that ids of the layout get on this server; an error if there is none, or if it does not fit. Warns if other
// servers may have the same one.
uint32 node_of(const char* name, const Layout& layout, bool in_recovery);

}  // namespace snowflake_ids::generator
