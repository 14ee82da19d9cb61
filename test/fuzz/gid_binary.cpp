// The gid reader for bytes.
#include "ids.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    snowflake_ids::fuzz::try_bytes<snowflake_ids::fuzz::Gid>(data, size);
    return 0;
}
