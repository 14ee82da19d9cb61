// The reader for Mastic's decimal text: the same number whatever the spelling, and one canonical spelling.
#include "core/mastic.hpp"
#include "fuzz.hpp"

using namespace snowflake_ids;
using namespace snowflake_ids::fuzz;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const Exact text(data, size);
    const Result<std::uint64_t> id = mastic::parse(text.bytes, text.size);
    if (!id) {
        // Nothing that looks canonical is refused but what does not fit.
        if (id.error == Error::id_range) require(size >= mastic::max_text_size);
        return 0;
    }
    char canonical[mastic::max_text_size];
    const std::size_t n = mastic::print(id.value, canonical);
    const Result<std::uint64_t> again = mastic::parse(canonical, n);
    require(again && again.value == id.value);

    const char* digits = text.bytes;
    std::size_t left = size;
    if (*digits == '+') digits++, left--;
    while (left > 1 && *digits == '0') digits++, left--;
    require(left == n && std::memcmp(digits, canonical, n) == 0);

    // 48 + 16 bits: every number is an id.
    const Result<Layout::Fields> fields = mastic::layout.split(id.value);
    require(fields && mastic::layout.compose(fields.value) == id.value);
    const std::int64_t us = mastic::layout.time_us(id.value);
    require(mastic::layout.lower_bound(us).value <= id.value && id.value <= mastic::layout.upper_bound(us).value);
    return 0;
}
