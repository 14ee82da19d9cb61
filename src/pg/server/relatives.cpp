// Reads pg_inherits, because PostgreSQL's own functions leave out partitions that are being detached.
#include "pg/server/relatives.hpp"

extern "C" {
#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "catalog/pg_inherits.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"
}

namespace snowflake_ids {

namespace {

// PostgreSQL clears relhassubclass late, so there may be none.
bool may_have_children(Oid relation) {
    return SearchSysCacheExists1(RELOID, ObjectIdGetDatum(relation)) && has_subclass(relation);
}

List* with_relatives(Oid table, bool above) {
    const Relation inherits = table_open(InheritsRelationId, AccessShareLock);
    List* found = list_make1_oid(table);
    for (int i = 0; i < list_length(found); i++) {
        const Oid of = list_nth_oid(found, i);
        if (!above && !may_have_children(of)) continue;
        ScanKeyData key;
        ScanKeyInit(&key, above ? Anum_pg_inherits_inhrelid : Anum_pg_inherits_inhparent, BTEqualStrategyNumber,
                    F_OIDEQ, ObjectIdGetDatum(of));
        SysScanDesc scan = systable_beginscan(inherits, above ? InheritsRelidSeqnoIndexId : InheritsParentIndexId, true,
                                              nullptr, 1, &key);
        for (HeapTuple tuple; HeapTupleIsValid(tuple = systable_getnext(scan));) {
            const auto* row = reinterpret_cast<Form_pg_inherits>(GETSTRUCT(tuple));
            found = list_append_unique_oid(found, above ? row->inhparent : row->inhrelid);
        }
        systable_endscan(scan);
    }
    table_close(inherits, AccessShareLock);
    return found;
}

}  // namespace

List* relatives_above(Oid table) { return with_relatives(table, true); }
List* relatives_below(Oid table) { return with_relatives(table, false); }

const char* full_name(Oid relation) {
    const char* const name = get_rel_name(relation);
    return name == nullptr ? "my_table"
                           : quote_qualified_identifier(get_namespace_name(get_rel_namespace(relation)), name);
}

}  // namespace snowflake_ids
