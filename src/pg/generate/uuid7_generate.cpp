// gen_uuid7() uses no ledger. Ids of one process grow; parallel workers are processes of their own. Ids of different
// processes may have the same time, and then differ by 62 random bits.
#include "core/uuid7.hpp"

#include <ctime>

#include "pg/datum.hpp"
#include "pg/entropy.hpp"
#include "pg/errors.hpp"
#include "pg/pg.hpp"

namespace snowflake_ids {

namespace {

uuid7::Moment last = 0;

uuid7::Moment next_moment() {
    timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    const uuid7::Moment clock = uuid7::moment(seconds{t.tv_sec}, nanoseconds{t.tv_nsec});
    const uuid7::Moment next = uuid7::next(last, clock);
    // Before 1970, the unsigned seconds are a huge number.
    if (unlikely(t.tv_sec < 0 || next > uuid7::max_moment)) fail_time("uuid", uuid7::timeline, GetCurrentTimestamp());
    return last = next;
}

}  // namespace

FUNCTION(snowflake_ids_gen_uuid7) { return id_datum(uuid7::make(next_moment(), entropy::random64())); }

}  // namespace snowflake_ids
