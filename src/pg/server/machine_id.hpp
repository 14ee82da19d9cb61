// The node that this server draws with: from the settings, from the system identifier if nothing is set, another one in
// recovery. And the warnings about nodes that two servers may share.
#pragma once

#include "core/machine_id.hpp"
#include "pg/pg.hpp"

namespace snowflake_ids::machine_id {

inline constexpr unsigned sno_bits = 16;

// Of a primary, or of the primary that this standby's settings describe.
uint32 of_primary(unsigned node_bits);

// To draw with. Raises an error in recovery if there is no node for that. `name`: of the format.
uint32 to_draw_with(const char* name, unsigned node_bits, bool in_recovery);

[[noreturn]] void refuse_in_recovery(const char* name, const char* hint);

// Warn once a session: of a machine id that is not set, and of ids that have none, where servers share tables.
void warn_if_not_set();
void warn_of_no_node(const char* name);

}  // namespace snowflake_ids::machine_id
