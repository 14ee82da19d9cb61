// Layouts by name: those that are known, and those that were created in this database.
//
// Created ones are rows of the table snowflake_ids_layout, a member of the extension, which pg_dump dumps. A backend
// keeps what it has looked up until the table changes. No row is ever updated, and a row can be deleted only while no
// id was drawn from its numbers on this server.
#pragma once

#include "core/layout.hpp"
#include "pg/pg.hpp"

namespace snowflake_ids {

struct Generator;

struct NamedLayout {
    char name[NAMEDATALEN];  // the key
    Layout layout;
    bool valid;
    bool generates;
    bool created;  // in this database: not one of the known ones
    // For those who draw (draw/snowflake_generate.cpp). `generator` is null again whenever the layout was looked up.
    Generator* generator;
    Generator* own;
};

namespace layouts {

// The layout in argument `n`, by its name. Raises an error if there is none. Stays where it is for the backend's
// life, but may be another layout (or none) after invalidation messages have been read.
NamedLayout& argument(FunctionCallInfo fcinfo, int n);

// Is it Snowflake-SI? Its base clock and machine id width are settings, which may change from call to call.
bool from_settings(const NamedLayout& named);

// The same by name; null if there is none.
NamedLayout* find(const char* name, std::size_t length);

// Looks it up again, and keeps a created one from being dropped before the end of the transaction. Raises an error if
// it is gone. The caller has to find its generator again.
void pin(NamedLayout& named);

// The layout in the arguments epoch, tick, timestamp_bits, node_bits, sequence_bits, node_last from `n` on.
Layout from_fields(FunctionCallInfo fcinfo, int n);

// What is named in the argument `n`, or described by those from `n` on where there are more than `count`.
inline Layout named_or_fields(FunctionCallInfo fcinfo, int n, int fields, int count) {
    return PG_NARGS() > count ? from_fields(fcinfo, fields) : argument(fcinfo, n).layout;
}

// Snowflake-SI's, from the arguments base_clock and machine_bits after the first `n`, or from the settings if there are
// none.
Layout snowflake_si_argument(FunctionCallInfo fcinfo, int n);

}  // namespace layouts
}  // namespace snowflake_ids
