// Finds a Layout (core/layout.hpp) by its name, which is built in or was created in this database.
//
// Created layouts are rows of a member table, which pg_dump dumps. They are never updated, and deleted only while no id
// of their slot (ledger/packed_layout.hpp) has been generated on this server.
#pragma once

#include "core/layout.hpp"
#include "pg/pg.hpp"

namespace snowflake_ids {

struct Generator;

struct NamedLayout {
    char name[NAMEDATALEN];  // the key
    Layout layout;
    bool valid;      // false: the table may have changed since the layout was looked up
    bool generates;  // false: can only be decoded
    bool created;    // in this database; false: built-in
    // Of src/pg/generate: the generator of the layout. A look-up may find another layout, so it makes `ready` null. `own`
    // is null for Mastic and Snowflake-SI, and never removed.
    Generator *ready, *own;
    NamedLayout* next;
};

namespace layouts {

// Raises an error if there is no such layout. The reference stays usable as long as the backend runs. But after an
// invalidation message NamedLayout::valid may be false: the name may belong to another layout, or to none.
NamedLayout& argument(FunctionCallInfo fcinfo, int n);

[[noreturn]] void fail_unknown(const char* name);

// Raises an error if there is none, and `named` stays invalid. With `keep_lock`, the table stays locked, so that no layout
// can be dropped before the end of the transaction.
void look_up(NamedLayout& named, bool keep_lock);

// epoch, tick, timestamp_bits, node_bits, sequence_bits, node_last, from argument `n` on. Raises an error if they are
// no layout.
Layout from_fields(FunctionCallInfo fcinfo, int n);

}  // namespace layouts
}  // namespace snowflake_ids
