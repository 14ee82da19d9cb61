// gen_gid() uses no ledger: 64 random bits keep gids of one millisecond apart.
#include "core/gid.hpp"
#include "ledger/clock.hpp"
#include "pg/datum.hpp"
#include "pg/entropy.hpp"
#include "pg/errors.hpp"
#include "pg/pg.hpp"
#include "pg/types/gid_type.hpp"

namespace snowflake_ids {

namespace {

uint64 now_tick() {
    const Result<uint64> ms = gid::timeline.floor_tick(ledger::wall_clock());
    if (unlikely(!ms)) fail_time("gid", gid::timeline, GetCurrentTimestamp());
    return ms.value;
}

}  // namespace

// gen_gid(kind)
FUNCTION(snowflake_ids_gen_gid) {
    return id_datum(gid::make(kind_argument(fcinfo, 0), now_tick(), entropy::random64()));
}

}  // namespace snowflake_ids
