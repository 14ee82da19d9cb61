// gen_sno() and gen_sno_at().
#include "core/sno.hpp"

#include "pg/datum.hpp"
#include "pg/errors.hpp"
#include "pg/generate/next_number.hpp"
#include "pg/generate/set_up.hpp"
#include "pg/pg.hpp"
#include "pg/types/sno_fields.hpp"

namespace snowflake_ids {

namespace {

pg_attribute_always_inline Datum sno_datum(uint64 tick, uint32 toggle, uint32 metabyte, uint32 partition,
                                           uint32 sequence) {
    return id_datum(sno::compose({tick, toggle, metabyte, partition, sequence}));
}

pg_attribute_always_inline Datum generate(Generator& g, uint32 metabyte) {
    const next_number::Id c = next_number::take<generator::sno_time>(g);
    return sno_datum(c.tick, c.toggle, metabyte, g.node, c.sequence);
}

}  // namespace

// gen_sno()
FUNCTION(snowflake_ids_gen_sno_default) { return generate(generator::ready_sno(), 0); }

FUNCTION(snowflake_ids_gen_sno) { return generate(generator::ready_sno(), metabyte_argument(fcinfo, 0)); }

// gen_sno(metabyte, partition)
FUNCTION(snowflake_ids_gen_sno_partition) {
    const uint32 metabyte = metabyte_argument(fcinfo, 0);
    const uint32 partition = number_argument(fcinfo, 1, "partition", 65535);
    return generate(generator::sno_of_partition(partition), metabyte);
}

// gen_sno_at(created, metabyte), with next_at_given_time() of core/sno.hpp. All sessions share a slot, which is not
// that of gen_sno().
FUNCTION(snowflake_ids_gen_sno_at) {
    const uint64 tick = tick_argument(fcinfo, 0, "sno", sno::timeline);
    const uint32 metabyte = metabyte_argument(fcinfo, 1);

    Generator& g = generator::ready_sno_at();
    const sno::Bounds bounds{g.rules.min, g.rules.max};
    // The word of this slot contains only the next number.
    uint64 word = g.slot->word.load();
    uint32 sequence, next;
    do {
        next = static_cast<uint32>(word);
        sequence = sno::next_at_given_time(next, bounds);
    } while (!g.slot->word.compare_exchange_weak(word, next));
    g.uncounted++;
    return sno_datum(tick, 0, metabyte, g.node, sequence);
}

}  // namespace snowflake_ids
