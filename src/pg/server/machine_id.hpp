// The node that this server draws with. It comes from the settings; if nothing is set, from the system identifier; in
// recovery it is another one. And the warnings about nodes that two servers may share.
#pragma once

#include "core/automatic_machine_id.hpp"
#include "pg/pg.hpp"

namespace snowflake_ids::machine_id {

inline constexpr unsigned sno_bits = 16;

// The node of this server as a primary; on a standby, that of its primary, if both have the same settings.
uint32 of_primary(unsigned node_bits);

// Where the machine id to draw with comes from: "automatic", or the source of the setting as pg_settings has it.
const char* source(bool in_recovery);

// The node to draw with. Raises an error in recovery if no node is set for it. `name`: of the format.
uint32 to_generate_with(const char* name, unsigned node_bits, bool in_recovery);

[[noreturn]] void fail_in_recovery(const char* name, const char* hint);

// Warn once per session, if servers share tables: that no machine id is set; that the ids have no machine id.
void warn_if_not_set();
void warn_of_no_node(const char* name);

}  // namespace snowflake_ids::machine_id
