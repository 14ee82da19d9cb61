// The ledger file as a crash, a disk or another server may have left it: mapped if its constants are those of this
// library and this cluster and nothing of them is damaged, else refused for the right reason. Of what is mapped the
// words may be anything, and the search for slots must cope with that.
#include <fcntl.h>

#include "directory.hpp"
#include "ledger/file.hpp"
#include "ledger/formats.hpp"

using namespace snowflake_ids;
using namespace snowflake_ids::fuzz;
using namespace snowflake_ids::ledger;

namespace {

constexpr std::uint64_t cluster = 7123456789012345678;
constexpr std::size_t constants = offsetof(Header, checksum);

// As the file's description says; not the library's code.
std::uint64_t checksum(const unsigned char* p) {
    std::uint64_t sum = 0xcbf29ce484222325;
    for (std::size_t i = 0; i < constants; i++) sum = (sum ^ p[i]) * 0x100000001b3;
    return sum;
}

template <class T>
T at(const unsigned char* p, std::size_t offset) {
    T v;
    std::memcpy(&v, p + offset, sizeof v);
    return v;
}

FileError expected(const unsigned char* p, std::size_t size) {
    if (size != file_bytes) return FileError::bad_size;
    if (at<std::uint64_t>(p, offsetof(Header, magic)) != magic) return FileError::bad_magic;
    if (at<std::uint32_t>(p, offsetof(Header, version)) != format_version) return FileError::bad_version;
    if (at<std::uint64_t>(p, constants) != checksum(p)) return FileError::bad_checksum;
    if (at<std::uint32_t>(p, offsetof(Header, slot_bytes)) != sizeof(Slot) ||
        at<std::uint32_t>(p, offsetof(Header, slot_count)) != slot_count)
        return FileError::bad_version;
    return at<std::uint64_t>(p, offsetof(Header, system_identifier)) == cluster ? FileError::none : FileError::foreign;
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static unsigned char* file = nullptr;
    static int fd = -1;
    static char path[128];
    if (fd < 0) {
        file = static_cast<unsigned char*>(std::malloc(file_bytes));
        std::snprintf(path, sizeof path, "%s/%s", directory(), file_name);
        fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
        require(fd >= 0);
    }
    std::memset(file, 0, file_bytes);
    write_constants(*reinterpret_cast<Header*>(file), cluster);

    // What is damaged: bytes of the constants, perhaps with a checksum that fits, bytes anywhere else, the size.
    fuzz::Numbers in(data, size);
    const auto how = in.take<std::uint8_t>();
    for (unsigned n = how & 7; n > 0; n--) file[in.take<std::uint8_t>() % (constants + 8)] ^= in.take<std::uint8_t>();
    if (how & 8) {
        const std::uint64_t sum = checksum(file);
        std::memcpy(file + constants, &sum, sizeof sum);
    }
    for (unsigned n = in.take<std::uint8_t>() % 24; n > 0; n--) {
        const std::size_t word = in.take<std::uint16_t>() % ((file_bytes - constants - 8) / 8);
        const auto v = in.take<std::uint64_t>();
        std::memcpy(file + constants + 8 + word * 8, &v, sizeof v);
    }
    std::size_t length = file_bytes;
    if (how & 16) length = in.take<std::uint32_t>() % (2 * file_bytes);
    require(ftruncate(fd, 0) == 0 && ftruncate(fd, static_cast<off_t>(length)) == 0);
    const std::size_t written = length < file_bytes ? length : file_bytes;
    require(pwrite(fd, file, written, 0) == static_cast<ssize_t>(written));

    Attached a = attach(directory(), file_name, 0600, cluster, false);
    require(a.error == expected(file, length));
    require(static_cast<bool>(a.ledger) == (a.error == FileError::none));
    // Nothing is mended in passing.
    struct stat st;
    require(fstat(fd, &st) == 0 && st.st_size == static_cast<off_t>(length));
    if (!a.ledger) return 0;
    require(std::memcmp(a.ledger.header, file, file_bytes) == 0);

    const Key key{static_cast<Format>(1 + in.take<std::uint8_t>() % 3), in.take<std::uint16_t>(),
                  in.take<std::uint8_t>()};
    const bool numbered = key.format == Format::snowflake;
    const std::uint64_t numbering = numbered ? in.take<std::uint64_t>() | 1 : 0;
    const Slot* found = find_slot(a.ledger, key, false, numbering);
    const std::uint32_t owned = slots_owned(a.ledger, key.owner);
    Slot* slot = find_slot(a.ledger, key, true, numbering);
    require(found == nullptr || found == slot);
    if (slot != nullptr) {
        // A format without numberings takes over a free slot as a killed maker left it, with its numbering.
        require(Key::unpack(slot->key.load()).same_generator(key) &&
                (!numbered || slot->numbering.load() == numbering));
        require(find_slot(a.ledger, key, true, numbering) == slot &&
                find_slot(a.ledger, key, false, numbering) == slot);
        require(slots_owned(a.ledger, key.owner) == owned + (found == nullptr));
        require(!numbered || numbering_used(a.ledger, numbering));
        const Timeline timeline = timeline_of(*slot);
        require(timeline.tick_us > 0);
        require(clamped_tick(timeline, in.take<std::int64_t>()) <= timeline.max_tick());
    }
    require(still_linked(directory(), file_name, a.ledger));
    detach(a.ledger);
    return 0;
}
