// gen_snowflake().
//
// Ids are unique among all layouts of the same epoch, tick and widths, in all databases of the server: these draw
// from one slot (ledger/numbering.hpp). Mastic's and Snowflake-SI's layouts draw from their slots.
#include "pg/generator.hpp"
#include "pg/layouts.hpp"
#include "pg/lease.hpp"
#include "pg/operate.hpp"
#include "pg/pg.hpp"
#include "pg/series.hpp"

#include "ledger/formats.hpp"
#include "pg/errors.hpp"

namespace snowflake_ids {

namespace {

ledger::Claim claim_layout(Generator& g, uint32 want) {
    ledger::SystemClock clock{[&g] { return g.timeline; }};
    return ledger::claim<false>(*g.slot, clock, want, g.rules, g.limit);
}

uint64 tick_now(Generator& g) { return ledger::tick_now(g.now, g.timeline); }

// Snowflake-SI has one base clock and width per server.
void check_snowflake_si(const NamedLayout& named) {
    const Layout si = settings::snowflake_si_layout();
    if (si.timeline.epoch_us == named.layout.timeline.epoch_us && si.node_bits == named.layout.node_bits) return;
    ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                    errmsg("cannot generate %s ids: they are Snowflake-SI ids of other settings", named.name),
                    errdetail("Ids with ticks of 1 ms and %u bits below the time are drawn as Snowflake-SI ids.",
                              si.node_bits + si.sequence_bits),
                    errhint("Set snowflake_ids.si_base_clock and snowflake_ids.si_machine_bits to those of the layout, "
                            "or choose other widths.")));
}

// Sets up what draws the ids of the layout.
Generator& set_up(NamedLayout& named) {
    if (!named.generates) {
        ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED), errmsg("cannot generate %s ids", named.name),
                        errdetail("Their low bits are no sequence, so nothing would keep them unique."),
                        errhint("Ids of this layout can be decoded. Generate those of another one.")));
    }
    layouts::pin(named);
    switch (ledger::numbers_of(named.layout)) {
        case ledger::Numbers::mastic:
            named.generator = &generator::ready_mastic();
            break;
        case ledger::Numbers::snowflake_si:
            check_snowflake_si(named);
            named.generator = &generator::ready_snowflake_si();
            break;
        case ledger::Numbers::own:
            generator::set_up_layout(named.own, named.name, named.layout, named.created ? MyDatabaseId : InvalidOid);
            named.generator = &named.own;
            break;
    }
    return *named.generator;
}

// Invalidation messages are read only between the calls, so what is ready stays so for a call.
Generator& ready(NamedLayout& named) {
    Generator* g = named.generator;
    // Snowflake-SI's may have been set up since, by gen_snowflake_si() and under other settings.
    if (likely(named.valid && g != nullptr && !generator::stale(*g) &&
               g->layout.timeline.epoch_us == named.layout.timeline.epoch_us &&
               g->layout.node_bits == named.layout.node_bits))
        return *g;
    return set_up(named);
}

// Another layout of the same numbers may have a wider timestamp, and a held generator is where that one left it.
Datum snowflake_datum(const NamedLayout& named, uint64 tick, uint32 node, uint32 sequence) {
    if (unlikely(tick > named.layout.timeline.max_tick()))
        generator::raise_outside_format(named.generator->name, named.generator->timeline, ledger::Outcome::ended);
    return Int64GetDatum(static_cast<int64>(named.layout.compose({tick, node, sequence})));
}

}  // namespace

FUNCTION(gen_snowflake) {
    NamedLayout& named = layouts::argument(fcinfo, 0);
    Generator& g = ready(named);
    const lease::Id c = lease::draw<claim_layout>(g, tick_now);
    return snowflake_datum(named, c.tick, g.node, c.sequence);
}

// gen_snowflake_series(layout, count)
FUNCTION(gen_snowflake_series) {
    struct State {
        series::Pace pace;
        NamedLayout* named;
    };
    return series::run<State>(
        fcinfo,
        [&](State& s) {
            s.named = &layouts::argument(fcinfo, 0);
            return series::checked_count(PG_GETARG_INT64(1));
        },
        [](State& s) {
            // Between two fetches of a cursor the name may have become another layout's, or the settings of
            // Snowflake-SI others.
            if (unlikely(!s.named->valid)) layouts::pin(*s.named);
            Generator& g = ready(*s.named);
            const lease::Id c = series::take<claim_layout>(s.pace, g, tick_now);
            return snowflake_datum(*s.named, c.tick, g.node, c.sequence);
        });
}

// snowflake_observe(layout, id, force). An id of another node is none of this server's.
FUNCTION(snowflake_observe) {
    NamedLayout& named = layouts::argument(fcinfo, 0);
    const int64 id = PG_GETARG_INT64(1);
    const bool force = operate::forced(fcinfo, 2);
    const Result<Layout::Fields> fields = named.layout.split(static_cast<uint64>(id));
    if (!fields) report_range(fields.error, "id", id, 0, static_cast<int64>(named.layout.max_id()));
    Generator& g = ready(named);
    if (fields.value.node == g.node)
        operate::observe(g, named.layout.time_us(static_cast<uint64>(id)), force, named.name);
    PG_RETURN_VOID();
}

}  // namespace snowflake_ids
