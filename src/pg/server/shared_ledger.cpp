// This session's mapping of the ledger, and the errors when there is none.
#include "pg/server/shared_ledger.hpp"

extern "C" {
#include "access/xlog.h"
#include "common/file_perm.h"
}

namespace snowflake_ids {

namespace {

// Stays mapped until the backend ends. Never inherited, because the postmaster draws no ids.
ledger::Ledger mapped;

[[noreturn]] void raise(const ledger::Attached& a) {
    using ledger::FileError;
    const char* name = ledger::file_name;
    errno = a.system_errno;
    switch (a.error) {
        case FileError::cannot_create:
            ereport(ERROR, (errcode_for_file_access(), errmsg("could not create ledger file \"%s\": %m", name),
                            errhint("The data directory must be writable and have %zu bytes of free space.",
                                    ledger::file_bytes)));
            break;
        case FileError::cannot_open:
        case FileError::cannot_map:
            ereport(ERROR, (errcode_for_file_access(), errmsg("could not open ledger file \"%s\": %m", name),
                            errdetail("The ledger keeps ids unique among the processes of this server."),
                            errhint("It must be a file of the server's user, not a link, that this user can read and "
                                    "write. Otherwise stop the server, move the file away and start it again.")));
            break;
        case FileError::bad_version:
            ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                            errmsg("ledger file \"%s\" has another format than this library uses", name),
                            errhint("Restart sessions that still run another version of the library. If there are "
                                    "none, the file is not of this server: name a floor above every id with "
                                    "snowflake_ids_reset().")));
            break;
        case FileError::foreign:
            ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                            errmsg("ledger file \"%s\" belongs to another database cluster", name),
                            errhint("Remove the file if it was copied here by mistake, or name a floor above every id "
                                    "with snowflake_ids_reset().")));
            break;
        case FileError::relinked:
            ereport(ERROR, (errcode(ERRCODE_DATA_CORRUPTED),
                            errmsg("ledger file \"%s\" was removed or has a second hard link", name),
                            errdetail("Two files of that name could issue the same ids twice."),
                            errhint("Remove the other link.")));
            break;
        case FileError::none:
        case FileError::bad_size:
        case FileError::bad_magic:
        case FileError::bad_checksum:
            break;
    }
    ereport(
        ERROR,
        (errcode(ERRCODE_DATA_CORRUPTED), errmsg("ledger file \"%s\" is damaged", name),
         errdetail("Its %s is not that of a ledger.", a.error == FileError::bad_size    ? "size"
                                                      : a.error == FileError::bad_magic ? "first word"
                                                                                        : "checksum"),
         errhint(
             "Ids drawn from a guessed state could repeat. Name a floor above every id with snowflake_ids_reset().")));
    pg_unreachable();
}

}  // namespace

const ledger::Ledger& try_shared_ledger(ledger::Attached& attached) {
    if (!mapped) {
        attached = ledger::attach(DataDir, ledger::file_name, static_cast<unsigned>(pg_file_create_mode),
                                  GetSystemIdentifier(), enableFsync);
        mapped = attached.ledger;
    }
    return mapped;
}

const ledger::Ledger& shared_ledger() {
    if (likely(mapped.header != nullptr)) return mapped;
    ledger::Attached attached;
    if (!try_shared_ledger(attached)) raise(attached);
    return mapped;
}

void repair_shared_ledger(uint64 floor_ms) {
    const ledger::Attached a = ledger::repair(DataDir, ledger::file_name, static_cast<unsigned>(pg_file_create_mode),
                                              GetSystemIdentifier(), floor_ms, enableFsync);
    if (!a.ledger) raise(a);
    mapped = a.ledger;
}

const char* ledger_state_name(ledger::FileError error) {
    using ledger::FileError;
    switch (error) {
        case FileError::none:
            return "ready";
        case FileError::cannot_create:
        case FileError::cannot_open:
        case FileError::cannot_map:
            return "unreadable";
        case FileError::bad_version:
            return "other version";
        case FileError::foreign:
            return "foreign";
        case FileError::relinked:
            return "relinked";
        case FileError::bad_size:
        case FileError::bad_magic:
        case FileError::bad_checksum:
            break;
    }
    return "damaged";
}

}  // namespace snowflake_ids
