// The generator of a layout that gen_snowflake() gets by its name.
#pragma once

#include "pg/generate/generator.hpp"
#include "pg/layouts/layouts.hpp"
#include "pg/pg.hpp"

namespace snowflake_ids::generator {

// This session's generator of the layout, set up (set_up.hpp). For Mastic and Snowflake-SI it is that of gen_mastic()
// or gen_snowflake_si(), so that the ids of a session are in order whichever function it calls.
Generator& ready_snowflake(NamedLayout& named);

}  // namespace snowflake_ids::generator
