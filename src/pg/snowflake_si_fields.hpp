// The layout of Snowflake-SI ids as SQL functions are told it.
#pragma once

#include "core/layout.hpp"
#include "pg/pg.hpp"

namespace snowflake_ids {

// From the arguments after the first `n`, or from the settings if there are none.
Layout layout_argument(FunctionCallInfo fcinfo, int n);

}  // namespace snowflake_ids
