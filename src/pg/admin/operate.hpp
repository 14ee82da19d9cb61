// The room of administrators: views of the generators, observe, reset, snapshots. Enters: a call with privileges.
// Leaves: rows that say what the ledger has, or a generator that was moved. Read next: stats.cpp, ledger/reset.hpp.
//
// This file: what an operator may do to a generator: observe and pass (operate.cpp), reset (reset.cpp), restore
// (sno_snapshot.cpp).
#pragma once

#include "ledger/formats.hpp"
#include "pg/generate/generator.hpp"

namespace snowflake_ids::operate {

// Raises an error if a time is implausibly far ahead of the clock.
void check_not_far_ahead(UnixTime id_time, const char* what);

// After this call the generator issues nothing at or before `tick`, durably.
void lift_past(Generator& g, uint64 tick);

// The value of argument `n`, force. Raises an error if it is true and the caller is no superuser.
bool force_argument(FunctionCallInfo fcinfo, int n);

// The format that argument `n` names: one with a generator that sessions share. Raises an error otherwise.
ledger::Kind kind_argument(FunctionCallInfo fcinfo, int n);

// Observe: after an import, makes the generator pass the time of an imported id. It issues nothing at or before that
// time again.
void observe(Generator& g, UnixTime id_time, bool force, const char* what);

}  // namespace snowflake_ids::operate
