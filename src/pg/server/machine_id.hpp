// The node in the ids of this server. It comes from the settings, or from the system identifier if nothing is set; in
// recovery it is another one. The warnings about nodes that two servers may share are here too.
#pragma once

#include "core/automatic_machine_id.hpp"
#include "pg/pg.hpp"

namespace snowflake_ids::machine_id {

inline constexpr unsigned sno_bits = 16;

// The node of this server when it is not in recovery. On a standby this is the node of its primary, if both have the
// same settings.
uint32 of_primary(unsigned node_bits);

// Where the present machine id comes from: "automatic", or the source of the setting as pg_settings shows it.
const char* source(bool in_recovery);

// The node for new ids. Raises an error in recovery if none is set for that. `name` is that of the format.
uint32 to_generate_with(const char* name, unsigned node_bits, bool in_recovery);

// Raises the error that ids of the format `name` cannot be generated in recovery.
[[noreturn]] void fail_in_recovery(const char* name, const char* hint);

// These warn once per session, if other servers may write ids into the same tables: that no machine id is set; that ids
// of the format `name` have no machine id.
void warn_if_not_set();
void warn_of_no_node(const char* name);

}  // namespace snowflake_ids::machine_id
