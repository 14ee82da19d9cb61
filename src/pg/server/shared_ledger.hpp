// The server's ledger as a backend sees it.
#pragma once

#include "ledger/file.hpp"
#include "ledger/reset.hpp"
#include "pg/pg.hpp"

namespace snowflake_ids {

// Maps the ledger on first use; raises what is wrong with it.
const ledger::Ledger& shared_ledger();

// The same without raising: not mapped if anything is wrong, `error` says what.
const ledger::Ledger& try_shared_ledger(ledger::Attached& attached);

// Makes a damaged ledger usable, in place; raises what stands in the way.
void repair_shared_ledger(uint64 floor_ms);

// One word for snowflake_ids_status().
const char* ledger_state_name(ledger::FileError error);

}  // namespace snowflake_ids
