// The list of this backend's generators, and how their ids are counted.
#include "pg/generate/generator.hpp"

#include "pg/errors.hpp"

namespace snowflake_ids::generator {

namespace {

const ledger::Header no_header{};

Generator* all = nullptr;  // every generator that was ever set up in this backend

}  // namespace

const ledger::Header* header = &no_header;

void fail_outside_format(const char* name, const Timeline& timeline, ledger::Outcome outcome) {
    const bool early = outcome == ledger::Outcome::before_epoch;
    ereport(
        ERROR,
        (errcode(ERRCODE_DATETIME_FIELD_OVERFLOW),
         errmsg("cannot generate %s ids: the clock is %s", name,
                early ? "before the first time that they can contain" : "past the last time that they can contain"),
         early ? errdetail("The first time of these ids is %s.", show_time(timestamptz(timeline.epoch)))
               : errdetail("The times of these ids end at %s.", show_time(timestamptz(timeline.end()))),
         errhint(
             "Correct the server's clock. If it is right, use another layout or format, or see snowflake_ids.reset().")));
    pg_unreachable();
}

void add_to_all(Generator& g) {
    g.next = all;
    all = &g;
}

void count_up(Generator& g) {
    if (g.uncounted == 0) return;
    g.slot->counters.issued.fetch_add(g.uncounted, std::memory_order_relaxed);
    g.uncounted = 0;
}

void end_leases_and_count() {
    for (Generator* g = all; g != nullptr; g = g->next) {
        end_lease(*g);
        count_up(*g);
        g->counted_tick = 0;
    }
}

}  // namespace snowflake_ids::generator
