// What this process shows of the ids that its transaction has drawn, so that snowflake_ids_settled() can tell which
// ids may still appear. The protocol is in ledger/settled.hpp.
#pragma once

#include "ledger/settled.hpp"
#include "pg/pg.hpp"

namespace snowflake_ids::unsettled {

// The earliest time of an id (ledger/settled.hpp), in Unix microseconds, that the present transaction may draw at without another look.
extern uint64 covered;

// For a time before `covered`. False: the id must be thrown away.
bool shows(uint64 us);

// May the transaction have an id of this time? An id that it was given must be asked for before it is used.
inline bool accepts(int64 us) {
    const auto t = static_cast<uint64>(us);
    return likely(t >= covered) || shows(t);
}

// For a transaction that is about to be prepared: the ledger's table takes over what it has shown. Raises an error if
// the table is full.
void before_prepare();

// The transaction has ended: takes back what it has shown. Called after the commit too, where nothing may raise an
// error.
void take_back(bool committed);

// The next full transaction id.
uint64 next_xid();

}  // namespace snowflake_ids::unsettled
