// Ends an orphan: a process that has outlived its postmaster. A backend in a loop does not notice that its server has
// ended.
#pragma once

#include "pg/pg.hpp"

extern "C" {
#include "storage/ipc.h"
#include "storage/pmsignal.h"
}

namespace snowflake_ids {

// Ends the process, and so its transaction, if the postmaster is gone. Call this immediately before the extension
// writes WAL or a file. Another server may run on the data directory by then. The orphan does not know how far that
// server has written its WAL, and would overwrite the last part of it. One gap remains: an orphan that is stopped after
// this check, and continues later, still writes.
inline void end_if_orphaned() {
    if (IsUnderPostmaster && !PostmasterIsAlive()) proc_exit(1);
}

}  // namespace snowflake_ids
