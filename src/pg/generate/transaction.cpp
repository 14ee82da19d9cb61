// The end of a transaction that has generated ids: which step runs at which event, and in which order. What a step does
// is in its own file.
#include "pg/generate/transaction.hpp"

#include "pg/ceilings/issue_limit.hpp"
#include "pg/generate/generator.hpp"
#include "pg/promise/writer.hpp"

extern "C" {
#include "access/xact.h"
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
            writer::hand_over_to_prepared();
            break;
        case XACT_EVENT_COMMIT:
        case XACT_EVENT_ABORT:
        case XACT_EVENT_PREPARE:
            issue_limit::latest = {};
            writer::end_transaction(event == XACT_EVENT_COMMIT, event == XACT_EVENT_PREPARE);
            break;
        default:  // a parallel worker: its leader ends the transaction
            break;
    }
}

}  // namespace

void watch() { RegisterXactCallback(at_event, nullptr); }

}  // namespace snowflake_ids::transaction
