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

// Null if it is missing and may be.
Relation open(Place& place, LOCKMODE lock, Missing missing) {
    Relation rel = open_extension_relation(place.oid, place.name, RELKIND_SEQUENCE, lock);
    if (rel == nullptr && missing == Missing::is_error) {
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

struct Change {
    Content before, after;
};

Change change(Place& place, Content (*next)(const Content& now, const Content& wanted), const Content& wanted,
              Missing missing) {
    // As nextval(): keeps ALTER SEQUENCE from giving the relation another file meanwhile, which would lose what is
    // written to this one, and leave WAL for a file that is gone.
    Relation rel = open(place, RowExclusiveLock, missing);
    if (rel == nullptr) return {};
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
    return {before, after};
}

}  // namespace

Content read(Place& place, Missing missing) {
    Relation rel = open(place, AccessShareLock, missing);
    if (rel == nullptr) return {};
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

Content update(Place& place, Content (*next)(const Content& now, const Content& wanted), const Content& wanted,
               Missing missing) {
    return change(place, next, wanted, missing).after;
}

Content set(Place& place, const Content& wanted, Missing missing) {
    const auto as_wanted = [](const Content&, const Content& wanted) { return wanted; };
    return change(place, as_wanted, wanted, missing).before;
}

}  // namespace snowflake_ids::wal_sequence
