// An orphan is a process that has outlived its postmaster, which a backend in a loop does not notice.
#pragma once

#include "pg/pg.hpp"

extern "C" {
#include "storage/ipc.h"
#include "storage/pmsignal.h"
}

namespace snowflake_ids {

// Call this immediately before writing WAL or a file. Another server may run on the data directory by then, and the
// orphan would overwrite the end of its WAL. One gap remains: an orphan that is stopped after this check, and continues
// later, still writes.
inline void end_if_orphaned() {
    if (IsUnderPostmaster && !PostmasterIsAlive()) proc_exit(1);
}

}  // namespace snowflake_ids
