// Sleeping, and for how long in all.
#include "pg/server/wait.hpp"

#include <algorithm>
#include <ctime>

#include "pg/server/orphan.hpp"
#include "pg/server/settings.hpp"

extern "C" {
#include "pgstat.h"
#include "storage/latch.h"
#include "utils/wait_event.h"
}

namespace snowflake_ids {

void nap(int64 us) {
    constexpr int64 longest = 1000000;
    // A latch counts in whole milliseconds, and a tick may be just one. So the last part is slept to the microsecond,
    // or every second tick would be missed.
    constexpr int64 latch_from = 2000;
    us = std::clamp<int64>(us, 0, longest);

    const uint32 event = SNOWFLAKE_IDS_WAIT_EVENT("SnowflakeIdsNextTick");
    if (us >= latch_from) {
        (void) WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH, static_cast<long>(us / 1000), event);
        ResetLatch(MyLatch);
    } else if (us > 0) {
        const timespec t{0, static_cast<long>(us * 1000)};
        pgstat_report_wait_start(event);
        (void) nanosleep(&t, nullptr);  // a signal ends it early, as it should
        pgstat_report_wait_end();
        end_if_orphaned();
    }
    CHECK_FOR_INTERRUPTS();
}

int64 Patience::left_us() const {
    return int64{settings::max_wait_ms} * 1000 - static_cast<int64>(ledger::monotonic_us() - since);
}

void Attempts::pause(const Patience& patience) {
    constexpr int64 longest_us = 20000;
    // Up to a quarter less, so that sessions that began to wait together do not all come back together.
    const uint64 noise = (ledger::monotonic_us() + static_cast<uint64>(MyProcPid)) * 0x9e3779b97f4a7c15 >> 40;
    const int64 us = next_us_ - static_cast<int64>(noise % static_cast<uint64>(next_us_ / 4));
    nap(std::min(us, patience.left_us()));
    next_us_ = std::min(next_us_ * 2, longest_us);
}

}  // namespace snowflake_ids
