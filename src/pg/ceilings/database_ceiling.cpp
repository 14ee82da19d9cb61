// Reads, checks, changes and repairs the page with the WAL ceiling of this database.
#include "pg/ceilings/database_ceiling.hpp"

extern "C" {
#include "access/generic_xlog.h"
#include "access/htup_details.h"
#include "access/relation.h"
#include "access/xlog.h"
#include "catalog/pg_class.h"
#include "commands/sequence.h"
#include "storage/bufmgr.h"
#include "utils/inval.h"
#include "utils/rel.h"
}

#include "ledger/ceiling_file.hpp"
#include "ledger/sealed.hpp"
#include "pg/server/extension_relation.hpp"
#include "pg/server/orphan.hpp"
#include "pg/server/shared_ledger.hpp"

namespace snowflake_ids::database_ceiling {

namespace {

// ---- the relation

constexpr const char* name = "wal_ceiling";
constexpr const char* purpose = "The sequence keeps ids unique across failover and recovery.";
Oid known = InvalidOid;  // see open_extension_relation()

void (*forget_ceiling)() = nullptr;            // the argument of watch()
XLogRecPtr last_position = InvalidXLogRecPtr;  // see position()

// InvalidOid means any relation.
void relation_changed(Datum, Oid relation) {
    if (relation == InvalidOid || relation == known) forget_ceiling();
}

// An unlogged sequence reaches no standby, and does not survive a crash.
bool is_logged(Relation rel) { return rel->rd_rel->relpersistence == RELPERSISTENCE_PERMANENT; }

Relation open_sequence(LOCKMODE lock, const Deadline& deadline) {
    Relation rel = open_extension_relation(known, name, RELKIND_SEQUENCE, lock, deadline);
    if (rel == nullptr) {
        ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                        errmsg("sequence \"snowflake_ids.wal_ceiling\" of extension snowflake_ids is missing"),
                        errdetail("%s", purpose),
                        errhint("Run ALTER EXTENSION snowflake_ids UPDATE, or create the extension again.")));
    }
    if (!is_logged(rel)) {
        ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                        errmsg("sequence \"snowflake_ids.wal_ceiling\" of extension snowflake_ids is unlogged"),
                        errdetail("%s", purpose), errhint("Run ALTER SEQUENCE snowflake_ids.wal_ceiling SET LOGGED.")));
    }
    return rel;
}

// ---- the page

// The end of a sequence's page, which only PostgreSQL's commands/sequence.c defines.
struct Special {
    uint32 magic;
};
constexpr uint32 sequence_magic = 0x1717;

enum class Damage : uint8 { none, empty_page, other_page, ahead_of_wal, no_tuple, check_bits };

const char* way_out() {
    return RecoveryInProgress()
               ? "Create this standby again from its primary. Until then, gen_gid() and gen_uuid7() work here."
               : "Call snowflake_ids.reset() as a superuser, with a time above every id. Until then, no id is generated, because it could repeat.";
}

[[noreturn]] void fail_damaged(Damage damage) {
    const char* what = damage == Damage::empty_page     ? "Its page is empty"
                       : damage == Damage::other_page   ? "Its page is not that of a sequence"
                       : damage == Damage::ahead_of_wal ? "Its page is from after the end of this server's WAL"
                       : damage == Damage::no_tuple     ? "Its page does not contain the tuple of a sequence"
                                                        : "The check bits of its value are wrong";
    ereport(ERROR, (errcode(ERRCODE_DATA_CORRUPTED),
                    errmsg("sequence \"snowflake_ids.wal_ceiling\" of extension snowflake_ids is damaged"),
                    errdetail("%s. %s", what, purpose), errhint("%s", way_out())));
    pg_unreachable();
}

// Adds a hint to PostgreSQL's own errors: a wrong checksum or header, or a file that is too short.
void explain_error(void*) {
    if (geterrcode() == ERRCODE_DATA_CORRUPTED) errhint("%s", way_out());
    errcontext("reading sequence \"snowflake_ids.wal_ceiling\" of extension snowflake_ids");
}

// The buffer is pinned, not locked.
Buffer read_buffer(Relation rel) {
    ErrorContextCallback context{error_context_stack, explain_error, nullptr};
    error_context_stack = &context;
    const Buffer buffer = ReadBuffer(rel, 0);
    error_context_stack = context.previous;
    return buffer;
}

// If the page is damaged, `data` is null and the ceiling is 0.
struct Found {
    Damage damage = Damage::none;
    Form_pg_sequence_data data = nullptr;  // inside the page
    WalCeiling ceiling{};
};

