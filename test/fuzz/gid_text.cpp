// The gid reader for text.
#include "ids.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    snowflake_ids::fuzz::try_text<snowflake_ids::fuzz::Gid>(data, size);
    return 0;
}
