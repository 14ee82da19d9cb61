#include "pg/wal_sequence.hpp"

extern "C" {
#include "access/generic_xlog.h"
#include "access/htup_details.h"
#include "access/relation.h"
#include "access/xlog.h"
#include "catalog/pg_class.h"
#include "commands/sequence.h"
#include "storage/bufmgr.h"
#include "utils/rel.h"
}

#include "pg/extension.hpp"

namespace snowflake_ids::wal_sequence {

namespace {

// Null if it is missing.
Relation try_open(Place& place, LOCKMODE lock) {
    if (OidIsValid(place.oid)) {
        Relation rel = try_relation_open(place.oid, lock);
        if (rel != nullptr) return rel;
    }
    place.oid = extension_relation(place.name);
    Relation rel = OidIsValid(place.oid) ? try_relation_open(place.oid, lock) : nullptr;
    if (rel == nullptr || rel->rd_rel->relkind == RELKIND_SEQUENCE) return rel;
    relation_close(rel, lock);
    place.oid = InvalidOid;
    return nullptr;
}

Relation open(Place& place, LOCKMODE lock) {
    Relation rel = try_open(place, lock);
    if (rel == nullptr) {
        ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                        errmsg("sequence \"%s\" of extension snowflake_ids is missing", place.name),
                        errdetail("%s", place.purpose),
                        errhint("Run ALTER EXTENSION snowflake_ids UPDATE, or create the extension again.")));
    }
    return rel;
}

// A sequence is one page with one tuple that is never moved.
Form_pg_sequence_data data_of(Page page) {
    auto* tuple = reinterpret_cast<HeapTupleHeader>(PageGetItem(page, PageGetItemId(page, FirstOffsetNumber)));
    return reinterpret_cast<Form_pg_sequence_data>(reinterpret_cast<char*>(tuple) + tuple->t_hoff);
}

Content content(Page page) {
    const Form_pg_sequence_data data = data_of(page);
    return {data->last_value, data->log_cnt};
}

}  // namespace

bool exists(Place& place) {
    Relation rel = try_open(place, AccessShareLock);
    if (rel != nullptr) relation_close(rel, AccessShareLock);
    return rel != nullptr;
}

Content read(Place& place) {
    Relation rel = open(place, AccessShareLock);
    const Buffer buffer = ReadBuffer(rel, 0);
    LockBuffer(buffer, BUFFER_LOCK_SHARE);
    const Page page = BufferGetPage(buffer);
    const Content c = content(page);
    const XLogRecPtr lsn = PageGetLSN(page);
    UnlockReleaseBuffer(buffer);
    relation_close(rel, AccessShareLock);
    // Another backend may have written it and not flushed it yet.
    if (!RecoveryInProgress()) XLogFlush(lsn);
    return c;
}

Content update(Place& place, Content (*next)(const Content& now, const Content& wanted), const Content& wanted) {
    // As nextval(): keeps ALTER SEQUENCE from giving the relation another file meanwhile, which would lose what is
    // written to this one, and leave WAL for a file that is gone.
    Relation rel = open(place, RowExclusiveLock);
    const Buffer buffer = ReadBuffer(rel, 0);
    LockBuffer(buffer, BUFFER_LOCK_EXCLUSIVE);
    const Page page = BufferGetPage(buffer);
    const Content before = content(page);
    const Content after = next(before, wanted);
    XLogRecPtr lsn = PageGetLSN(page);
    if (!(after == before)) {
        GenericXLogState* state = GenericXLogStart(rel);
        const Form_pg_sequence_data data = data_of(GenericXLogRegisterBuffer(state, buffer, 0));
        data->last_value = after.last_value;
        data->log_cnt = after.log_cnt;
        lsn = GenericXLogFinish(state);
    }
    UnlockReleaseBuffer(buffer);
    relation_close(rel, RowExclusiveLock);
    XLogFlush(lsn);
    return after;
}

}  // namespace snowflake_ids::wal_sequence
