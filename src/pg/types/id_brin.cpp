// Refuses a BRIN index on a domain over an id type; otherwise uses PostgreSQL's minmax functions.
//
// Without this, CREATE INDEX would succeed on an empty table, and INSERT would fail later: values in the index would
// have the domain as their type, for which the operator family has no operators. PostgreSQL's own classes store the
// base type, by a STORAGE, but CREATE OPERATOR CLASS drops one that is the type of the class.
#include "pg/pg.hpp"

extern "C" {
#include "catalog/pg_type.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/lsyscache.h"
}

// Argument 0 is the type of the indexed column.
FUNCTION(snowflake_ids_id_minmax_opcinfo) {
    const Oid type = PG_GETARG_OID(0);
    if (get_typtype(type) == TYPTYPE_DOMAIN) {
        const char* below = format_type_be_qualified(getBaseType(type));
        ereport(ERROR, errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                errmsg("cannot create a BRIN index on domain %s", format_type_be_qualified(type)),
                errdetail("The operator class is for type %s.", below),
                errhint("Write CREATE INDEX ... USING brin ((column::%s)).", below));
    }
    return brin_minmax_opcinfo(fcinfo);
}
