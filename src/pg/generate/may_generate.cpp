// The checks before a generator is set up. Each function raises an error if no id may be generated.
#include "pg/generate/may_generate.hpp"

extern "C" {
#include "access/parallel.h"
}

#include "ledger/clock.hpp"
#include "ledger/numbering.hpp"
#include "pg/generate/generator.hpp"
#include "pg/server/machine_id.hpp"
#include "pg/server/not_accepted.hpp"

namespace snowflake_ids::generator {

// In the ledger, each process shows readers the ids of its own transaction (ledger/settling.hpp). A parallel worker
// would generate ids for the transaction of another process, its leader.
void check_may_generate(const char* name) {
    if (IsParallelWorker()) {
        ereport(ERROR, (errcode(ERRCODE_INVALID_TRANSACTION_STATE),
                        errmsg("cannot generate %s ids in a parallel worker", name),
                        errdetail("A function that is declared PARALLEL SAFE generates the id."),
                        errhint("Run ALTER FUNCTION ... PARALLEL RESTRICTED for that function.")));
    }
    not_accepted::check();
}

uint64 numbering_of(const char* name, const Layout& layout) {
    const Result<uint64> numbering = ledger::pack_numbering(layout);
    if (!numbering) {
        ereport(
            ERROR,
            (errcode(ERRCODE_FEATURE_NOT_SUPPORTED), errmsg("cannot generate %s ids", name),
             numbering.error == Error::bad_tick
                 ? errdetail(
                       "To generate ids, the tick must be at most one second, and 1 to 127 times a power of ten in microseconds.")
                 : errdetail("To generate ids, the epoch must be a whole millisecond from 1970 to 2248."),
             errhint("You can decode ids of this layout. Generate ids with another layout.")));
    }
    return numbering.value;
}

void check_clock(const char* name, const Timeline& timeline) {
    const Result<uint64> now = timeline.floor_tick(ledger::wall_clock());
    if (now) return;
    fail_outside_format(name, timeline,
                        now.error == Error::time_before_epoch ? ledger::Outcome::before_epoch : ledger::Outcome::ended);
}

uint32 node_of(const char* name, const Layout& layout, bool in_recovery) {
    // In ids without a node, nothing keeps those of a standby apart from those of its primary.
    if (in_recovery && layout.node_bits == 0)
        machine_id::fail_in_recovery(name, "Generate the id on the primary, or use gen_gid().");
    const uint32 node = layout.node_bits == 0 ? 0 : machine_id::to_generate_with(name, layout.node_bits, in_recovery);
    if (node > layout.max_node()) {
        ereport(ERROR,
                (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("machine id %u does not fit a %s id", node, name),
                 errdetail("The layout has %u node bits, so its machine ids are 0 to %u.", layout.node_bits,
                           layout.max_node()),
                 errhint("Set a smaller snowflake_ids.machine_id, or use a layout with more node bits.")));
    }
    layout.node_bits > 0 ? machine_id::warn_if_not_set() : machine_id::warn_of_no_node(name);
    return node;
}

}  // namespace snowflake_ids::generator
