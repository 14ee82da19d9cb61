// Reads pg_inherits, because PostgreSQL's own functions leave out partitions that are being detached.
#include "pg/server/table_ancestors.hpp"

extern "C" {
#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "catalog/pg_inherits.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
}

namespace snowflake_ids {

List* table_and_ancestors(Oid table) {
    const Relation inherits = table_open(InheritsRelationId, AccessShareLock);
    List* found = list_make1_oid(table);
    for (int i = 0; i < list_length(found); i++) {
        ScanKeyData key;
        ScanKeyInit(&key, Anum_pg_inherits_inhrelid, BTEqualStrategyNumber, F_OIDEQ,
                    ObjectIdGetDatum(list_nth_oid(found, i)));
        SysScanDesc scan = systable_beginscan(inherits, InheritsRelidSeqnoIndexId, true, nullptr, 1, &key);
        for (HeapTuple tuple; HeapTupleIsValid(tuple = systable_getnext(scan));)
            found = list_append_unique_oid(found, reinterpret_cast<Form_pg_inherits>(GETSTRUCT(tuple))->inhparent);
        systable_endscan(scan);
    }
    table_close(inherits, AccessShareLock);
    return found;
}

const char* name_for_messages(Oid relation) {
    const char* const name = get_rel_name(relation);
    return name == nullptr ? "my_table"
                           : quote_qualified_identifier(get_namespace_name(get_rel_namespace(relation)), name);
}

}  // namespace snowflake_ids
