// gen_snowflake_si().
#include "pg/generator.hpp"
#include "pg/pg.hpp"
#include "pg/series.hpp"

namespace snowflake_ids {

namespace {

Datum snowflake_si_datum(const Generator& g, uint64 tick, uint32 sequence) {
    return Int64GetDatum(static_cast<int64>(g.layout.compose({tick, g.node, sequence})));
}

}  // namespace

FUNCTION(gen_snowflake_si) {
    Generator& g = generator::ready_snowflake_si();
    const ledger::Claim c = generator::draw<generator::claim_snowflake_si>(g, 1);
    return snowflake_si_datum(g, c.tick, c.first);
}

// gen_snowflake_si_series(count)
FUNCTION(gen_snowflake_si_series) {
    return series::run<series::Range>(
        fcinfo, [&](series::Range&) { return series::checked_count(PG_GETARG_INT64(0)); },
        [](series::Range& r, int64 left) {
            Generator& g = generator::ready_snowflake_si();
            const uint32 sequence = series::take<generator::claim_snowflake_si>(
                r, g, left, [](Generator& si) { return si.timeline.floor_tick(ledger::wall_us()).value; });
            return snowflake_si_datum(g, r.tick, sequence);
        });
}

}  // namespace snowflake_ids
