// Fills the buffer of random bits.
#include "pg/entropy.hpp"

extern "C" {
#include "utils/memutils.h"
}

namespace snowflake_ids::entropy {

constinit Buffer buffer{};

void refill() {
    // Never in the postmaster, because each of its children would inherit the unused bits.
    Assert(IsUnderPostmaster || !IsPostmasterEnvironment);
    constexpr unsigned count = 512;
    buffer.left = 0;
    // Allocated, and no static array: so the static variables that a session writes stay in one page, and the first id
    // of a connection causes fewer page faults.
    if (buffer.words == nullptr)
        buffer.words = static_cast<uint64*>(MemoryContextAlloc(TopMemoryContext, count * sizeof(uint64)));
    if (!pg_strong_random(buffer.words, count * sizeof(uint64))) {
        ereport(
            ERROR,
            (errcode(ERRCODE_INTERNAL_ERROR), errmsg("could not generate random values"),
             errhint("The operating system's source of random numbers failed. Try again after it has been repaired.")));
    }
    buffer.owner_pid = MyProcPid;
    buffer.left = count;
}

}  // namespace snowflake_ids::entropy
