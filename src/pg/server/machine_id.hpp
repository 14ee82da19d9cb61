// The node in the ids of this server. It comes from the setting machine_id, or from the system identifier if this is
// not set. In recovery it is standby_machine_id. The warnings about nodes that two servers may share are here too.
#pragma once

#include "core/automatic_machine_id.hpp"
#include "pg/pg.hpp"

namespace snowflake_ids::machine_id {

inline constexpr unsigned sno_bits = 16;  // the width of the node of a sno, its partition

// The node of this server when it is not in recovery, for ids with this many node bits. On a standby this is the node
// of its primary, if both have the same settings.
uint32 of_primary(unsigned node_bits);

// Where the present machine id comes from, for snowflake_ids.status(): "automatic" if none is set, or the source of the
// setting as pg_settings shows it. In recovery, it is always the source of standby_machine_id: "default" if that is not
// set.
const char* source(bool in_recovery);

// The node for new ids. `name` is the name of the format. In recovery, it raises an error if no standby_machine_id is
// set, or if the primary has the same node. A node that is set may need more than `node_bits`: the caller checks that.
uint32 to_generate_with(const char* name, unsigned node_bits, bool in_recovery);

// Raises the error that ids of the format `name` cannot be generated in recovery.
[[noreturn]] void fail_in_recovery(const char* name, const char* hint);

// Warns once in a life of the server if no machine id is set, and other servers may write ids into the same tables. In recovery, it
// does nothing.
void warn_if_not_set();
// Warns once in a life of the server that ids of the format `name` have no machine id, if other servers may generate such
// ids too.
void warn_of_no_node(const char* name);

}  // namespace snowflake_ids::machine_id
