// The room of administrators. It receives calls that may need privileges. It returns rows that say what the ledger
// contains (stats.cpp), or it moves a generator. Read next: stats.cpp, ledger/reset.hpp.
//
// A generator is moved past an imported id or past the present time (operate.cpp), past the times of a snapshot
// (sno_snapshot.cpp), or to a time that the operator names (reset.cpp). This file has the functions that these share.
#pragma once

#include "ledger/formats.hpp"
#include "pg/generate/generator.hpp"

namespace snowflake_ids::operate {

// Raises an error if a time is more than a minute ahead of the clock. `what` names in the message what has this time.
void check_not_far_ahead(UnixTime id_time, const char* what);

// After this call the generator issues nothing at or before `tick`, also after a crash. `g` must be set up. The wait
// for the lock of a relation has no limit. Raises an error if a ceiling cannot be lifted.
void lift_past(Generator& g, uint64 tick);

// The value of argument `n`, force. Raises an error if it is true and the caller is no superuser.
bool force_argument(FunctionCallInfo fcinfo, int n);

// The kind of ids that argument `n` names: sno, mastic, snowflake_si or layout. Raises an error for any other text.
ledger::Kind kind_argument(FunctionCallInfo fcinfo, int n);

// Makes the generator pass the time of an imported id: it issues nothing at or before that time any more. `g` must be
// set up. Raises an error if the time is far ahead of the clock, unless `force` is true. `what` names the id in the
// message.
void observe(Generator& g, UnixTime id_time, bool force, const char* what);

// A function that returns a generator of this session, set up: generator::ready_sno() and so on.
using Ready = Generator& (*) ();

// Returns when the generator of `ready` issues nothing at or before `until` any more. This session may do that itself,
// or wait until another session has done it. Raises an error if the generator cannot be set up, or if a ceiling cannot
// be lifted.
void use_up_until(Ready ready, UnixTime until);

}  // namespace snowflake_ids::operate
