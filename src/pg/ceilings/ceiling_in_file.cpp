// The errors of the ceiling file. ledger/ceiling_file.cpp reads and writes it.
#include "pg/ceilings/ceiling_in_file.hpp"

extern "C" {
#include "access/xlog.h"
#include "common/file_perm.h"
}

#include "pg/server/orphaned_backend.hpp"
#include "pg/server/shared_ledger.hpp"

namespace snowflake_ids::ceiling_in_file {

ledger::CeilingPlace place() {
    return {DataDir, static_cast<unsigned>(pg_file_create_mode), GetSystemIdentifier(), enableFsync, end_if_orphaned};
}

void fail(const ledger::CeilingResult& r) {
    constexpr const char* way_out = "Move the file away, and call snowflake_ids.reset() with a time above every id.";
    const char* name = ledger::ceiling_file_name;
    errno = r.system_errno;
    if (r.error == ledger::CeilingError::superseded) {
        ereport(
            ERROR,
            (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
             errmsg("another server has taken over the ids of this data directory"),
             errdetail("A server that was started later has written the ceiling file \"%s\".", name),
             errhint(
                 "If the server of this session was stopped, end this process. If two servers run on one data directory, stop both at once, because they damage it. If this server is the only one, restart it.")));
    }
    if (r.error == ledger::CeilingError::damaged) {
        ereport(ERROR, (errcode(ERRCODE_DATA_CORRUPTED), errmsg("ceiling file \"%s\" is damaged", name),
                        r.slot < 0 ? errdetail("The size or the header of the file is wrong.")
                                   : errdetail("Entry %d of the file is wrong.", r.slot),
                        errhint("%s", way_out)));
    }
    if (r.error == ledger::CeilingError::other_version) {
        ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                        errmsg("ceiling file \"%s\" has another format than this library uses", name),
                        errdetail("Another version of snowflake_ids wrote it."), errhint("%s", way_out)));
    }
    if (r.error == ledger::CeilingError::foreign) {
        ereport(ERROR,
                (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                 errmsg("ceiling file \"%s\" belongs to another database cluster", name),
                 errdetail("The file contains the system identifier of another cluster."), errhint("%s", way_out)));
    }
    if (r.error == ledger::CeilingError::busy) {
        ereport(
            ERROR,
            (errcode(ERRCODE_LOCK_NOT_AVAILABLE),
             errmsg("gave up waiting for the lock on ceiling file \"%s\" after %d ms", name, settings::max_wait_ms),
             errhint(
                 "Check whether the server's storage hangs. Use \"fuser\" or /proc/locks to find a process of an earlier server that still holds the lock. The setting snowflake_ids.max_wait limits the wait.")));
    }
    ereport(
        ERROR,
        (errcode_for_file_access(), errmsg("could not write ceiling file \"%s\": %m", name),
         errdetail("No id is generated until the file is written."),
         errhint(
             "Make room on the disk, and let the server's user write to the file and the data directory. After that, ids continue without a restart.")));
}

void check() {
    until_done({}, [] { return ledger::check_ceilings(place(), shared_ledger()); });
}

const char* state_for_people() {
    const ledger::CeilingResult r = ledger::check_ceilings(place(), shared_ledger());
    if (r.error == ledger::CeilingError::io) return psprintf("unreadable: %s", strerror(r.system_errno));
    // In the order of CeilingError. A busy process usually writes the file.
    constexpr const char* states[] = {"ready", "ready", nullptr, "damaged", "other version", "foreign", "superseded"};
    return states[static_cast<int>(r.error)];
}

}  // namespace snowflake_ids::ceiling_in_file
