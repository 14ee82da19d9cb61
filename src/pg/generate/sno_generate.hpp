// gen_sno(metabyte), for callers in C++.
#pragma once

#include "pg/pg.hpp"

extern "C" {
PGDLLEXPORT Datum snowflake_ids_gen_sno(PG_FUNCTION_ARGS);
}
