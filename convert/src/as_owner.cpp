// Functions that users call run as the table's owner, as REINDEX does. So code of the table, such as its triggers,
// cannot use the caller's rights, leave a trigger that fires later, or change a setting of the session.
#include "pg/as_owner.hpp"
#include "pg/pg.hpp"
#include "pg/refuse_nulls.hpp"

extern "C" {
#include "parser/parse_func.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"
}

namespace snowflake_ids {

// The body of several SQL functions whose first argument is the table. Each calls, as the owner of the table, the
// function with the same name, arguments and result, but without the prefix of names for users, and with _as_owner at
// the end. After an error, PostgreSQL restores the user and the settings.
FUNCTION(snowflake_ids_convert_as_owner) {
    static const char prefix[] = "snowflake_ids_convert_";
    refuse_nulls(fcinfo);
    const char* name = get_func_name(fcinfo->flinfo->fn_oid);
    if (strncmp(name, prefix, sizeof prefix - 1) == 0) name += sizeof prefix - 1;
    Oid* types;
    int count;
    get_func_signature(fcinfo->flinfo->fn_oid, &types, &count);
    const Oid callee = LookupFuncName(
        list_make2(makeString(pstrdup("snowflake_ids_convert")), makeString(psprintf("%s_as_owner", name))), count,
        types, false);
    const Oid owner = owner_of(PG_GETARG_OID(0));

    FmgrInfo function;
    fmgr_info_cxt(callee, &function, fcinfo->flinfo->fn_mcxt);
    LOCAL_FCINFO(call, FUNC_MAX_ARGS);
    InitFunctionCallInfoData(*call, &function, PG_NARGS(), InvalidOid, nullptr, fcinfo->resultinfo);
    memcpy(call->args, fcinfo->args, sizeof(NullableDatum) * static_cast<size_t>(PG_NARGS()));

    Oid caller;
    int context;
    GetUserIdAndSecContext(&caller, &context);
    SetUserIdAndSecContext(owner, context | SECURITY_RESTRICTED_OPERATION);
    const int settings = NewGUCNestLevel();
    const Datum result = FunctionCallInvoke(call);
    AtEOXact_GUC(false, settings);
    SetUserIdAndSecContext(caller, context);
    fcinfo->isnull = call->isnull;
    return result;
}

}  // namespace snowflake_ids
