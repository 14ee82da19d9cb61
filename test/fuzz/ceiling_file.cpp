// The whole ceiling file as a crash or a disk may have left it: read as it was written or refused, at the first word
// that is wrong. A repair puts the floor in place of what cannot be read, and nothing else.
#include <fcntl.h>

#include "directory.hpp"
#include "ledger/ceiling.hpp"

using namespace snowflake_ids;
using namespace snowflake_ids::fuzz;
using namespace snowflake_ids::ledger;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static int fd = -1;
    static Ledger ledger;
    static std::uint64_t words[slot_count];
    if (fd < 0) {
        char path[128];
        std::snprintf(path, sizeof path, "%s/%s", directory(), ceiling_file_name);
        fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
        const Attached a = attach(directory(), file_name, 0600, 1, false);
        require(fd >= 0 && a.ledger);
        ledger = a.ledger;
    }
    std::memset(words, 0, sizeof words);

    // Times as they are written, in their place or in another one, and noise.
    fuzz::Numbers in(data, size);
    const auto how = in.take<std::uint8_t>();
    for (unsigned n = how & 15; n > 0; n--) {
        const std::uint32_t slot = in.take<std::uint16_t>() % slot_count;
        const auto v = in.take<std::uint64_t>();
        const auto kind = in.take<std::uint8_t>();
        words[slot] = kind < 200 ? pack_ceiling(v & max_ceiling_ms, kind < 150 ? slot : v % slot_count) : v;
    }
    std::size_t length = ceiling_file_bytes;
    if (how & 16) length = in.take<std::uint16_t>() % (2 * ceiling_file_bytes);
    const std::uint64_t floor_ms = in.take<std::uint64_t>() & max_ceiling_ms;
    require(ftruncate(fd, 0) == 0 && ftruncate(fd, static_cast<off_t>(length)) == 0);
    const std::size_t written = length < ceiling_file_bytes ? length : ceiling_file_bytes;
    require(pwrite(fd, words, written, 0) == static_cast<ssize_t>(written));
    // What a repair finds: a file that was cut reads as zeros, which say that there is no ceiling.
    std::memset(reinterpret_cast<char*>(words) + written, 0, ceiling_file_bytes - written);

    std::uint64_t expected[slot_count];
    std::uint32_t first_bad = slot_count;
    for (std::uint32_t i = slot_count; i-- > 0;) {
        expected[i] = words[i] >> 16;
        if (words[i] == 0 || pack_ceiling(expected[i], i) == words[i]) continue;
        first_bad = i;
        expected[i] = floor_ms;
    }

    std::uint64_t ms[slot_count];
    {
        LockedCeilings file;
        const CeilingResult opened = file.open(directory(), 0600, ledger, false);
        require(opened.error == (length == ceiling_file_bytes ? CeilingError::none : CeilingError::damaged));
        if (opened.error == CeilingError::none) {
            const CeilingResult r = file.read(ms);
            require(r.error == (first_bad == slot_count ? CeilingError::none : CeilingError::damaged));
            if (r.error == CeilingError::damaged) require(r.slot == first_bad);
            if (r.error == CeilingError::none) require(std::memcmp(ms, expected, sizeof ms) == 0);
        }
        // Nobody else can have it meanwhile.
        LockedCeilings other;
        require(other.open(directory(), 0600, ledger, false).error == CeilingError::busy);
    }
    {
        LockedCeilings file;
        require(file.open_and_repair(directory(), 0600, ledger, floor_ms, false).error == CeilingError::none);
        require(file.read(ms).error == CeilingError::none && std::memcmp(ms, expected, sizeof ms) == 0);
        struct stat st;
        require(fstat(fd, &st) == 0 && st.st_size == static_cast<off_t>(ceiling_file_bytes));
    }
    return 0;
}
