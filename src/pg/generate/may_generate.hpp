// What is checked before a generator is set up: that this process, these settings, this clock and this machine id may
// generate ids of a format. Each function raises an error otherwise.
#pragma once

#include "core/layout.hpp"
#include "pg/pg.hpp"

namespace snowflake_ids::generator {

void check_may_generate(const char* name);
uint64 numbering_of(const char* name, const Layout& layout);
void check_clock(const char* name, const Timeline& timeline);
uint32 node_of(const char* name, const Layout& layout, bool in_recovery);

}  // namespace snowflake_ids::generator
