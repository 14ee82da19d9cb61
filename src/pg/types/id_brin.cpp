// BRIN indexes of ids are the server's minmax indexes. An index on a domain is refused.
//
// An index of a domain has the domain's values, and the operator family has no operators for these. For its own types
// the server makes such an index of the type below the domain; a class of an extension cannot ask for that, because
// CREATE OPERATOR CLASS drops a STORAGE that is the class's own type. Without this check, CREATE INDEX succeeds on an
// empty table, and INSERT fails later.
#include "pg/pg.hpp"

extern "C" {
#include "catalog/pg_type.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/lsyscache.h"
}

FUNCTION(snowflake_ids_id_minmax_opcinfo) {
    const Oid type = PG_GETARG_OID(0);
    if (get_typtype(type) == TYPTYPE_DOMAIN) {
        const char* below = format_type_be_qualified(getBaseType(type));
        ereport(ERROR, errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                errmsg("cannot create a BRIN index on domain %s", format_type_be_qualified(type)),
                errdetail("The operator class is for type %s.", below),
                errhint("Cast the column: CREATE INDEX ... USING brin ((column::%s)).", below));
    }
    return brin_minmax_opcinfo(fcinfo);
}