// Checks more than read_seq_tuple(), because a lost write or zero_damaged_pages can leave a page that passes checksums
// and that nobody wrote. Raises no error.
Found find_tuple(Page page) {
    if (PageIsNew(page)) return {Damage::empty_page};
    const auto* header = reinterpret_cast<PageHeader>(page);
    const Size lower = header->pd_lower, upper = header->pd_upper, special = header->pd_special;
    if (PageGetPageSize(page) != BLCKSZ || special != BLCKSZ - MAXALIGN(sizeof(Special)) || upper > special ||
        lower > upper || lower < SizeOfPageHeaderData)
        return {Damage::other_page};
    if (reinterpret_cast<const Special*>(reinterpret_cast<const char*>(page) + special)->magic != sequence_magic)
        return {Damage::other_page};

    // PostgreSQL could never write such a page, because it cannot flush WAL up to its LSN.
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

    auto* data = reinterpret_cast<Form_pg_sequence_data>(reinterpret_cast<char*>(tuple) + tuple->t_hoff);
    const auto ms = ledger::unseal(data->last_value);
    if (!ms) return {Damage::check_bits};
    return {Damage::none, data, {Ceiling{milliseconds{*ms}}, static_cast<uint64>(data->log_cnt)}};
}

static_assert(number_of(ledger::max_ceiling) == ledger::max_sealed);
int64 sealed_value(const WalCeiling& c) { return ledger::seal(static_cast<uint64>(number_of(c.until))); }

bool is_new(const WalCeiling& c) { return c.until == Ceiling{}; }

// ---- changes

// Another server may already write its own WAL to these files, so an orphan ends here.
void flush(XLogRecPtr lsn) {
    if (lsn == InvalidXLogRecPtr) return;
    end_if_orphaned();
    XLogFlush(lsn);
}

// Checked with the buffer locked, because the server may have ended during the wait for it.
XLogRecPtr finish_change(GenericXLogState* state) {
    end_if_orphaned();
    return GenericXLogFinish(state);
}

struct Change {
    Damage damage;
    WalCeiling before, after;
};

// As nextval(). Otherwise, ALTER SEQUENCE could give the relation another file, and WAL would be left for one that no
// longer exists.
constexpr LOCKMODE to_change = RowExclusiveLock;

// `buffer` is the page, locked exclusively; it and `rel` are released. A damaged page stays as it is.
template <class Next>
Change change_and_close(Relation rel, Buffer buffer, Next next) {
    const Page page = BufferGetPage(buffer);
    const Found found = find_tuple(page);
    const WalCeiling before = found.ceiling;
    WalCeiling after = before;
    XLogRecPtr lsn = InvalidXLogRecPtr;
    if (found.damage == Damage::none) {
        lsn = PageGetLSN(page);
        after = next(before);
        if (after != before) {
            GenericXLogState* state = GenericXLogStart(rel);
            const Form_pg_sequence_data data = find_tuple(GenericXLogRegisterBuffer(state, buffer, 0)).data;
            data->last_value = sealed_value(after);
            data->log_cnt = static_cast<int64>(after.life_id);
            data->is_called = true;
            lsn = finish_change(state);
        }
    }
    UnlockReleaseBuffer(buffer);
    relation_close(rel, to_change);
    flush(lsn);
    last_position = lsn;
    return {found.damage, before, after};
}

template <class Next>
Change change(const Deadline& deadline, Next next) {
    Relation rel = open_sequence(to_change, deadline);
    const Buffer buffer = read_buffer(rel);
    LockBuffer(buffer, BUFFER_LOCK_EXCLUSIVE);
    const Change c = change_and_close(rel, buffer, next);
    if (c.damage != Damage::none) fail_damaged(c.damage);
    return c;
}

WalCeiling higher(const WalCeiling& now, const WalCeiling& wanted) {
    return {Max(now.until, wanted.until), wanted.life_id};
}

// ---- repair: the page as PostgreSQL creates it

void fill_page(Page page, const HeapTupleData& tuple) {
    PageInit(page, BLCKSZ, sizeof(Special));
    reinterpret_cast<Special*>(PageGetSpecialPointer(page))->magic = sequence_magic;
    if (PageAddItemExtended(page, reinterpret_cast<char*>(tuple.t_data), tuple.t_len, InvalidOffsetNumber, 0) !=
        FirstOffsetNumber)
        elog(ERROR, "a page of a sequence has no room for its tuple");
}

