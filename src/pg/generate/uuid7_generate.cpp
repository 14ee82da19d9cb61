// gen_uuid7() and gen_uuid7_series(). They use no ledger. Without a shift, each id of a process is larger than the one
// before. So the ids of a session grow, except in parallel workers, which are processes of their own. Ids of different
// processes, and of different shifts, may have the same time, and then differ by 62 random bits.
#include "core/uuid7.hpp"

#include <ctime>

#include "pg/datum.hpp"
#include "pg/entropy.hpp"
#include "pg/errors.hpp"
#include "pg/generate/series.hpp"
#include "pg/pg.hpp"

namespace snowflake_ids {

namespace {

// The moment of this process's last id.
uuid7::Moment last = 0;

// Raises the error that the clock shows `t`, which is outside the format.
[[noreturn]] void fail_clock(const timespec& t) {
    const bool early = t.tv_sec < 0;
    fail_time(early ? Error::time_before_epoch : Error::time_after_end, "uuid", uuid7::timeline, GetCurrentTimestamp());
}

// The moment of the next id of this process. It is later than that of the last id, also if the clock has gone back.
// Raises an error if the clock, or the next moment, is outside the format.
uuid7::Moment next_moment() {
    timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    const uuid7::Moment clock = uuid7::moment(seconds{t.tv_sec}, nanoseconds{t.tv_nsec});
    const uuid7::Moment next = uuid7::next(last, clock);
    // Before 1970 the unsigned seconds are a huge number.
    if (unlikely(t.tv_sec < 0 || next > uuid7::max_moment)) fail_clock(t);
    return last = next;
}

// A new uuid of the present time.
uuid7::Id generate() { return uuid7::make(next_moment(), entropy::random64()); }

}  // namespace

// gen_uuid7()
FUNCTION(snowflake_ids_gen_uuid7) { return id_datum(generate()); }

// gen_uuid7(shift): takes the next moment of this process, and shifts it. So with one shift, no moment is used twice.
// Exception: an interval with months or days can shift different times to the same time. For example, 28 February may
// be one month after each of the last four days of January. With two shifts, two ids can have the same moment. Then
// their random bits differ, as with ids of two processes. Raises an error if the shifted time is outside the format.
FUNCTION(snowflake_ids_gen_uuid7_shift) {
    const uuid7::Moment moment = next_moment();
    const TimestampTz to = DatumGetTimestampTz(DirectFunctionCall2(
        timestamptz_pl_interval, TimestampTzGetDatum(timestamptz(uuid7::time_of(moment))), PG_GETARG_DATUM(0)));
    const Result<uuid7::Moment> moved = uuid7::shifted(moment, unix_time(to));
    if (!moved) fail_time(moved.error, "uuid", uuid7::timeline, to);
    return id_datum(uuid7::make(moved.value, entropy::random64()));
}

// gen_uuid7_series(count): as many rows as `count` says. Each of them reads the clock.
FUNCTION(snowflake_ids_gen_uuid7_series) {
    struct State {
        uuid7::Id id;
        uint32 unchecked;  // ids until the next look for interrupts
    };
    return series::return_rows<State>(
        fcinfo, [&](State&) { return series::checked_count(PG_GETARG_INT64(0)); },
        [](State& s) {
            if (s.unchecked-- == 0) {
                CHECK_FOR_INTERRUPTS();
                s.unchecked = series::Pace::most - 1;
            }
            s.id = generate();
            return PointerGetDatum(&s.id);
        });
}

}  // namespace snowflake_ids
