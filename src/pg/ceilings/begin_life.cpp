// Begins a life, and logs it.
#include "pg/ceilings/begin_life.hpp"

extern "C" {
#include "access/xlog.h"
}

#include "ledger/life.hpp"
#include "pg/ceilings/ceiling_file.hpp"
#include "pg/entropy.hpp"
#include "pg/server/machine_id.hpp"
#include "pg/server/shared_ledger.hpp"

namespace snowflake_ids {

namespace {

void log_life(const ledger::Header& header) {
    const bool standby = RecoveryInProgress();
    const int id =
        standby ? settings::standby_machine_id : static_cast<int>(machine_id::of_primary(machine_id::sno_bits));
    ereport(LOG_SERVER_ONLY, (errhidestmt(true), errhidecontext(true),
                              errmsg("snowflake_ids: life " UINT64_FORMAT " of this server begins to generate ids",
                                     header.life_number.load()),
                              errdetail("Machine id %d (snowflake_ids.%s: %s).", id,
                                        standby ? "standby_machine_id" : "machine_id", machine_id::source(standby))));
}

void begin_life(const ledger::Ledger& shared, const Deadline& deadline) {
    if (ledger::has_begun(*shared.header)) return;
    uint64 id = 0;  // 0 means that no life has begun
    while (id == 0) id = entropy::random64();
    bool began = false;
    ceiling_file::until_done(deadline, [&] {
        return ledger::begin_life(ceiling_file::place(), shared, id,
                                  ledger::ceiling_at(ceiling_file::ahead_of(ledger::wall_clock())), began);
    });
    if (began) log_life(*shared.header);
}

}  // namespace

const ledger::Ledger& ledger_in_life(const Deadline& deadline) {
    const ledger::Ledger& shared = shared_ledger();
    begin_life(shared, deadline);
    return shared;
}

}  // namespace snowflake_ids
