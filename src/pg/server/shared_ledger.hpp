// The server's ledger as a backend sees it.
#pragma once

#include "ledger/file.hpp"
#include "ledger/reset.hpp"
#include "pg/pg.hpp"

namespace snowflake_ids {

// Maps the ledger on first use. Raises an error if that fails.
const ledger::Ledger& shared_ledger();

// The same without an error: if anything is wrong, the result is not mapped and `attached.error` says why.
const ledger::Ledger& try_shared_ledger(ledger::Attached& attached);

// Makes a damaged ledger usable again, in place. Raises an error if that fails.
void repair_shared_ledger(uint64 floor_ms);

// One word for snowflake_ids_status().
const char* ledger_state_name(ledger::FileError error);

}  // namespace snowflake_ids
