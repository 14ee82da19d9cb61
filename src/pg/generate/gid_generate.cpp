// gen_gid() and gen_gid_series(). They use no ledger: 64 random bits keep gids of one millisecond apart.
#include "core/gid.hpp"
#include "ledger/clock.hpp"
#include "pg/datum.hpp"
#include "pg/entropy.hpp"
#include "pg/errors.hpp"
#include "pg/generate/series.hpp"
#include "pg/pg.hpp"
#include "pg/types/gid_type.hpp"

namespace snowflake_ids {

namespace {

uint64 now_tick() {
    const Result<uint64> ms = gid::timeline.floor_tick(ledger::wall_clock());
    if (unlikely(!ms)) fail_time(ms.error, "gid", gid::timeline, GetCurrentTimestamp());
    return ms.value;
}

}  // namespace

// gen_gid(kind)
FUNCTION(snowflake_ids_gen_gid) {
    return id_datum(gid::make(kind_argument(fcinfo, 0), now_tick(), entropy::random64()));
}

// gen_gid_series(kind, count)
FUNCTION(snowflake_ids_gen_gid_series) {
    struct State {
        gid::Kind kind;
        series::Pace pace;
        TimestampTz statement;
        gid::Id id;
    };
    return series::return_rows<State>(
        fcinfo,
        [&](State& s) {
            s.kind = kind_argument(fcinfo, 0);
            return series::checked_count(PG_GETARG_INT64(1));
        },
        [](State& s) {
            // A cursor may fetch the rows with several statements, and each reads the clock again.
            if (s.pace.unchecked == 0 || s.statement != GetCurrentStatementStartTimestamp()) {
                CHECK_FOR_INTERRUPTS();
                s.pace.note(nullptr, now_tick());  // no generator
                s.statement = GetCurrentStatementStartTimestamp();
            } else {
                s.pace.unchecked--;
            }
            s.id = gid::make(s.kind, s.pace.tick, entropy::random64());
            return PointerGetDatum(&s.id);
        });
}

}  // namespace snowflake_ids
