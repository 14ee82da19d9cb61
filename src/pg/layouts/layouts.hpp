// The room of layouts: a layout by its name, which is built in or was created in this database.
//
// A SQL function or a generator gives it a name. It returns a core Layout (core/layout.hpp), or raises an error.
// Generators of layouts are in generate/snowflake_generate.cpp, fields of their ids in types/snowflake_fields.cpp.
//
// Created layouts are rows of the table snowflake_ids.created_layout, a member of the extension. pg_dump dumps its
// rows. A backend caches what it has looked up until the table changes. No row is ever updated. A row can be deleted
// only while no id of its numbering (epoch, tick and widths, see ledger/numbering.hpp) has been generated on this
// server.
#pragma once

#include "core/layout.hpp"
#include "pg/pg.hpp"

namespace snowflake_ids {

// A layout in the cache of a backend.
struct NamedLayout {
    char name[NAMEDATALEN];  // the key
    Layout layout;
    bool valid;        // false: the table may have changed since the layout was looked up
    bool generates;    // false: ids of a built-in layout that can only be decoded
    bool created;      // in this database; false: built-in
    uint64 looked_up;  // how many times it was looked up; each time it may have become another layout
};

namespace layouts {

// The layout whose name is argument `n`. Raises an error if there is none. The reference stays usable as long as the
// backend runs. But after PostgreSQL has read invalidation messages, NamedLayout::valid may be false, because the name
// may now belong to another layout, or to none.
NamedLayout& argument(FunctionCallInfo fcinfo, int n);

// The layout with this name, which has `length` bytes; null if there is none. For how long the pointer can be used, see
// argument().
NamedLayout* find(const char* name, std::size_t length);

// Raises the error that no layout has this name.
[[noreturn]] void fail_unknown(const char* name);

// Looks the layout up again, and keeps the table locked, so that no layout can be dropped before the end of the
// transaction. Raises an error if no layout has the name any more.
void pin(NamedLayout& named);

// The layout in the arguments epoch, tick, timestamp_bits, node_bits, sequence_bits, node_last from `n` on. Raises an
// error if they are no layout.
Layout from_fields(FunctionCallInfo fcinfo, int n);

// Many SQL functions have two forms. In the form with `count` arguments, argument `name` is the name of a layout. In
// the form with more arguments, the six fields of a layout begin at argument `fields`.
struct LayoutArguments {
    int name, fields, count;
};
// The layout in these arguments. Raises an error if there is none.
inline Layout named_or_fields(FunctionCallInfo fcinfo, const LayoutArguments& at) {
    return PG_NARGS() > at.count ? from_fields(fcinfo, at.fields) : argument(fcinfo, at.name).layout;
}

}  // namespace layouts
}  // namespace snowflake_ids
