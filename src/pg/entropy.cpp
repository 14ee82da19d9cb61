// Fills the buffer of random bits.
#include "pg/entropy.hpp"

extern "C" {
#include "utils/memutils.h"
}

namespace snowflake_ids::entropy {

constinit Buffer buffer{};

void refill() {
    // The postmaster must not fill a buffer: all its children would get the same bits.
    Assert(IsUnderPostmaster || !IsPostmasterEnvironment);
    constexpr unsigned count = 512;
    buffer.left = 0;
    // The words are not static, so that what every session writes to is together in one page of memory.
    if (buffer.words == nullptr)
        buffer.words = static_cast<uint64*>(MemoryContextAlloc(TopMemoryContext, count * sizeof(uint64)));
    if (!pg_strong_random(buffer.words, count * sizeof(uint64))) {
        ereport(ERROR, (errcode(ERRCODE_INTERNAL_ERROR), errmsg("could not generate random values"),
                        errhint("The operating system's random source failed. Try again when it is mended.")));
    }
    buffer.owner_pid = MyProcPid;
    buffer.left = count;
}

}  // namespace snowflake_ids::entropy
