// The generator of a layout by name.
#pragma once

#include "pg/generate/generator.hpp"
#include "pg/layouts/layouts.hpp"
#include "pg/pg.hpp"

namespace snowflake_ids::generator {

// The generator of the layout, set up. Raises an error if no ids of the layout can be generated. Mastic and
// Snowflake-SI share theirs with gen_mastic() and gen_snowflake_si(), so that the ids of a session are in order
// whichever function it calls.
Generator& ready_snowflake(NamedLayout& named);

}  // namespace snowflake_ids::generator
