// The SQL function snowflake_ids_has_settled(until): is every row there whose id is earlier?
#include "ledger/clock.hpp"
#include "ledger/formats.hpp"
#include "ledger/settling.hpp"
#include "pg/admin/operate.hpp"
#include "pg/datum.hpp"
#include "pg/generate/set_up.hpp"
#include "pg/pg.hpp"
#include "pg/promise/writer.hpp"
#include "pg/server/shared_ledger.hpp"
#include "pg/settled/reader.hpp"

namespace snowflake_ids {

// The settled time does not pass the last id, so on a quiet server it stands still. If no transaction holds it back, a
// generator is lifted past `until`: that of Mastic, which always exists because it needs no machine id.
FUNCTION(snowflake_ids_has_settled) {
    const TimestampTz argument = PG_GETARG_TIMESTAMPTZ(0);
    if (TIMESTAMP_IS_NOBEGIN(argument)) PG_RETURN_BOOL(true);
    if (TIMESTAMP_IS_NOEND(argument)) PG_RETURN_BOOL(false);
    const UnixTime until = unix_time(argument);
    const Snapshot snapshot = readers_snapshot();
    const auto is_there = [until](UnixTime settled) {
        return settled != never && ledger::settled_for_ticks(settled, ledger::longest_tick) >= until;
    };
    const UnixTime settled = settle(snapshot, writer::every_table, any_format);
    if (is_there(settled)) PG_RETURN_BOOL(true);
    if (until > ledger::wall_clock() || settled < shared_ledger().header->promise.load()) PG_RETURN_BOOL(false);
    use_up_until(generator::ready_mastic, until);
    PG_RETURN_BOOL(is_there(settle(snapshot, writer::every_table, any_format)));
}

}  // namespace snowflake_ids
