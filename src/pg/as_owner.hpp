// Statements that run as the owner of a table. The extension snowflake_ids_convert includes this, too.
#pragma once

#include "pg/pg.hpp"

extern "C" {
#include "access/htup_details.h"
#include "catalog/objectaddress.h"
#include "catalog/pg_class.h"
#include "executor/spi.h"
#include "utils/acl.h"
#include "utils/syscache.h"
}

namespace snowflake_ids {

// Raises an error if the table is missing or the user lacks the owner's rights.
inline Oid owner_of(Oid table) {
    const HeapTuple tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(table));
    if (!HeapTupleIsValid(tuple))
        ereport(ERROR, (errcode(ERRCODE_UNDEFINED_TABLE), errmsg("relation with OID %u does not exist", table)));
    const auto* row = reinterpret_cast<Form_pg_class>(GETSTRUCT(tuple));
    const Oid owner = row->relowner;
    if (!has_privs_of_role(GetUserId(), owner))
        aclcheck_error(ACLCHECK_NOT_OWNER, get_relkind_objtype(row->relkind), NameStr(row->relname));
    ReleaseSysCache(tuple);
    return owner;
}

struct Caller {
    Oid user;
    int context;
};

// The flags with which PostgreSQL runs the queries of foreign keys (ri_triggers.c).
inline constexpr int as_foreign_keys = SECURITY_LOCAL_USERID_CHANGE | SECURITY_NOFORCE_RLS;

// The owner's rights last until disconnect(), or until the (sub)transaction is aborted.
inline Caller connect_as(Oid owner, int restrictions) {
    Caller caller;
    GetUserIdAndSecContext(&caller.user, &caller.context);
    SetUserIdAndSecContext(owner, caller.context | restrictions);
    if (SPI_connect() != SPI_OK_CONNECT) elog(ERROR, "SPI_connect failed");
    return caller;
}

inline void disconnect(Caller caller) {
    SPI_finish();
    SetUserIdAndSecContext(caller.user, caller.context);
}

}  // namespace snowflake_ids
