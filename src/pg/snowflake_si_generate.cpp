// gen_snowflake_si().
#include "pg/generator.hpp"
#include "pg/lease.hpp"
#include "pg/pg.hpp"
#include "pg/series.hpp"

namespace snowflake_ids {

namespace {

Datum snowflake_si_datum(const Generator& g, uint64 tick, uint32 node, uint32 sequence) {
    return Int64GetDatum(static_cast<int64>(g.layout.compose({tick, node, sequence})));
}

uint64 tick_now(Generator& g) {
    return ledger::tick_now(g.now, Timeline{g.timeline.epoch_us, 1000, snowflake_si::default_clock_bits});
}

}  // namespace

FUNCTION(gen_snowflake_si) {
    Generator& g = generator::ready_snowflake_si();
    const lease::Id c = lease::draw<generator::claim_snowflake_si>(g, tick_now);
    return snowflake_si_datum(g, c.tick, g.node, c.sequence);
}

// gen_snowflake_si_series(count)
FUNCTION(gen_snowflake_si_series) {
    return series::run<series::Pace>(
        fcinfo, [&](series::Pace&) { return series::checked_count(PG_GETARG_INT64(0)); },
        [](series::Pace& p) {
            Generator& g = generator::ready_snowflake_si();
            const lease::Id c = series::take<generator::claim_snowflake_si>(p, g, tick_now);
            return snowflake_si_datum(g, c.tick, g.node, c.sequence);
        });
}

}  // namespace snowflake_ids
