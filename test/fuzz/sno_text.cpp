// The sno reader for text.
#include "ids.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    snowflake_ids::fuzz::try_text<snowflake_ids::fuzz::Sno>(data, size);
    return 0;
}
