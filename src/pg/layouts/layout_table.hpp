// The table of created layouts in this database: snowflake_ids.created_layout.
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

// In the order of the arguments of snowflake_layout_create().
inline constexpr int columns = 7;

// InvalidOid until this backend has opened the table.
extern Oid relation_oid;

// With AccessShareLock, waits at most max_wait; with a stronger lock, in the lock's queue, without a limit.
Relation open_relation(LOCKMODE lock);

// The row must have no NULLs. Raises an error if the fields are no layout.
Layout layout_of_row(Relation rel, HeapTuple row);

// Calls `found(row)` for the row with this name. False if there is none.
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
