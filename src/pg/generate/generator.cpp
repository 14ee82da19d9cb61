// Counts ids, and ends leases at the end of a transaction.
#include "pg/generate/generator.hpp"

#include <new>

extern "C" {
#include "access/xact.h"
#include "utils/memutils.h"
}

#include "pg/errors.hpp"

namespace snowflake_ids::generator {

namespace {

const ledger::Header no_header{};

Generator* all = nullptr;

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
}

void add_to_all(Generator& g) {
    g.next = all;
    all = &g;
}

Generator& get_or_make(Generator*& g) {
    if (g == nullptr) g = new (MemoryContextAlloc(TopMemoryContext, sizeof(Generator))) Generator;
    return *g;
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

namespace {

// At PRE_COMMIT this may raise an error. At COMMIT, PREPARE and ABORT, which come last, it may not.
void at_event(XactEvent event, void*) {
    // At COMMIT, the counters must have the ids before others can see the rows.
    end_leases_and_count();
    // PREPARE TRANSACTION waits anyway. A parallel worker's leader ends the transaction.
    if (event == XACT_EVENT_PRE_COMMIT) {
        issue_limit::protect_commit();
    } else if (event == XACT_EVENT_COMMIT || event == XACT_EVENT_ABORT || event == XACT_EVENT_PREPARE) {
        issue_limit::generated = false;
    }
}

}  // namespace

void watch_transactions() { RegisterXactCallback(at_event, nullptr); }

}  // namespace snowflake_ids::generator
