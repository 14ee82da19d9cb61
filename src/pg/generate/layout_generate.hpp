// Generators of layouts by name.
#pragma once

#include "pg/generate/generator.hpp"
#include "pg/layouts/layouts.hpp"
#include "pg/pg.hpp"

namespace snowflake_ids::generator {

// This session's generator of the layout, set up. For Mastic and Snowflake-SI it is that of gen_mastic() or
// gen_snowflake_si(), so that a session's ids are in order whichever function it calls.
Generator& ready_snowflake(NamedLayout& named);

}  // namespace snowflake_ids::generator
