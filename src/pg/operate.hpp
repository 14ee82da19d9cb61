// What an operator may do to a generator.
#pragma once

#include "pg/generator.hpp"

namespace snowflake_ids::operate {

// Raises an error if a time is implausibly far ahead of the clock.
void refuse_far_ahead(int64 id_us, const char* what);

// Nothing at or before `tick` is issued by this generator again, durably.
void never_again(Generator& g, uint64 tick);

}  // namespace snowflake_ids::operate
