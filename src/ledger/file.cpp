// Making, checking and mapping the ledger file; finding the slot of a generator in it.
#include "ledger/file.hpp"

#include <cerrno>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ledger/clock.hpp"
#include "ledger/directory.hpp"

namespace snowflake_ids::ledger {

namespace {

// FNV-1a over the constants of the header.
std::uint64_t checksum(const Header& h) {
    const auto* p = reinterpret_cast<const unsigned char*>(&h);
    std::uint64_t sum = 0xcbf29ce484222325;
    for (std::size_t i = 0; i < offsetof(Header, checksum); i++) sum = (sum ^ p[i]) * 0x100000001b3;
    return sum;
}

Attached failed(FileError error, int system_errno = 0) { return {{}, error, system_errno}; }

// 0 or errno.
int create(int dir_fd, const char* name, unsigned mode, std::uint64_t system_identifier, bool sync) {
    alignas(Header) unsigned char page[header_bytes] = {};
    write_constants(*reinterpret_cast<Header*>(page), system_identifier);
    return create_file(dir_fd, name, mode, page, sizeof page, file_bytes, sync);
}

FileError check(const Header& h, std::uint64_t system_identifier) {
    if (h.magic != magic) return FileError::bad_magic;
    if (h.version != format_version) return FileError::bad_version;
    if (h.checksum != checksum(h)) return FileError::bad_checksum;
    if (h.slot_bytes != sizeof(Slot) || h.slot_count != slot_count) return FileError::bad_version;
    if (h.system_identifier != system_identifier) return FileError::foreign;
    return FileError::none;
}

Attached map(int fd, std::uint64_t system_identifier) {
    struct stat st;
    if (fstat(fd, &st) != 0) return failed(FileError::cannot_open, errno);
    if (!S_ISREG(st.st_mode) || st.st_size != static_cast<off_t>(file_bytes)) return failed(FileError::bad_size);

    if (st.st_blocks * 512 < st.st_size) {
        const int rc = fill_holes(fd, file_bytes);
        if (rc != 0) return failed(FileError::cannot_create, rc);
    }
    Attached a = map_unchecked(fd);
    if (a.error != FileError::none) return a;
    const FileError error = check(*a.ledger.header, system_identifier);
    if (error != FileError::none) {
        detach(a.ledger);
        return failed(error);
    }
    return a;
}

Attached open_and_map(int dir_fd, const char* name, unsigned mode, std::uint64_t system_identifier, bool sync) {
    int fd = open_file(dir_fd, name);
    if (fd < 0 && errno == ENOENT) {
        const int error = create(dir_fd, name, mode, system_identifier, sync);
        if (error != 0) return failed(FileError::cannot_create, error);
        fd = open_file(dir_fd, name);
    }
    if (fd < 0) return failed(FileError::cannot_open, errno);

    Attached a = has_one_name(fd, dir_fd, name) ? map(fd, system_identifier) : failed(FileError::relinked);
    close(fd);  // the mapping stays
    return a;
}

}  // namespace

void write_constants(Header& h, std::uint64_t system_identifier) {
    h.magic = magic;
    h.version = format_version;
    h.slot_bytes = sizeof(Slot);
    h.slot_count = slot_count;
    h.reserved0 = 0;
    h.system_identifier = system_identifier;
    h.created_us = wall_us();
    h.checksum = checksum(h);
}

Attached map_unchecked(int fd) {
    struct stat st;
    if (fstat(fd, &st) != 0) return failed(FileError::cannot_open, errno);
    void* p = mmap(nullptr, file_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (p == MAP_FAILED) return failed(FileError::cannot_map, errno);
    return {{static_cast<Header*>(p), reinterpret_cast<Slot*>(static_cast<char*>(p) + header_bytes),
             static_cast<std::uint64_t>(st.st_dev), static_cast<std::uint64_t>(st.st_ino)},
            FileError::none,
            0};
}

Attached attach(const char* dir, const char* name, unsigned mode, std::uint64_t system_identifier, bool sync) {
    const int dir_fd = open_directory(dir);
    if (dir_fd < 0) return failed(FileError::cannot_open, errno);
    const Attached a = open_and_map(dir_fd, name, mode, system_identifier, sync);
    close(dir_fd);
    return a;
}

bool still_linked(const char* dir, const char* name, const Ledger& ledger) {
    const int dir_fd = open_directory(dir);
    if (dir_fd < 0) return false;
    struct stat st;
    const bool found = fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0;
    close(dir_fd);
    return found && st.st_dev == ledger.device && st.st_ino == ledger.inode && st.st_nlink == 1;
}

void detach(Ledger& ledger) {
    if (ledger) munmap(ledger.header, file_bytes);
    ledger = {};
}

Slot* find_slot(const Ledger& ledger, const Key& key, bool may_create, std::uint64_t numbering) {
    // Fibonacci hashing of the identity, then linear probing. Slots are never given back. So the search ends at the
    // first free slot that this generator could have taken.
    const std::uint64_t identity = Key{key.format, key.node, 0}.pack() ^ numbering;
    std::size_t i = static_cast<std::size_t>(identity * 0x9e3779b97f4a7c15 >> 54) % slot_count;
    for (std::size_t probes = 0; probes < slot_count; probes++, i = (i + 1) % slot_count) {
        Slot& slot = ledger.slots[i];
        std::uint64_t seen = slot.key.load();
        if (seen == 0) {
            std::uint64_t n = numbering == 0 ? 0 : slot.numbering.load();
            if (n != 0 && n != numbering) continue;
            if (!may_create) return nullptr;
            if (n != numbering && !slot.numbering.compare_exchange_strong(n, numbering) && n != numbering) continue;
            if (slot.key.compare_exchange_strong(seen, key.pack())) return &slot;
        }
        if (Key::unpack(seen).same_generator(key) && (numbering == 0 || slot.numbering.load() == numbering))
            return &slot;
    }
    return nullptr;
}

bool numbering_used(const Ledger& ledger, std::uint64_t numbering) {
    for (std::size_t i = 0; i < slot_count; i++) {
        const Slot& slot = ledger.slots[i];
        if (Key::unpack(slot.key.load()).format == Format::snowflake && slot.numbering.load() == numbering) return true;
    }
    return false;
}

std::uint32_t slots_owned(const Ledger& ledger, std::uint32_t owner) {
    std::uint32_t n = 0;
    for (std::size_t i = 0; i < slot_count; i++) {
        const std::uint64_t seen = ledger.slots[i].key.load();
        if (seen != 0 && Key::unpack(seen).owner == owner) n++;
    }
    return n;
}

std::uint32_t slots_owned(const Ledger& ledger) {
    std::uint32_t n = 0;
    for (std::size_t i = 0; i < slot_count; i++) {
        if (Key::unpack(ledger.slots[i].key.load()).owner != 0) n++;
    }
    return n;
}

}  // namespace snowflake_ids::ledger
