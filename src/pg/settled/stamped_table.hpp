// Whether a trigger stamps all rows of a table.
#pragma once

#include "ledger/formats.hpp"
#include "pg/pg.hpp"

namespace snowflake_ids {

struct StampFormat {
    ledger::SqlFormat ids = ledger::SqlFormat::none;  // none: any
    const char* layout = nullptr;                     // NamedLayout::name, of SqlFormat::layout

    bool operator==(const StampFormat&) const = default;
};
inline constexpr StampFormat any_format{};

[[noreturn]] void fail_no_table(Oid table);

// A table with its partitions and children. Valid until the next call.
struct TableParts {
    const Oid* oids;
    int count;
    TransactionId changed_by;  // the latest that has changed one of them, by what pg_class says; invalid: not known
    bool known;                // since an earlier call of this session; otherwise one may just have been attached
};

// Raises an error unless the oid is that of a table or partitioned table of this database, no other session's temporary
// one, and each row that comes into it, its partitions or its children passes a trigger that stamps it with an id of
// this format. Call it after the promise was lifted: then it knows all partitions with rows that do not keep the
// promise.
TableParts check_stamped(Oid table, StampFormat format);

// True if one of them was rewritten after the snapshot was taken, as some forms of ALTER TABLE do. PostgreSQL then
// shows it as empty, and a reader would pass over its rows.
bool were_rewritten(const TableParts& parts, Snapshot snapshot);

}  // namespace snowflake_ids
