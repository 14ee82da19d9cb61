// The words of the ceiling file, which a crash or a disk may have garbled: read as they were written, or refused.
#include "fuzz.hpp"
#include "ledger/ceiling.hpp"

using namespace snowflake_ids;
using namespace snowflake_ids::fuzz;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    Numbers in(data, size);
    const auto word = in.take<std::uint64_t>();
    const std::uint32_t slot = in.take<std::uint16_t>() % ledger::slot_count;

    std::uint64_t ms = 0;
    const bool valid = ledger::unpack_ceiling(word, slot, ms);
    require(ms <= ledger::max_ceiling_ms);
    require(!valid || word == 0 || ledger::pack_ceiling(ms, slot) == word);

    // Of the 2^16 ways to check a time only one is right.
    const std::uint64_t right = ledger::pack_ceiling(ms, slot);
    std::uint64_t read = 0;
    require(ledger::unpack_ceiling(right, slot, read) && read == ms);
    for (unsigned bit = 0; bit < 16; bit++) {
        const std::uint64_t wrong = right ^ std::uint64_t{1} << bit;
        require(wrong == 0 || !ledger::unpack_ceiling(wrong, slot, read));
    }
    return 0;
}
