// The node of this server's ids (the setting machine_id, or else from the system identifier), and the warnings if two
// servers may share it.
#pragma once

#include "core/automatic_machine_id.hpp"
#include "pg/pg.hpp"

namespace snowflake_ids::machine_id {

inline constexpr unsigned sno_bits = 16;  // the width of the node of a sno, its partition

// A standby with the primary's settings has that of the primary. The caller checks that it fits `node_bits`.
uint32 of_server(unsigned node_bits);

// For snowflake_ids.status(): "automatic", or the source as in pg_settings.
const char* source();

// Warns once in a life if no machine id is set, and other servers may write ids into the same tables. With the name of
// a format without machine ids, warns once in a life if other servers may generate its ids too.
void warn_if_shared(const char* nodeless_format = nullptr);

}  // namespace snowflake_ids::machine_id
