// Reads, checks, changes and repairs the page with the WAL ceiling of this database.
#include "pg/ceilings/ceiling_in_wal.hpp"

extern "C" {
#include "access/generic_xlog.h"
#include "access/htup_details.h"
#include "access/relation.h"
#include "access/xlog.h"
#include "commands/extension.h"
#include "executor/spi.h"
#include "storage/bufmgr.h"
#include "utils/inval.h"
#include "utils/rel.h"
}

#include "ledger/ceiling_file.hpp"
#include "pg/datum.hpp"
#include "pg/server/catch_error.hpp"
#include "pg/server/extension_relation.hpp"
#include "pg/server/orphaned_backend.hpp"
#include "pg/server/settings.hpp"
#include "pg/server/shared_ledger.hpp"

namespace snowflake_ids::ceiling_in_wal {

constinit Seen seen{};

namespace {

// ---- the relation

constexpr const char* name = "wal_ceiling";
Oid known = InvalidOid;

// InvalidOid means any relation.
void relation_changed(Datum, Oid relation) {
    if (relation != InvalidOid && relation != known) return;
    seen = {};
    settings::changes++;
}

// ---- the page

// The row of the page, decoded. Row is its stored form.
struct Content {
    WalCeiling ceiling{};
    ledger::FeedLives lives{};