HeapTuple make_tuple(Relation rel, const WalCeiling& c) {
    Datum values[] = {Int64GetDatum(sealed_value(c)), Int64GetDatum(static_cast<int64>(c.life_id)), BoolGetDatum(true)};
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

// As read_buffer(), whatever is on disk: zeros if PostgreSQL refuses to read the page. A file without a page gets one.
Buffer read_anything(Relation rel) {
    if (RelationGetNumberOfBlocks(rel) == 0) {
        end_if_orphaned();
        ReleaseBuffer(extend_relation(rel));
    }
    return ReadBufferExtended(rel, MAIN_FORKNUM, 0, RBM_ZERO_ON_ERROR, nullptr);
}

}  // namespace

// PostgreSQL cannot remove a relcache callback.
void watch(void (*forget)()) {
    if (forget_ceiling == nullptr) CacheRegisterRelcacheCallback(relation_changed, Datum{0});
    forget_ceiling = forget;
}

WalCeiling read(const Deadline& deadline) {
    Relation rel = open_sequence(AccessShareLock, deadline);
    const Buffer buffer = read_buffer(rel);
    LockBuffer(buffer, BUFFER_LOCK_SHARE);
    const Page page = BufferGetPage(buffer);
    const Found found = find_tuple(page);
    const XLogRecPtr lsn = PageGetLSN(page);
    UnlockReleaseBuffer(buffer);
    relation_close(rel, AccessShareLock);
    if (found.damage != Damage::none) fail_damaged(found.damage);
    // Another backend may have written this ceiling and not flushed it yet.
    if (!RecoveryInProgress()) flush(lsn);
    last_position = lsn;
    return found.ceiling;
}

WalCeiling lift(const WalCeiling& wanted, const Deadline& deadline) {
    const Change c = change(deadline, [&](const WalCeiling& now) { return is_new(now) ? now : higher(now, wanted); });
    if (!is_new(c.after)) return c.after;
    // If the extension was dropped and created again, ids below the old relation's ceiling exist. None is above the
    // highest ceiling of the slots.
    const WalCeiling least{Max(wanted.until, ledger::highest_ceiling(shared_ledger())), wanted.life_id};
    return change(deadline, [&](const WalCeiling& now) { return higher(now, least); }).after;
}

Ceiling lift_if_free(UnixTime soon, const WalCeiling& wanted) {
    Relation rel = open_extension_relation_if_free(known, name, RELKIND_SEQUENCE, to_change);
    if (rel == nullptr) return {};
    if (!is_logged(rel)) {
        relation_close(rel, to_change);
        return {};
    }
    const Buffer buffer = read_buffer(rel);
    if (!ConditionalLockBuffer(buffer)) {
        ReleaseBuffer(buffer);
        relation_close(rel, to_change);
        return {};
    }
    const Change c = change_and_close(rel, buffer, [&](const WalCeiling& now) {
        return is_new(now) || now.until > soon ? now : higher(now, wanted);
    });
    return c.damage == Damage::none ? c.after.until : Ceiling{};
}

XLogRecPtr position() { return last_position; }

WalCeiling replace(const WalCeiling& c, const Deadline& deadline) {
    return change(deadline, [&](const WalCeiling&) { return c; }).before;
}

bool is_damaged(const Deadline& deadline) {
    Relation rel = open_sequence(to_change, deadline);
    const Buffer buffer = read_anything(rel);
    LockBuffer(buffer, BUFFER_LOCK_SHARE);
    const Found found = find_tuple(BufferGetPage(buffer));
    UnlockReleaseBuffer(buffer);
    relation_close(rel, to_change);
    return found.damage != Damage::none;
}

// WAL gets a full image, so replay does not read the damaged page.
void repair(const WalCeiling& c, const Deadline& deadline) {
    Relation rel = open_sequence(to_change, deadline);
    const HeapTuple tuple = make_tuple(rel, c);
    const Buffer buffer = read_anything(rel);
    LockBuffer(buffer, BUFFER_LOCK_EXCLUSIVE);
    XLogRecPtr lsn = InvalidXLogRecPtr;
    if (find_tuple(BufferGetPage(buffer)).damage != Damage::none) {
        GenericXLogState* state = GenericXLogStart(rel);
        fill_page(GenericXLogRegisterBuffer(state, buffer, GENERIC_XLOG_FULL_IMAGE), *tuple);
        lsn = finish_change(state);
    }
    UnlockReleaseBuffer(buffer);
    relation_close(rel, to_change);
    flush(lsn);
}

}  // namespace snowflake_ids::database_ceiling
