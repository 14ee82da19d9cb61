// What a session's ceilings are in PostgreSQL, and whether a COMMIT waits for standbys.
#include "pg/ceilings/issue_limit.hpp"

#include "pg/ceilings/synchronous_standbys.hpp"
#include "pg/entropy.hpp"
#include "pg/server/machine_id.hpp"

namespace snowflake_ids::issue_limit {

bool generated = false;

uint64 Host::random_id() {
    uint64 id = 0;  // 0 means that no life has begun
    while (id == 0) id = entropy::random64();
    return id;
}

void Host::life_began() {
    ereport(LOG_SERVER_ONLY, (errhidestmt(true), errhidecontext(true),
                              errmsg("snowflake_ids: life " UINT64_FORMAT " of this server begins to generate ids",
                                     header().life_number.load()),
                              errdetail("Machine id %u (snowflake_ids.machine_id: %s).",
                                        machine_id::of_server(machine_id::sno_bits), machine_id::source())));
}

const ledger::Ledger& ledger_in_life(const Deadline& deadline) {
    Host host(deadline);
    (void) ledger::begin_life(host);
    return shared_ledger();
}

void protect_commit() {
    if (generated && synchronous_standbys::commits_wait() &&
        !synchronous_standbys::have_flushed(ceiling_in_wal::seen.position))
        synchronous_standbys::make_commit_wait();
}

}  // namespace snowflake_ids::issue_limit
