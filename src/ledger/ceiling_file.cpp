// The ceiling file: bytes, lock, reading and writing, and how a ceiling is lifted.
#include "ledger/ceiling_file.hpp"

#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include "ledger/check_bits.hpp"
#include "ledger/data_file.hpp"

namespace snowflake_ids::ledger {

namespace {

constexpr std::uint64_t ceiling_magic = 0x5e0f1a6e1ed6e202;
constexpr std::uint32_t ceiling_version = 1;

struct FileHeader {
    std::uint64_t magic;
    std::uint32_t version;
    std::uint32_t entry_count;
    std::uint64_t system_identifier;
    std::uint64_t life_number;
    std::uint64_t life_id;
    std::uint64_t floor_ms;
    std::uint64_t checksum;
};

struct FileEntry {
    std::uint64_t key;
    std::uint64_t packed_layout;
    std::uint64_t ceiling_ms;
    std::uint64_t check_bits;
};
static_assert(sizeof(FileHeader) <= 512 && sizeof(FileEntry) == ceiling_entry_bytes);

std::uint64_t checksum(const FileHeader& h) {
    std::uint64_t words[offsetof(FileHeader, checksum) / sizeof(std::uint64_t)];
    memcpy(words, &h, sizeof words);
    std::uint64_t sum = ceiling_version;
    for (const std::uint64_t word : words) sum = mix(sum, word);
    return mix(sum, 0);
}

// An entry in the wrong place, or of another cluster, counts as damaged.
std::uint64_t check_bits(const FileEntry& e, std::uint64_t system_identifier, std::uint32_t index) {
    return mix(mix(mix(mix(mix(index + 1, system_identifier), e.key), e.packed_layout), e.ceiling_ms), 0);
}

CeilingResult io_error(int error) { return {CeilingError::io, error}; }
CeilingResult damaged(int slot = -1) { return {CeilingError::damaged, 0, slot}; }

constexpr std::uint64_t to_file(Ceiling c) { return static_cast<std::uint64_t>(number_of(c)); }
constexpr Ceiling from_file(std::uint64_t ms) { return Ceiling{milliseconds{ms}}; }

template <class T>
T copy_of(const unsigned char* bytes) {
    T t;
    memcpy(&t, bytes, sizeof t);
    return t;
}

}  // namespace

void encode_ceilings(const Ceilings& c, std::uint64_t system_identifier, unsigned char* bytes) {
    memset(bytes, 0, ceiling_header_bytes);
    FileHeader h{.magic = ceiling_magic,
                 .version = ceiling_version,
                 .entry_count = slot_count,
                 .system_identifier = system_identifier,
                 .life_number = c.life.number,
                 .life_id = c.life.id,
                 .floor_ms = to_file(c.floor),
                 .checksum = 0};
    h.checksum = checksum(h);
    memcpy(bytes, &h, sizeof h);
    for (std::uint32_t i = 0; i < slot_count; i++) {
        const CeilingEntry entry = c.entries[i].key != 0 ? c.entries[i] : CeilingEntry{};
        FileEntry e{entry.key, entry.packed_layout, to_file(entry.ceiling), 0};
        e.check_bits = check_bits(e, system_identifier, i);
        memcpy(bytes + ceiling_header_bytes + i * sizeof e, &e, sizeof e);
    }
}

CeilingResult decode_ceilings(const unsigned char* bytes, std::size_t size, std::uint64_t system_identifier,
                              Ceilings& c) {
    if (size != ceiling_file_bytes) return damaged();
    const auto h = copy_of<FileHeader>(bytes);
    if (h.magic != ceiling_magic) return damaged();
    if (h.version != ceiling_version) return {CeilingError::other_version};
    if (h.entry_count != slot_count || h.checksum != checksum(h)) return damaged();
    if (h.system_identifier != system_identifier) return {CeilingError::foreign};
    c.life = {h.life_number, h.life_id};
    c.floor = from_file(h.floor_ms);
    for (std::uint32_t i = 0; i < slot_count; i++) {
        const auto e = copy_of<FileEntry>(bytes + ceiling_header_bytes + i * sizeof(FileEntry));
        const bool sound = e.key != 0 || (e.packed_layout | e.ceiling_ms) == 0;
        if (!sound || e.check_bits != check_bits(e, system_identifier, i)) return damaged(static_cast<int>(i));
        c.entries[i] = {e.key, e.packed_layout, from_file(e.ceiling_ms)};
    }
    return {};
}

LockedCeilings::~LockedCeilings() {
    if (fd_ >= 0) close(fd_);
    if (dir_fd_ >= 0) close(dir_fd_);
}

// A new file gets life 0, older than every other, so the first life that writes it writes everything from memory.
CeilingResult LockedCeilings::open() {
    dir_fd_ = open_directory(place_.dir);
    if (dir_fd_ < 0) return io_error(errno);
    fd_ = open_file(dir_fd_, ceiling_file_name);
    if (fd_ < 0 && errno == ENOENT) {
        unsigned char bytes[ceiling_file_bytes];
        encode_ceilings({}, place_.system_identifier, bytes);
        place_.before_write();
        const int error = create_file(dir_fd_, ceiling_file_name, place_.mode, bytes, sizeof bytes, place_.sync);
        if (error != 0) return io_error(error);
        fd_ = open_file(dir_fd_, ceiling_file_name);
    }
    if (fd_ < 0) return io_error(errno);
    if (flock(fd_, LOCK_EX | LOCK_NB) != 0)
        return errno == EWOULDBLOCK ? CeilingResult{CeilingError::busy} : io_error(errno);
    // Another file may have got this name before this process got the lock.
    return is_same_file(dir_fd_, ceiling_file_name, fd_) ? CeilingResult{} : CeilingResult{CeilingError::busy};
}

CeilingResult LockedCeilings::read(Ceilings& c) const {
    unsigned char bytes[ceiling_file_bytes + 1];  // one byte more, to notice a longer file
    std::size_t size;
    if (const int error = read_file(fd_, bytes, sizeof bytes, size)) return io_error(error);
    const CeilingResult r = decode_ceilings(bytes, size, place_.system_identifier, c);
    // The creator of an unwritten file may have failed before it synced the directory.
    if (r.error == CeilingError::none && c.life.number == 0 && place_.sync && fsync(dir_fd_) != 0)
        return io_error(errno);
    return r;
}

CeilingResult LockedCeilings::write(const Ceilings& c) const {
    unsigned char bytes[ceiling_file_bytes];
    encode_ceilings(c, place_.system_identifier, bytes);
    place_.before_write();
    if (const int error = write_file(fd_, bytes, sizeof bytes)) return io_error(error);
    if (place_.sync) {
        if (const int error = sync_data(fd_)) return io_error(error);
    }
    return is_same_file(dir_fd_, ceiling_file_name, fd_) ? CeilingResult{} : CeilingResult{CeilingError::busy};
}

Ceiling highest_ceiling(const Ledger& ledger) {
    Ceiling highest{};
    for (std::uint32_t i = 0; i < slot_count; i++) highest = std::max(highest, ledger.slots[i].ceiling.load());
    return highest;
}

CeilingResult check_ceilings(const CeilingPlace& place, const Ledger& ledger) {
    return with_ceilings(place, [&](const LockedCeilings& file) {
        Ceilings c;
        CeilingResult r = file.read(c);
        if (r.error == CeilingError::none && has_begun(*ledger.header) && supersedes(c.life, life_of(*ledger.header)))
            r.error = CeilingError::superseded;
        return r;
    });
}

}  // namespace snowflake_ids::ledger
