// What an operator may do to a generator.
#pragma once

#include "pg/draw/generator.hpp"

namespace snowflake_ids::operate {

// Raises an error if a time is implausibly far ahead of the clock.
void refuse_far_ahead(int64 id_us, const char* what);

// Nothing at or before `tick` is issued by this generator again, durably.
void raise_past(Generator& g, uint64 tick);

// Argument `n`, force. Forcing needs more than the right to call the function: a superuser.
bool forced(FunctionCallInfo fcinfo, int n);

// After an import: nothing at or before the id's time is issued by this generator again.
void observe(Generator& g, int64 id_us, bool force, const char* what);

}  // namespace snowflake_ids::operate
