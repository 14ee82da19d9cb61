// Reads, checks and writes the page. The meaning of its number is the matter of wal_ceiling.cpp.
#include "pg/server/wal_sequence.hpp"

extern "C" {
#include "access/generic_xlog.h"
#include "access/htup_details.h"
#include "access/relation.h"
#include "access/xlog.h"
#include "catalog/pg_class.h"
#include "commands/sequence.h"
#include "storage/bufmgr.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
}

#include "pg/server/extension.hpp"
#include "pg/server/orphan.hpp"

namespace snowflake_ids::wal_sequence {

namespace {

// Copied from the server's commands/sequence.c, because its header does not have them.
struct Special {
    uint32 magic;
};
constexpr uint32 sequence_magic = 0x1717;

// Without WAL, the number reaches no standby and does not survive a crash.
bool is_logged(Relation rel) { return rel->rd_rel->relpersistence == RELPERSISTENCE_PERMANENT; }

Relation open(Place& place, LOCKMODE lock, const Patience& patience) {
    Relation rel = open_extension_relation(place.oid, place.name, RELKIND_SEQUENCE, lock, patience);
    if (rel == nullptr) {
        ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                        errmsg("sequence \"snowflake_ids.%s\" of extension snowflake_ids is missing", place.name),
                        errdetail("%s", place.purpose),
                        errhint("Run ALTER EXTENSION snowflake_ids UPDATE, or create the extension again.")));
    }
    if (!is_logged(rel)) {
        const char* name = quote_qualified_identifier(get_namespace_name(RelationGetNamespace(rel)), place.name);
        ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                        errmsg("sequence \"snowflake_ids.%s\" of extension snowflake_ids is unlogged", place.name),
                        errdetail("%s", place.purpose), errhint("Run ALTER SEQUENCE %s SET LOGGED.", name)));
    }
    return rel;
}

const char* way_out() {
    return RecoveryInProgress() ? "Make this standby again from its primary. gen_gid() needs none of it."
                                : "Ids drawn from a guessed state could repeat. Name a floor above every id with "
                                  "snowflake_ids.reset().";
}

enum class Damage : uint8 { none, empty_page, other_page, ahead_of_wal, no_tuple, check_bits };

[[noreturn]] void raise(const Place& place, Damage damage) {
    const char* what = damage == Damage::empty_page     ? "Its page is empty"
                       : damage == Damage::other_page   ? "Its page is not that of a sequence"
                       : damage == Damage::ahead_of_wal ? "Its page is from after the end of this server's WAL"
                       : damage == Damage::no_tuple     ? "Its page does not hold the tuple of a sequence"
                                                        : "The check bits of its value are wrong";
    ereport(ERROR, (errcode(ERRCODE_DATA_CORRUPTED),
                    errmsg("sequence \"snowflake_ids.%s\" of extension snowflake_ids is damaged", place.name),
                    errdetail("%s. %s", what, place.purpose), errhint("%s", way_out())));
    pg_unreachable();
}

// The server's own errors about the page: a wrong checksum or header, or a file that is too short.
void explain_server_error(void* place) {
    if (geterrcode() == ERRCODE_DATA_CORRUPTED) errhint("%s", way_out());
    errcontext("reading sequence \"snowflake_ids.%s\" of extension snowflake_ids",
               static_cast<const Place*>(place)->name);
}

Buffer read_buffer(Relation rel, Place& place) {
    ErrorContextCallback context{error_context_stack, explain_server_error, &place};
    error_context_stack = &context;
    const Buffer buffer = ReadBuffer(rel, 0);
    error_context_stack = context.previous;
    return buffer;
}

struct Found {
    Damage damage = Damage::none;
    Form_pg_sequence_data data = nullptr;  // null: there is none
    Content content{};
};

