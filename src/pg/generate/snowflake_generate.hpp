// The generator of a layout that gen_snowflake() gets by its name.
#pragma once

#include "pg/generate/generator.hpp"
#include "pg/layouts/layouts.hpp"
#include "pg/pg.hpp"

namespace snowflake_ids::generator {

// This session's generator of the layout, set up. This may wait. Raises an error if no ids of the layout can be
// generated. For the layouts Mastic and Snowflake-SI, it is the generator of gen_mastic() or gen_snowflake_si(). So the
// ids of a session are in order, whichever function it calls.
Generator& ready_snowflake(NamedLayout& named);

}  // namespace snowflake_ids::generator
