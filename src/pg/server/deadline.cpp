// How a session sleeps.
#include "pg/server/deadline.hpp"

#include <algorithm>
#include <ctime>

#include "pg/server/orphaned_backend.hpp"

extern "C" {
#include "pgstat.h"
#include "storage/latch.h"
#include "utils/wait_event.h"
}

namespace snowflake_ids {

void nap(microseconds wanted) { nap(wanted, SNOWFLAKE_IDS_WAIT_EVENT("SnowflakeIdsNextTick")); }

void nap(microseconds wanted, uint32 event) {
    constexpr microseconds none{}, longest = seconds{1};
    // A latch counts whole milliseconds, and a tick may last one, so a session would often miss its tick. So the last
    // milliseconds are left to nanosleep(), in another call.
    constexpr milliseconds latch_from{2};
    wanted = std::clamp(wanted, none, longest);

    if (wanted >= latch_from) {
        const long ms = std::chrono::floor<milliseconds>(wanted).count();
        (void) WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH, ms, event);
        ResetLatch(MyLatch);
    } else if (wanted > none) {
        const timespec t{0, static_cast<long>(nanoseconds{wanted}.count())};
        pgstat_report_wait_start(event);
        (void) nanosleep(&t, nullptr);  // a signal ends the sleep early, and is handled below
        pgstat_report_wait_end();
        end_if_orphaned();
    }
    CHECK_FOR_INTERRUPTS();
}

void Attempts::pause(const Deadline& deadline) {
    constexpr microseconds longest = milliseconds{20};
    // Shorter by up to a quarter, so that sessions that began to wait together do not try again together.
    const auto seed = static_cast<uint64>(number_of(ledger::monotonic_clock()) + MyProcPid);
    const microseconds less = microseconds{seed * 0x9e3779b97f4a7c15 >> 40} % (next_ / 4);
    nap(std::min(next_ - less, deadline.left()));
    next_ = std::min(next_ * 2, longest);
}

}  // namespace snowflake_ids