    bool operator==(const Content&) const = default;
};

// The last column is a bytea that PostgreSQL neither compresses nor shortens.
struct Row {
    TimestampTz until;
    uint64 life_id;
    uint64 check_bits;
    char lives[VARHDRSZ + sizeof(ledger::FeedLives)];
};
constexpr int columns = 4;
constexpr Size row_length = offsetof(Row, lives) + sizeof(Row::lives);

uint64 check_bits(const Content& c) {
    uint64 bits = ledger::check_bits(c.ceiling);
    for (const ledger::FeedLife& l : c.lives.all)
        bits = ledger::mix(ledger::mix(ledger::mix(bits, l.id), l.first_xid), l.wal);
    return bits;
}

const char* way_out() {
    return RecoveryInProgress()
               ? "Create this standby again from its primary. Until then, gen_gid() and gen_uuid7() work here."
               : "Call snowflake_ids.reset() as a superuser, with a time above every id. Until then, no id is generated, because it could repeat.";
}

[[noreturn]] void fail_damaged(const char* damage) {
    ereport(ERROR,
            (errcode(ERRCODE_DATA_CORRUPTED),
             errmsg("relation \"snowflake_ids.wal_ceiling\" of extension snowflake_ids is damaged"),
             errdetail("%s. It keeps ids unique across failover and recovery.", damage), errhint("%s", way_out())));
}

// Adds a hint to PostgreSQL's own errors: a wrong checksum or header, or a file that is too short.
void explain_error(void*) {
    if (geterrcode() == ERRCODE_DATA_CORRUPTED) errhint("%s", way_out());
    errcontext("reading relation \"snowflake_ids.wal_ceiling\" of extension snowflake_ids");
}

Buffer read_buffer(Relation rel) {
    ErrorContextCallback context{error_context_stack, explain_error, nullptr};
    error_context_stack = &context;
    const Buffer buffer = ReadBuffer(rel, 0);
    error_context_stack = context.previous;
    return buffer;
}

struct Found {
    const char* damage = nullptr;  // for the detail of an error; null: none
    Row* row = nullptr;            // inside the page
    Content content{};
};

// Checks more than PostgreSQL does, because a lost write or zero_damaged_pages can leave a page that passes checksums
// and that nobody wrote. Raises no error.
Found find_row(Page page) {
    constexpr const char* no_row = "Its page does not contain its row";
    if (PageIsNew(page)) return {"Its page is empty"};
    const auto* header = reinterpret_cast<PageHeader>(page);
    // PostgreSQL has read no page whose pd_lower is above pd_upper, or that above pd_special.
    if (PageGetPageSize(page) != BLCKSZ || header->pd_special != BLCKSZ) return {"Its page is not that of a table"};

    // PostgreSQL could never write such a page, because it cannot flush WAL up to its LSN.
    if (!RecoveryInProgress() && PageGetLSN(page) > GetXLogInsertRecPtr())
        return {"Its page is from after the end of this server's WAL"};

    if (header->pd_lower < SizeOfPageHeaderData + sizeof(ItemIdData)) return {no_row};
    const ItemId item = PageGetItemId(page, FirstOffsetNumber);
    const Size offset = ItemIdGetOffset(item), length = ItemIdGetLength(item);
    constexpr Size header_length = MAXALIGN(SizeofHeapTupleHeader);
    if (!ItemIdIsNormal(item) || offset != MAXALIGN(offset) || offset < header->pd_upper || offset + length > BLCKSZ ||
        length != header_length + row_length)
        return {no_row};
    auto* tuple = reinterpret_cast<HeapTupleHeader>(PageGetItem(page, item));
    if (tuple->t_hoff != header_length || HeapTupleHeaderGetNatts(tuple) != columns ||
        (tuple->t_infomask & HEAP_HASNULL) != 0)
        return {no_row};

    auto* row = reinterpret_cast<Row*>(reinterpret_cast<char*>(tuple) + header_length);
    if (VARATT_IS_EXTENDED(row->lives) || VARSIZE(row->lives) != sizeof row->lives) return {no_row};
    Content c{{std::chrono::floor<milliseconds>(unix_time(row->until)), row->life_id}, {}};
    memcpy(&c.lives, VARDATA(row->lives), sizeof c.lives);
    if (row->check_bits != check_bits(c)) return {"The check bits of its row are wrong"};
    return {nullptr, row, c};
}

Row row_of(const Content& c) {
    Row row{timestamptz(c.ceiling.until), c.ceiling.life_id, check_bits(c), {}};
    SET_VARSIZE(row.lives, sizeof row.lives);
    memcpy(VARDATA(row.lives), &c.lives, sizeof c.lives);
    return row;
}

bool is_new(const WalCeiling& c) { return c.until == Ceiling{}; }

// ---- changes

// Another server may already write its own WAL to these files, so an orphan ends here.
void flush(XLogRecPtr lsn) {
    if (lsn == InvalidXLogRecPtr) return;
    end_if_orphaned();
    XLogFlush(lsn);
}

struct Change {
    const char* damage;
    Content before, after;
    XLogRecPtr lsn;  // of the page; 0: damaged
};

// The lock of INSERT. It keeps REFRESH and VACUUM FULL from giving the relation another file, because WAL for the old
// file would be left.
constexpr LOCKMODE to_change = RowExclusiveLock;

// `buffer` is locked exclusively. `next(Content&)` changes what is there. A damaged page stays as it is.
template <class Next>
Change change_unflushed_and_close(Relation rel, Buffer buffer, Next next) {
    const Page page = BufferGetPage(buffer);
    const Found found = find_row(page);
    const Content before = found.content;
    Content after = before;
    XLogRecPtr lsn = InvalidXLogRecPtr;
    if (found.damage == nullptr) {
        lsn = PageGetLSN(page);
        next(after);
        if (after != before) {
            GenericXLogState* state = GenericXLogStart(rel);
            const Row row = row_of(after);
            memcpy(find_row(GenericXLogRegisterBuffer(state, buffer, 0)).row, &row, row_length);
            end_if_orphaned();  // the server may have ended during the wait for the buffer
            lsn = GenericXLogFinish(state);
        }
    }
    UnlockReleaseBuffer(buffer);
    relation_close(rel, to_change);
    return {found.damage, before, after, lsn};
}

template <class Next>
Change change(const Deadline& deadline, Next next) {
    Relation rel = open_extension_relation(known, name, to_change, deadline);
    const Buffer buffer = read_buffer(rel);
    LockBuffer(buffer, BUFFER_LOCK_EXCLUSIVE);
    const Change c = change_unflushed_and_close(rel, buffer, next);
    if (c.damage != nullptr) fail_damaged(c.damage);
    flush(c.lsn);
    seen.position = c.lsn;
    return c;
}

void lift_to(Content& c, const WalCeiling& wanted) { c.ceiling = {Max(c.ceiling.until, wanted.until), wanted.life_id}; }

// ---- REFRESH MATERIALIZED VIEW

// What the row becomes if the page is damaged. Null: an error.
const WalCeiling* replacement = nullptr;

Content read_page(Relation rel) {
    const Buffer buffer = read_buffer(rel);
    LockBuffer(buffer, BUFFER_LOCK_SHARE);
    const Found found = find_row(BufferGetPage(buffer));
    const XLogRecPtr lsn = PageGetLSN(BufferGetPage(buffer));
    UnlockReleaseBuffer(buffer);
    if (found.damage != nullptr) fail_damaged(found.damage);
    seen.position = lsn;
    return found.content;
}

Content read_and_flush(const Deadline& deadline) {
    Relation rel = open_extension_relation(known, name, AccessShareLock, deadline);
    const Content found = read_page(rel);
    relation_close(rel, AccessShareLock);
    // Another backend may have written this and not flushed it yet.
    if (!RecoveryInProgress()) flush(seen.position);
    return found;
}

}  // namespace

void watch() { CacheRegisterRelcacheCallback(relation_changed, Datum{0}); }

WalCeiling read(const Deadline& deadline) { return read_and_flush(deadline).ceiling; }

ledger::FeedLives lives(const Deadline& deadline) { return read_and_flush(deadline).lives; }

void note_life(const ledger::FeedLife& life, const Deadline& deadline) {
    (void) change(deadline, [&](Content& c) { c.lives.note(life); });
}

WalCeiling lift(const WalCeiling& wanted, const Deadline& deadline) {
    const ledger::Ledger& shared = shared_ledger();
    const Change c = change(deadline, [&](Content& now) {
        // If the extension was dropped and created again, ids below the old relation's ceiling exist. None is above the
        // highest ceiling of the slots.
        const Ceiling least = is_new(now.ceiling) ? ledger::highest_ceiling(shared) : Ceiling{};
        lift_to(now, {Max(wanted.until, least), wanted.life_id});
    });
    return c.after.ceiling;
}

Ceiling lift_if_free(UnixTime soon, const WalCeiling& wanted) {
    Relation rel = open_extension_relation_if_free(known, name, to_change);
    if (rel == nullptr) return {};
    const Buffer buffer = read_buffer(rel);
    if (!ConditionalLockBuffer(buffer)) {
        ReleaseBuffer(buffer);
        relation_close(rel, to_change);
        return {};
    }
    const Change c = change_unflushed_and_close(rel, buffer, [&](Content& now) {
        if (!is_new(now.ceiling) && now.ceiling.until <= soon) lift_to(now, wanted);
    });
    // The session that has lifted it is flushing.
    if (c.damage != nullptr || (c.after == c.before && XLogNeedsFlush(c.lsn))) return {};
    flush(c.lsn);
    seen.position = c.lsn;
    return c.after.ceiling.until;
}

WalCeiling exchange(const WalCeiling& c, const Deadline& deadline) {
    return change(deadline, [&](Content& now) { now.ceiling = c; }).before.ceiling;
}

bool is_damaged() {
    Relation rel = open_extension_relation_if_free(known, name, AccessShareLock);
    if (rel == nullptr) return false;
    const ErrorData* error = catch_error([rel] { (void) read_page(rel); });
    relation_close(rel, AccessShareLock);
    if (error != nullptr && error->sqlerrcode != ERRCODE_DATA_CORRUPTED) ReThrowError(const_cast<ErrorData*>(error));
    return error != nullptr;
}

void repair(const WalCeiling& c) {
    replacement = &c;
    PG_TRY();
    {
        SPI_connect();
        SPI_execute("REFRESH MATERIALIZED VIEW snowflake_ids.wal_ceiling", false, 0);
        SPI_finish();
    }
    PG_FINALLY();
    { replacement = nullptr; }
    PG_END_TRY();
}

}  // namespace snowflake_ids::ceiling_in_wal

namespace snowflake_ids {

// The query of the materialized view. CREATE EXTENSION snowflake_ids gets a new ceiling.
FUNCTION(snowflake_ids_read_ceiling) {
    using namespace ceiling_in_wal;
    const bool created = creating_extension && CurrentExtensionObject == get_extension_oid("snowflake_ids", true);
    const Content c = created                                  ? Content{}
                      : replacement != nullptr && is_damaged() ? Content{*replacement, {}}
                                                               : read_and_flush({});
    const Row row = row_of(c);
    Datum values[columns] = {TimestampTzGetDatum(row.until), UInt64GetDatum(row.life_id),
                             UInt64GetDatum(row.check_bits), PointerGetDatum(row.lives)};
    PG_RETURN_DATUM(record(fcinfo, values, columns));
}

}  // namespace snowflake_ids
