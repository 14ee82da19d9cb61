// Runs something in a subtransaction, and returns the error that it raised.
#pragma once

#include "pg/pg.hpp"

extern "C" {
#include "access/xact.h"
#include "utils/resowner.h"
}

namespace snowflake_ids {

// The error is palloc'd; null: none. Not in parallel mode. The end of the subtransaction releases the locks and buffers
// that are still held after an error.
template <class Work>
ErrorData* catch_error(Work work) {
    const MemoryContext context = CurrentMemoryContext;
    const ResourceOwner owner = CurrentResourceOwner;
    ErrorData* volatile error = nullptr;
    BeginInternalSubTransaction(nullptr);
    MemoryContextSwitchTo(context);
    PG_TRY();
    {
        work();
        ReleaseCurrentSubTransaction();
    }
    PG_CATCH();
    {
        MemoryContextSwitchTo(context);
        error = CopyErrorData();
        FlushErrorState();
        RollbackAndReleaseCurrentSubTransaction();
    }
    PG_END_TRY();
    MemoryContextSwitchTo(context);
    CurrentResourceOwner = owner;
    return error;
}

}  // namespace snowflake_ids
