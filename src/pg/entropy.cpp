// Fills the buffer of random bits.
#include "pg/entropy.hpp"

namespace snowflake_ids::entropy {

constinit Buffer buffer{};

void refill() {
    // The postmaster forks: all children would get bits that it has buffered.
    Assert(IsUnderPostmaster || !IsPostmasterEnvironment);
    buffer.left = 0;
    if (!pg_strong_random(buffer.words, sizeof buffer.words)) {
        ereport(ERROR, (errcode(ERRCODE_INTERNAL_ERROR), errmsg("could not generate random values"),
                        errhint("The operating system's random source failed. Try again when it is mended.")));
    }
    buffer.owner_pid = MyProcPid;
    buffer.left = lengthof(buffer.words);
}

}  // namespace snowflake_ids::entropy
