// The comparisons of the btree operator classes, by which the planner recognises the type of an id.
#pragma once

#include "pg/pg.hpp"

extern "C" {
PGDLLEXPORT Datum snowflake_ids_sno_cmp(PG_FUNCTION_ARGS);
PGDLLEXPORT Datum snowflake_ids_gid_cmp(PG_FUNCTION_ARGS);
PGDLLEXPORT Datum snowflake_ids_mastic_cmp(PG_FUNCTION_ARGS);
}
