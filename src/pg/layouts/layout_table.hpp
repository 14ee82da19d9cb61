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

// The number of columns of the table. snowflake_layout_create() has the same number of arguments, in the same order.
inline constexpr int columns = 7;

// True if this is the oid of the table in this database. False for any oid until this backend has opened the table.
bool is_layout_table(Oid relation);

// Opens and locks the table of this database. With AccessShareLock, to read, it waits at most max_wait for the lock.
// With a stronger lock, to change the table, it waits in the lock's queue without a limit. Raises an error if the table
// is missing, or if the wait was too long.
Relation open_relation(LOCKMODE lock);

// The layout in a row, which must have no NULLs. Raises an error if the fields are no layout.
Layout layout_of_row(Relation rel, HeapTuple row);

// Calls `found(row)` if the table, which the caller has opened, has a row with this name. Returns whether there is one.
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
