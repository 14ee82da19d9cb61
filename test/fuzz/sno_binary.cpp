// The sno reader for bytes, with up to three ids, whose order is checked.
#include "ids.hpp"

using namespace snowflake_ids;
using namespace snowflake_ids::fuzz;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const Exact whole(data, size);
    require(static_cast<bool>(sno::from_bytes(whole.data(), size)) ? size == sno::binary_size : true);

    sno::Id ids[3] = {Sno::lowest(), Sno::highest(), Sno::lowest()};
    int n = 0;
    for (std::size_t at = 0; n < 3 && at + sno::binary_size <= size; at += sno::binary_size) {
        const Exact bytes(data + at, sno::binary_size);
        const Result<sno::Id> id = sno::from_bytes(bytes.data(), bytes.size);
        if (!id) continue;
        require(std::memcmp(id.value.bytes, bytes.bytes, bytes.size) == 0);
        require_consistent(id.value);
        require_round_trip<Sno>(id.value);
        ids[n++] = id.value;
    }
    if (n > 0) require_one_order<Sno>(ids[0], ids[1], ids[2]);
    return 0;
}
