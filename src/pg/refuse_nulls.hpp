// For SQL functions that are not STRICT, because a NULL as their result would look like success. The extension
// snowflake_ids_convert includes this, too.
#pragma once

#include "pg/pg.hpp"

extern "C" {
#include "catalog/pg_proc.h"
#include "funcapi.h"
#include "utils/syscache.h"
}

namespace snowflake_ids {

// Raises an error that names the first NULL argument.
inline void refuse_nulls(FunctionCallInfo fcinfo) {
    HeapTuple tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(fcinfo->flinfo->fn_oid));
    Oid* types;
    char** names;
    char* modes;
    get_func_arg_info(tuple, &types, &names, &modes);
    ReleaseSysCache(tuple);
    for (int n = 0; n < PG_NARGS(); n++)
        if (PG_ARGISNULL(n))
            ereport(ERROR,
                    (errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED), errmsg("argument must not be null: %s", names[n])));
}

}  // namespace snowflake_ids
