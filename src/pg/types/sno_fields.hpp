// The argument that functions of fields and generators of snos share.
#pragma once

#include "pg/datum.hpp"
#include "pg/errors.hpp"
#include "pg/pg.hpp"

namespace snowflake_ids {

inline uint32 metabyte_argument(FunctionCallInfo fcinfo, int n) { return number_argument(fcinfo, n, "metabyte", 255); }

}  // namespace snowflake_ids
