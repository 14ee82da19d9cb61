// Raises the errors of the SQL in convert/src/sql. PL/pgSQL would add a screen of context: each running function with
// its line.
#include "pg/pg.hpp"

extern "C" {
#include "access/xact.h"
}

namespace snowflake_ids {

namespace {

char* text_argument(FunctionCallInfo fcinfo, int n) {
    return PG_ARGISNULL(n) ? nullptr : text_to_cstring(PG_GETARG_TEXT_PP(n));
}

// If `state` is no SQLSTATE of an error, the number that RAISE uses by default.
int errcode_of(const char* state) {
    if (state == nullptr || strlen(state) != 5 || strspn(state, "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ") != 5 ||
        strncmp(state, "00", 2) == 0)
        return ERRCODE_RAISE_EXCEPTION;
    return MAKE_SQLSTATE(state[0], state[1], state[2], state[3], state[4]);
}

}  // namespace

// fail(sqlstate, message, detail, hint). Each argument may be NULL.
FUNCTION(snowflake_ids_convert_fail) {
    const int state = errcode_of(text_argument(fcinfo, 0));
    const char* message = text_argument(fcinfo, 1);
    const char* detail = text_argument(fcinfo, 2);
    const char* hint = text_argument(fcinfo, 3);
    // Drops the context of all functions. Code that catches the error restores the stack, as for every error.
    error_context_stack = nullptr;
    ereport(ERROR,
            (errcode(state), errmsg_internal("%s", message == nullptr ? "unknown error" : message),
             detail == nullptr ? 0 : errdetail_internal("%s", detail), hint == nullptr ? 0 : errhint("%s", hint)));
}

FUNCTION(snowflake_ids_convert_in_transaction_block) { PG_RETURN_BOOL(IsTransactionBlock()); }

}  // namespace snowflake_ids
