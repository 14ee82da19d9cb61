// The tables that a table is a part of, by partitioning and by inheritance. And their names.
#pragma once

#include "pg/pg.hpp"

extern "C" {
#include "nodes/pg_list.h"
}

namespace snowflake_ids {

// The oids begin with the table. A partition that is being detached still counts, because transactions that began
// before may write to it through the table.
List* table_and_ancestors(Oid table);

// Quoted, with its schema; my_table if there is no such relation any more.
const char* name_for_messages(Oid relation);

}  // namespace snowflake_ids
