// The server's ledger as a backend sees it.
#pragma once

#include "ledger/file.hpp"
#include "pg/pg.hpp"

namespace snowflake_ids {

// Maps the ledger on first use; raises what is wrong with it.
const ledger::Ledger& shared_ledger();

// The same without raising: not mapped if anything is wrong, `error` says what.
const ledger::Ledger& try_shared_ledger(ledger::Attached& attached);

// One word for snowflake_ids_status().
const char* ledger_state_name(ledger::FileError error);

}  // namespace snowflake_ids
