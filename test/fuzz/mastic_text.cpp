// Mastic's decimal text: the same number whatever the spelling, and one canonical spelling.
#include <string>

#include "core/mastic.hpp"
#include "fuzz.hpp"

using namespace snowflake_ids;
using namespace snowflake_ids::fuzz;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const Exact text(data, size);
    const Result<std::uint64_t> id = mastic::parse(text.bytes, text.size);
    if (!id) {
        if (id.error == Error::id_range) require(size >= mastic::max_text_size);
        return 0;
    }
    const std::string canonical = std::to_string(id.value);
    const Result<std::uint64_t> again = mastic::parse(canonical.data(), canonical.size());
    require(again && again.value == id.value);

    const char* digits = text.bytes;
    std::size_t left = size;
    if (*digits == '+') digits++, left--;
    while (left > 1 && *digits == '0') digits++, left--;
    require(canonical == std::string(digits, left));

    const Result<Layout::Fields> fields = mastic::layout.split(id.value);
    require(fields && mastic::layout.compose(fields.value) == id.value);
    const UnixTime at = mastic::layout.time_of(id.value);
    require(mastic::layout.lower_bound(at).value <= id.value && id.value <= mastic::layout.upper_bound(at).value);
    return 0;
}
