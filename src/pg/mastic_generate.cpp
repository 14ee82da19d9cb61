// gen_mastic().
#include "pg/generator.hpp"
#include "pg/lease.hpp"
#include "pg/pg.hpp"
#include "pg/series.hpp"

namespace snowflake_ids {

namespace {

Datum mastic_datum(uint64 tick, uint32 sequence) {
    return Int64GetDatum(static_cast<int64>(mastic::layout.compose({tick, 0, sequence})));
}

uint64 tick_now(Generator& g) { return ledger::tick_now(g.now, mastic::layout.timeline); }

}  // namespace

FUNCTION(gen_mastic) {
    const lease::Id c = lease::draw<generator::claim_mastic>(generator::ready_mastic(), tick_now);
    return mastic_datum(c.tick, c.sequence);
}

// gen_mastic_series(count)
FUNCTION(gen_mastic_series) {
    return series::run<series::Pace>(
        fcinfo, [&](series::Pace&) { return series::checked_count(PG_GETARG_INT64(0)); },
        [](series::Pace& p) {
            const lease::Id c = series::take<generator::claim_mastic>(p, generator::ready_mastic(), tick_now);
            return mastic_datum(c.tick, c.sequence);
        });
}

}  // namespace snowflake_ids
