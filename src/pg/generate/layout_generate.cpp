// gen_mastic(), gen_snowflake_si(), gen_snowflake().
#include "pg/generate/layout_generate.hpp"

#include "ledger/formats.hpp"
#include "pg/errors.hpp"
#include "pg/generate/next_number.hpp"
#include "pg/generate/set_up.hpp"

namespace snowflake_ids {

namespace {

pg_attribute_always_inline Datum id_datum(const Layout& layout, const Generator& g, const next_number::Id& id) {
    const uint32 node = layout.node_bits == 0 ? 0 : g.node;
    return Int64GetDatum(static_cast<int64>(layout.compose({id.tick, node, id.sequence})));
}

}  // namespace

FUNCTION(snowflake_ids_gen_mastic) {
    Generator& g = generator::ready_mastic();
    return id_datum(mastic::layout, g, next_number::take<generator::mastic_time>(g));
}

FUNCTION(snowflake_ids_gen_snowflake_si) {
    Generator& g = generator::ready_snowflake_si();
    return id_datum(snowflake_si::layout, g, next_number::take<generator::snowflake_si_time>(g));
}

namespace {

// Also keeps a created layout from being dropped before the end of the transaction.
Generator& set_up_layout(NamedLayout& named) {
    if (!named.generates) {
        ereport(
            ERROR,
            (errcode(ERRCODE_FEATURE_NOT_SUPPORTED), errmsg("cannot generate %s ids", named.name),
             errdetail("The low bits of these ids do not count, so nothing would keep new ids unique."),
             errhint(
                 "You can decode ids of this layout. To continue it, create a layout of the same bits, whose low bits are a sequence, with snowflake_layout_create().")));
    }
    layouts::look_up(named, true);
    if (named.layout == mastic::layout) {
        named.ready = &generator::ready_mastic();
    } else if (named.layout == snowflake_si::layout) {
        named.ready = &generator::ready_snowflake_si();
    } else {
        Generator& own = generator::get_or_make(named.own);
        generator::set_up_snowflake(own, named.name, named.layout, named.created ? MyDatabaseId : InvalidOid);
        named.ready = &own;
    }
    return *named.ready;
}

}  // namespace

// An invalidation message only clears named.valid. The layout changes only when it is looked up again: by
// set_up_layout(), or by the caller before this call. So it stays the same until the SQL function returns.
Generator& generator::ready_snowflake(NamedLayout& named) {
    const bool same = named.ready != nullptr && named.valid;
    return likely(same && !is_stale(*named.ready)) ? *named.ready : set_up_layout(named);
}

FUNCTION(snowflake_ids_gen_snowflake) {
    NamedLayout& named = layouts::argument(fcinfo, 0);
    Generator& g = generator::ready_snowflake(named);
    const next_number::Id id = next_number::take<generator::any_time>(g);
    // Another layout of the same slot may have a wider timestamp, and have moved the generator beyond the end of this
    // one.
    if (unlikely(id.tick > named.layout.timeline.max_tick()))
        generator::fail_outside_format(g.name, g.timeline, ledger::Outcome::ended);
    return id_datum(named.layout, g, id);
}

}  // namespace snowflake_ids
