// Generators of layouts by name, and the SQL functions for callers in C++.
#pragma once

#include "pg/generate/generator.hpp"
#include "pg/layouts/layouts.hpp"
#include "pg/pg.hpp"

extern "C" {
PGDLLEXPORT Datum snowflake_ids_gen_mastic(PG_FUNCTION_ARGS);
PGDLLEXPORT Datum snowflake_ids_gen_snowflake_si(PG_FUNCTION_ARGS);
PGDLLEXPORT Datum snowflake_ids_gen_snowflake(PG_FUNCTION_ARGS);
}

namespace snowflake_ids::generator {

// This session's generator of the layout, set up. For Mastic and Snowflake-SI it is that of gen_mastic() or
// gen_snowflake_si(), so that a session's ids are in order whichever function it calls.
Generator& ready_snowflake(NamedLayout& named);

}  // namespace snowflake_ids::generator
