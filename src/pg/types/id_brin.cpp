// Refuses a BRIN index on a domain over an id type. For other columns, a BRIN index of ids uses the server's minmax
// functions.
//
// Without this check, CREATE INDEX would succeed on an empty table, and INSERT would fail later. The values in such an
// index have the domain as their type, and the operator family has no operators for the domain. The server's own
// operator classes have a STORAGE, so that such an index stores the base type. A class of an extension cannot have
// this, because CREATE OPERATOR CLASS drops a STORAGE that is the type of the class.
#include "pg/pg.hpp"

extern "C" {
#include "catalog/pg_type.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/lsyscache.h"
}

// The support function that describes the index to PostgreSQL. Argument 0 is the type of the indexed column.
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
