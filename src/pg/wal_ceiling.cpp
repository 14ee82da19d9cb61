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

void (*forget_ceiling)() = nullptr;

void relation_changed(Datum, Oid relation) {
    if (relation == InvalidOid || relation == relation_oid) forget_ceiling();
}

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

void watch(void (*forget)()) {
    if (forget_ceiling == nullptr) CacheRegisterRelcacheCallback(relation_changed, Datum{0});
    forget_ceiling = forget;
}

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

namespace {

// Puts what `next` makes of the current content on the page, if it differs. Flushed.
template <class Next>
Ceiling update(Next next) {
    Relation rel = open_relation();
    const Buffer buffer = ReadBuffer(rel, 0);
    LockBuffer(buffer, BUFFER_LOCK_EXCLUSIVE);
    const Page page = BufferGetPage(buffer);
    const Ceiling before = content(page);
    const Ceiling after = next(before);
    XLogRecPtr lsn = PageGetLSN(page);
    if (after.until_us != before.until_us || after.life_id != before.life_id) {
        GenericXLogState* state = GenericXLogStart(rel);
        const Form_pg_sequence_data data = data_of(GenericXLogRegisterBuffer(state, buffer, 0));
        data->last_value = after.until_us;
        data->log_cnt = static_cast<int64>(after.life_id);
        lsn = GenericXLogFinish(state);
    }
    UnlockReleaseBuffer(buffer);
    relation_close(rel, AccessShareLock);
    XLogFlush(lsn);
    return after;
}

}  // namespace

Ceiling raise(const Ceiling& wanted) {
    return update([&](const Ceiling& c) { return Ceiling{Max(c.until_us, wanted.until_us), wanted.life_id}; });
}

void set(const Ceiling& c) {
    update([&](const Ceiling&) { return c; });
}

}  // namespace snowflake_ids::wal_ceiling
