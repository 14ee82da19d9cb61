// A process that has outlived its postmaster: an orphan. A backend in a loop does not notice the end of its server.
#pragma once

#include "pg/pg.hpp"

extern "C" {
#include "storage/ipc.h"
#include "storage/pmsignal.h"
}

namespace snowflake_ids {

// Call this immediately before whatever of ours writes WAL or a file: it ends the process, and its transaction, if the
// postmaster is gone. Another server may run on the data directory by then, and would lose its WAL from where the
// orphan thinks that it ends. An orphan that is stopped after this check, and continues later, still writes.
inline void end_if_orphaned() {
    if (IsUnderPostmaster && !PostmasterIsAlive()) proc_exit(1);
}

}  // namespace snowflake_ids
