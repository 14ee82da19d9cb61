// As gid_text.cpp.
#include "ids.hpp"

using namespace snowflake_ids;
using namespace snowflake_ids::fuzz;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const Exact text(data, size);
    const Result<sno::Id> id = sno::parse(text.bytes, text.size);
    if (!id) return 0;
    char again[sno::text_size];
    sno::print(id.value, again);
    require(size == sizeof again && std::memcmp(data, again, size) == 0);
    require_consistent(id.value);
    require_round_trip<Sno>(id.value);

    require(sno::parse(text.bytes, size - 1).error == Error::bad_length);
    for (std::size_t i = 0; i < size; i++) {
        const char was = text.bytes[i];
        text.bytes[i] = '_';
        require(!sno::parse(text.bytes, size));
        text.bytes[i] = was;
    }
    return 0;
}