// Like the server's read_seq_tuple(), but checks more: a lost write or zero_damaged_pages can leave a page that nobody
// wrote, and it passes checksums. Nothing here can raise an error.
Found find(const Place& place, Page page) {
    if (PageIsNew(page)) return {Damage::empty_page};
    const auto* header = reinterpret_cast<PageHeader>(page);
    const Size lower = header->pd_lower, upper = header->pd_upper, special = header->pd_special;
    if (PageGetPageSize(page) != BLCKSZ || special != BLCKSZ - MAXALIGN(sizeof(Special)) || upper > special ||
        lower > upper || lower < SizeOfPageHeaderData)
        return {Damage::other_page};
    if (reinterpret_cast<const Special*>(reinterpret_cast<const char*>(page) + special)->magic != sequence_magic)
        return {Damage::other_page};

    // The WAL of such a page cannot be flushed.
    if (!RecoveryInProgress() && PageGetLSN(page) > GetXLogInsertRecPtr()) return {Damage::ahead_of_wal};

    if (lower < SizeOfPageHeaderData + sizeof(ItemIdData)) return {Damage::no_tuple};
    const ItemId item = PageGetItemId(page, FirstOffsetNumber);
    const Size offset = ItemIdGetOffset(item), length = ItemIdGetLength(item);
    constexpr Size header_length = MAXALIGN(SizeofHeapTupleHeader);
    constexpr Size data_length = offsetof(FormData_pg_sequence_data, is_called) + sizeof(bool);
    if (!ItemIdIsNormal(item) || offset != MAXALIGN(offset) || offset < upper || offset + length > special ||
        length < header_length + data_length)
        return {Damage::no_tuple};
    auto* tuple = reinterpret_cast<HeapTupleHeader>(PageGetItem(page, item));
    if (tuple->t_hoff != header_length || (tuple->t_infomask & HEAP_HASNULL) != 0) return {Damage::no_tuple};

    Found found;
    found.data = reinterpret_cast<Form_pg_sequence_data>(reinterpret_cast<char*>(tuple) + tuple->t_hoff);
    found.content.log_cnt = found.data->log_cnt;
    if (!place.seal.open(found.data->last_value, found.content.number)) found.damage = Damage::check_bits;
    return found;
}

// A page of WAL that the server's memory has, and the disk does not, may be an orphan's.
void flush(XLogRecPtr lsn) {
    if (lsn == InvalidXLogRecPtr) return;
    end_if_orphaned();
    XLogFlush(lsn);
}

// Under the lock of the buffer, which the end of the process releases: the wait for it may have been long.
XLogRecPtr finish(GenericXLogState* state) {
    end_if_orphaned();
    return GenericXLogFinish(state);
}

struct Change {
    Damage damage;
    Content before, after;
};

// The lock of nextval(). It keeps ALTER SEQUENCE from giving the relation another file during a change. That would
// lose what we write to this file, and leave WAL for a file that no longer exists.
constexpr LOCKMODE to_change = RowExclusiveLock;

// `buffer` is the relation's page, locked. Releases both, and flushes the WAL. A damaged page stays as it is.
Change change_and_close(const Place& place, Relation rel, Buffer buffer,
                        Content (*next)(const Content& now, const Content& wanted), const Content& wanted) {
    const Page page = BufferGetPage(buffer);
    const Found found = find(place, page);
    const Content before = found.content;
    Content after = before;
    XLogRecPtr lsn = InvalidXLogRecPtr;
    if (found.damage == Damage::none) {
        lsn = PageGetLSN(page);
        after = next(before, wanted);
        if (!(after == before)) {
            GenericXLogState* state = GenericXLogStart(rel);
            const Form_pg_sequence_data data = find(place, GenericXLogRegisterBuffer(state, buffer, 0)).data;
            data->last_value = place.seal.close(after.number);
            data->log_cnt = after.log_cnt;
            data->is_called = true;
            lsn = finish(state);
        }
    }
    UnlockReleaseBuffer(buffer);
    relation_close(rel, to_change);
    flush(lsn);
    return {found.damage, before, after};
}

Change change(Place& place, Content (*next)(const Content& now, const Content& wanted), const Content& wanted,
              const Patience& patience) {
    Relation rel = open(place, to_change, patience);
    const Buffer buffer = read_buffer(rel, place);
    LockBuffer(buffer, BUFFER_LOCK_EXCLUSIVE);
    const Change c = change_and_close(place, rel, buffer, next, wanted);
    if (c.damage != Damage::none) raise(place, c.damage);
    return c;
}

// Like a page that the server creates.
void fill_page(Page page, const HeapTupleData& tuple) {
    PageInit(page, BLCKSZ, sizeof(Special));
    reinterpret_cast<Special*>(PageGetSpecialPointer(page))->magic = sequence_magic;
    if (PageAddItemExtended(page, reinterpret_cast<char*>(tuple.t_data), tuple.t_len, InvalidOffsetNumber, 0) !=
        FirstOffsetNumber)
        elog(PANIC, "a page of a sequence has no room for its tuple");
}

