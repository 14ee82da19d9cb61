// The room of layouts: a layout by its name, which is built in or was created in this database.
//
// Enters: a name, from a SQL function or from a generator. Leaves: a core Layout (core/layout.hpp), or an error. Its
// generators are in generate/snowflake_generate.cpp, its fields in types/snowflake_fields.cpp.
//
// Created ones are rows of the table snowflake_ids.created_layout, a member of the extension. pg_dump dumps its rows. A
// backend caches what it has looked up until the table changes. No row is ever updated. A row can be deleted only while
// no id of its numbering has been generated on this server.
#pragma once

#include "core/layout.hpp"
#include "pg/pg.hpp"

namespace snowflake_ids {

struct NamedLayout {
    char name[NAMEDATALEN];  // the key
    Layout layout;
    bool valid;
    bool generates;
    bool created;      // in this database; false: built-in
    uint64 looked_up;  // how many times it was looked up; each time it may have become another layout
};

namespace layouts {

// The layout in argument `n`, by its name. Raises an error if there is none. The reference stays valid as long as the
// backend lives, but after invalidation messages were read it may be another layout, or none.
NamedLayout& argument(FunctionCallInfo fcinfo, int n);

// The layout of this name; null if there is none.
NamedLayout* find(const char* name, std::size_t length);

// Raises the error that no layout has this name.
[[noreturn]] void fail_unknown(const char* name);

// Looks the layout up again, and keeps a created one from being dropped before the end of the transaction. Raises an
// error if it does not exist any more.
void pin(NamedLayout& named);

// The layout in the arguments epoch, tick, timestamp_bits, node_bits, sequence_bits, node_last from `n` on.
Layout from_fields(FunctionCallInfo fcinfo, int n);

// Which arguments of a function give the layout: argument `name`, if the function has `count` arguments; the six fields
// from argument `fields` on, if it has more.
struct LayoutArguments {
    int name, fields, count;
};
inline Layout named_or_fields(FunctionCallInfo fcinfo, const LayoutArguments& at) {
    return PG_NARGS() > at.count ? from_fields(fcinfo, at.fields) : argument(fcinfo, at.name).layout;
}

}  // namespace layouts
}  // namespace snowflake_ids
