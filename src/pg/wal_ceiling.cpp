#include "pg/wal_ceiling.hpp"

extern "C" {
#include "access/generic_xlog.h"
#include "access/htup_details.h"
#include "access/relation.h"
#include "access/xlog.h"
#include "catalog/pg_class.h"
#include "commands/extension.h"
#include "commands/sequence.h"
#include "storage/bufmgr.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
}

namespace snowflake_ids::wal_ceiling {

namespace {

constexpr const char* relation_name = "snowflake_ids_ceiling";

// Found once; looked up again when it is gone (the extension was dropped and made again).
Oid relation_oid = InvalidOid;

Relation open_relation() {
    if (OidIsValid(relation_oid)) {
        Relation rel = try_relation_open(relation_oid, AccessShareLock);
        if (rel != nullptr) return rel;
    }
    const Oid schema = get_extension_schema(get_extension_oid("snowflake_ids", false));
    relation_oid = get_relname_relid(relation_name, schema);
    Relation rel = OidIsValid(relation_oid) ? try_relation_open(relation_oid, AccessShareLock) : nullptr;
    if (rel == nullptr || rel->rd_rel->relkind != RELKIND_SEQUENCE) {
        ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                        errmsg("sequence \"%s\" of extension snowflake_ids is missing", relation_name),
                        errdetail("It keeps ids unique across failover and recovery."),
                        errhint("Run ALTER EXTENSION snowflake_ids UPDATE, or create the extension again.")));
    }
    return rel;
}

// A sequence is one page with one tuple that is never moved.
Form_pg_sequence_data data_of(Page page) {
    auto* tuple = reinterpret_cast<HeapTupleHeader>(PageGetItem(page, PageGetItemId(page, FirstOffsetNumber)));
    return reinterpret_cast<Form_pg_sequence_data>(reinterpret_cast<char*>(tuple) + tuple->t_hoff);
}

Ceiling content(Page page) {
    const Form_pg_sequence_data data = data_of(page);
    return {data->last_value, static_cast<uint64>(data->log_cnt)};
}

}  // namespace

Ceiling read() {
    Relation rel = open_relation();
    const Buffer buffer = ReadBuffer(rel, 0);
    LockBuffer(buffer, BUFFER_LOCK_SHARE);
    const Page page = BufferGetPage(buffer);
    const Ceiling c = content(page);
    const XLogRecPtr lsn = PageGetLSN(page);
    UnlockReleaseBuffer(buffer);
    relation_close(rel, AccessShareLock);
    // Another backend may have written it and not flushed it yet.
    XLogFlush(lsn);
    return c;
}

Ceiling raise(const Ceiling& wanted) {
    Relation rel = open_relation();
    const Buffer buffer = ReadBuffer(rel, 0);
    LockBuffer(buffer, BUFFER_LOCK_EXCLUSIVE);
    Page page = BufferGetPage(buffer);
    Ceiling c = content(page);
    XLogRecPtr lsn = PageGetLSN(page);
    if (c.until_us < wanted.until_us || c.life_id != wanted.life_id) {
        c = {Max(c.until_us, wanted.until_us), wanted.life_id};
        GenericXLogState* state = GenericXLogStart(rel);
        const Form_pg_sequence_data data = data_of(GenericXLogRegisterBuffer(state, buffer, 0));
        data->last_value = c.until_us;
        data->log_cnt = static_cast<int64>(c.life_id);
        lsn = GenericXLogFinish(state);
    }
    UnlockReleaseBuffer(buffer);
    relation_close(rel, AccessShareLock);
    XLogFlush(lsn);
    return c;
}

}  // namespace snowflake_ids::wal_ceiling
