// The tables that a table is a part of, and its parts: by partitioning and by inheritance.
#pragma once

#include "pg/pg.hpp"

extern "C" {
#include "nodes/pg_list.h"
}

namespace snowflake_ids {

// The oids begin with the table. A partition that is being detached still counts, because transactions that began
// before may write to it through the table.
List* relatives_above(Oid table);
List* relatives_below(Oid table);

}  // namespace snowflake_ids
