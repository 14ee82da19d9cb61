// The end of a transaction that has generated ids: which step runs at which event, and in which order. What a step does
// is in its own file.
#include "pg/generate/transaction.hpp"

#include "pg/generate/generator.hpp"
#include "pg/generate/issue_limit.hpp"
#include "pg/generate/unsettled.hpp"

extern "C" {
#include "access/xact.h"
#include "utils/resowner.h"
}

namespace snowflake_ids::transaction {

namespace {

// PostgreSQL calls this at the end of a transaction. At the events PRE_COMMIT and PRE_PREPARE, a step may raise an
// error. At COMMIT, PREPARE and ABORT, which come last, none may.
void at_event(XactEvent event, void*) {
    // This is done at each event. So the counters have the ids before others can see the rows.
    generator::end_leases_and_count();
    switch (event) {
        case XACT_EVENT_PRE_COMMIT:
            issue_limit::protect_commit();
            break;
        case XACT_EVENT_PRE_PREPARE:
            unsettled::hand_over_to_prepared();
            break;
        case XACT_EVENT_COMMIT:
        case XACT_EVENT_ABORT:
        case XACT_EVENT_PREPARE:
            issue_limit::latest = {};
            unsettled::end_transaction(event == XACT_EVENT_COMMIT);
            break;
        default:  // a parallel worker: its leader ends the transaction
            break;
    }
}

// PostgreSQL calls this in each phase in which it releases the resources of a transaction or of a part of it. A part is
// a subtransaction or a cursor; `is_top_level` is false for it, and `is_commit` is false if it has failed. Before a
// cursor that has failed loses its locks, the transaction begins to count as a writer of every table.
void at_release(ResourceReleasePhase phase, bool is_commit, bool is_top_level, void*) {
    if (phase == RESOURCE_RELEASE_BEFORE_LOCKS && !is_commit && !is_top_level) unsettled::count_for_every_table();
}

}  // namespace

void watch() {
    RegisterXactCallback(at_event, nullptr);
    RegisterResourceReleaseCallback(at_release, nullptr);
}

}  // namespace snowflake_ids::transaction