HeapTuple make_tuple(Relation rel, const Place& place, const Content& content) {
    Datum values[] = {Int64GetDatum(place.seal.close(content.number)), Int64GetDatum(content.log_cnt),
                      BoolGetDatum(true)};
    bool nulls[lengthof(values)] = {};
    const HeapTuple tuple = heap_form_tuple(RelationGetDescr(rel), values, nulls);
    HeapTupleHeaderSetXmin(tuple->t_data, FrozenTransactionId);
    HeapTupleHeaderSetXminFrozen(tuple->t_data);
    HeapTupleHeaderSetCmin(tuple->t_data, FirstCommandId);
    HeapTupleHeaderSetXmax(tuple->t_data, InvalidTransactionId);
    tuple->t_data->t_infomask |= HEAP_XMAX_INVALID;
    ItemPointerSet(&tuple->t_data->t_ctid, 0, FirstOffsetNumber);
    return tuple;
}

// Reads whatever is on disk; a page that the server refuses to read becomes zeros. A file without a page gets one.
Buffer read_anything(Relation rel) {
    if (RelationGetNumberOfBlocks(rel) == 0) {
        end_if_orphaned();
        ReleaseBuffer(extend_relation(rel));
    }
    return ReadBufferExtended(rel, MAIN_FORKNUM, 0, RBM_ZERO_ON_ERROR, nullptr);
}

}  // namespace

Content read(Place& place, const Patience& patience) {
    Relation rel = open(place, AccessShareLock, patience);
    const Buffer buffer = read_buffer(rel, place);
    LockBuffer(buffer, BUFFER_LOCK_SHARE);
    const Page page = BufferGetPage(buffer);
    const Found found = find(place, page);
    const XLogRecPtr lsn = PageGetLSN(page);
    UnlockReleaseBuffer(buffer);
    relation_close(rel, AccessShareLock);
    if (found.damage != Damage::none) raise(place, found.damage);
    // Another backend may have written it and not flushed it yet.
    if (!RecoveryInProgress()) flush(lsn);
    return found.content;
}

Content update(Place& place, Content (*next)(const Content& now, const Content& wanted), const Content& wanted,
               const Patience& patience) {
    return change(place, next, wanted, patience).after;
}

bool update_if_free(Place& place, Content (*next)(const Content& now, const Content& wanted), const Content& wanted,
                    uint64 enough, Content& content) {
    bool busy = false;
    Relation rel = open_extension_relation(place.oid, place.name, RELKIND_SEQUENCE, to_change, &busy);
    if (rel == nullptr) return false;
    if (!is_logged(rel)) {
        relation_close(rel, to_change);
        return false;
    }
    const Buffer buffer = read_buffer(rel, place);
    if (!ConditionalLockBuffer(buffer)) {
        ReleaseBuffer(buffer);
        relation_close(rel, to_change);
        return false;
    }
    const auto as_it_is = [](const Content& now, const Content&) { return now; };
    if (find(place, BufferGetPage(buffer)).content.number > enough) next = as_it_is;
    const Change c = change_and_close(place, rel, buffer, next, wanted);
    content = c.after;
    return c.damage == Damage::none;
}

Content set(Place& place, const Content& wanted, const Patience& patience) {
    const auto as_wanted = [](const Content&, const Content& to) { return to; };
    return change(place, as_wanted, wanted, patience).before;
}

bool is_damaged(Place& place, const Patience& patience) {
    Relation rel = open(place, to_change, patience);
    const Buffer buffer = read_anything(rel);
    LockBuffer(buffer, BUFFER_LOCK_SHARE);
    const Found found = find(place, BufferGetPage(buffer));
    UnlockReleaseBuffer(buffer);
    relation_close(rel, to_change);
    return found.damage != Damage::none;
}

void repair(Place& place, const Content& wanted, const Patience& patience) {
    Relation rel = open(place, to_change, patience);
    const HeapTuple tuple = make_tuple(rel, place, wanted);
    const Buffer buffer = read_anything(rel);
    LockBuffer(buffer, BUFFER_LOCK_EXCLUSIVE);
    XLogRecPtr lsn = InvalidXLogRecPtr;
    // Another session may have repaired it already.
    if (find(place, BufferGetPage(buffer)).damage != Damage::none) {
        GenericXLogState* state = GenericXLogStart(rel);
        fill_page(GenericXLogRegisterBuffer(state, buffer, GENERIC_XLOG_FULL_IMAGE), *tuple);
        lsn = finish(state);
    }
    UnlockReleaseBuffer(buffer);
    relation_close(rel, to_change);
    flush(lsn);
}

}  // namespace snowflake_ids::wal_sequence
