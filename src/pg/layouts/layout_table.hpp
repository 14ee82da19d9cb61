// The table of created layouts in this database, snowflake_ids.created_layout: a row is a layout.
#pragma once

#include "core/layout.hpp"
#include "pg/pg.hpp"

extern "C" {
#include "access/genam.h"
#include "access/htup_details.h"
#include "utils/fmgroids.h"
#include "utils/rel.h"
}

namespace snowflake_ids::layouts {

inline constexpr int columns = 7;  // of the table; snowflake_layout_create() has the same arguments

// True for the table of this database, once this backend has opened it.
bool is_layout_table(Oid relation);

// Opens the table of this database. A call that changes it waits in the lock's queue; a call that reads it waits at
// most max_wait.
Relation open_relation(LOCKMODE lock);

// The layout in a row, which has no NULLs. Raises an error if the fields are no layout.
Layout layout_of_row(Relation rel, HeapTuple row);

// Calls `found(row)` if there is a row of this name. Returns whether there is one.
template <class Found>
bool find_row(Relation rel, const char* name, Found found) {
    ScanKeyData key;
    ScanKeyInit(&key, 1, BTEqualStrategyNumber, F_TEXTEQ, CStringGetTextDatum(name));
    SysScanDesc scan = systable_beginscan(rel, InvalidOid, false, nullptr, 1, &key);
    const HeapTuple row = systable_getnext(scan);
    if (HeapTupleIsValid(row)) found(row);
    systable_endscan(scan);
    return HeapTupleIsValid(row);
}

}  // namespace snowflake_ids::layouts
