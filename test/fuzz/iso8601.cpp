// The reader for times in settings, beside the C library's calendar.
#include <ctime>

#include "core/iso8601.hpp"
#include "core/snowflake_si.hpp"
#include "fuzz.hpp"

using namespace snowflake_ids;
using namespace snowflake_ids::fuzz;

namespace {

constexpr std::int64_t first_us = -62135596800000000, last_us = 253402300799999999;  // years 1 to 9999

// Written with the C library, in UTC.
std::size_t print(std::int64_t us, char* out, std::size_t size) {
    std::int64_t seconds = us / 1000000, fraction = us % 1000000;
    if (fraction < 0) seconds--, fraction += 1000000;
    const std::time_t t = seconds;
    std::tm tm{};
    gmtime_r(&t, &tm);
    return static_cast<std::size_t>(std::snprintf(out, size, "%04d-%02d-%02d %02d:%02d:%02d.%06d+00", tm.tm_year + 1900,
                                                  tm.tm_mon + 1, tm.tm_mday, tm.tm_hour, tm.tm_min, tm.tm_sec,
                                                  static_cast<int>(fraction)));
}

void require_round_trip(std::int64_t us) {
    if (us < first_us || us > last_us) return;
    char text[80];
    const std::size_t n = print(us, text, sizeof text);
    const Result<std::int64_t> again = iso8601::parse(text, n);
    require(again && again.value == us);
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    require_round_trip(static_cast<std::int64_t>(Numbers(data, size).take<std::uint64_t>() % 315537897600000000) +
                       first_us);

    const Exact text(data, size);
    const Result<std::int64_t> us = iso8601::parse(text.bytes, text.size);
    if (!us) return 0;
    // A zone moves the ends by less than a day.
    require(us.value > first_us - 86400000000 && us.value < last_us + 86400000000);
    require_round_trip(us.value);

    // Nothing may follow.
    char longer[128];
    if (size < sizeof longer) {
        std::memcpy(longer, data, size);
        longer[size] = ' ';
        require(!iso8601::parse(longer, size + 1));
    }
    // As the base clock of Snowflake-SI: refused, or good for every time of its ids.
    const Result<Layout> layout = snowflake_si::layout(us.value, snowflake_si::default_machine_bits);
    if (layout) {
        require(layout.value.time_us(0) == us.value);
        require(layout.value.timeline.floor_tick(layout.value.time_us(layout.value.max_id())).value ==
                layout.value.timeline.max_tick());
    }
    return 0;
}
