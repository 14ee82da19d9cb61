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

// The millisecond of the clock, as the tick of a gid. Raises an error if it is outside the format.
uint64 now_tick() {
    static ledger::TickMemo memo;
    const uint64 ms = ledger::tick_now(memo, gid::timeline);
    if (likely(ms != 0)) return ms;
    const Result<uint64> found = gid::timeline.floor_tick(ledger::wall_clock());
    if (!found) fail_time(found.error, "gid", gid::timeline, GetCurrentTimestamp());
    return found.value;
}

// A new gid of this kind and millisecond, palloc'd.
Datum gid_datum(gid::Kind kind, uint64 ms) {
    const uint64 random = entropy::random64();
    return id_datum(gid::make(kind, ms, random));
}

}  // namespace

// gen_gid(kind): raises an error if `kind` is not the name of a kind, or if the clock is outside the format.
FUNCTION(snowflake_ids_gen_gid) { return gid_datum(kind_argument(fcinfo, 0), now_tick()); }

// gen_gid_series(kind, count): as many rows as `count` says. It reads the clock only for some of them: see
// series::Pace.
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
            // A cursor may fetch the rows with several statements. Each of them reads the clock again.
            if (s.pace.unchecked == 0 || s.statement != GetCurrentStatementStartTimestamp()) {
                CHECK_FOR_INTERRUPTS();
                s.pace.note(nullptr, now_tick());  // null: gids have no generator
                s.statement = GetCurrentStatementStartTimestamp();
            } else {
                s.pace.unchecked--;
            }
            s.id = gid::make(s.kind, s.pace.tick, entropy::random64());
            return PointerGetDatum(&s.id);
        });
}

}  // namespace snowflake_ids
