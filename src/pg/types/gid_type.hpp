// Kinds of gid as SQL spells them.
#pragma once

#include "core/gid.hpp"
#include "pg/pg.hpp"

namespace snowflake_ids {

// volume, log or segment; an error for other texts.
gid::Kind kind_argument(FunctionCallInfo fcinfo, int n);

inline const char* kind_name(gid::Kind kind) { return gid::kind_names[static_cast<int>(kind)].data(); }

}  // namespace snowflake_ids
