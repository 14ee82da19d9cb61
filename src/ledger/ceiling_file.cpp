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

std::uint64_t checksum(const Ceilings& c) {
    std::uint64_t words[offsetof(Ceilings, checksum) / sizeof(std::uint64_t)];
    memcpy(words, &c, sizeof words);
    std::uint64_t sum = ceiling_version;
    for (const std::uint64_t word : words) sum = mix(sum, word);
    return mix(sum, 0);
}

// An entry in the wrong place, or of another cluster, counts as damaged.
std::uint64_t check_bits(const CeilingEntry& e, std::uint64_t system_identifier, std::uint32_t index) {
    const std::uint64_t of_generator = mix(mix(mix(index + 1, system_identifier), e.key), e.packed_layout);
    return mix(mix(of_generator, static_cast<std::uint64_t>(number_of(e.ceiling))), 0);
}

CeilingResult io_error(int error) { return {CeilingError::io, error}; }
CeilingResult damaged(int slot = -1) { return {CeilingError::damaged, 0, slot}; }

}  // namespace

void seal_ceilings(Ceilings& c, std::uint64_t system_identifier) {
    c.system_identifier = system_identifier;
    c.checksum = checksum(c);
    for (std::uint32_t i = 0; i < slot_count; i++) {
        CeilingEntry& e = c.entries[i];
        if (e.key == 0) e = {};
        e.check_bits = check_bits(e, system_identifier, i);
    }
}

CeilingResult verify_ceilings(const Ceilings& c, std::size_t size, std::uint64_t system_identifier) {
    if (size != sizeof c) return damaged();
    if (c.magic != ceiling_magic) return damaged();
    if (c.version != ceiling_version) return {CeilingError::other_version};
    if (c.entry_count != slot_count || c.checksum != checksum(c)) return damaged();
    if (c.system_identifier != system_identifier) return {CeilingError::foreign};
    for (std::uint32_t i = 0; i < slot_count; i++) {
        const CeilingEntry& e = c.entries[i];
        const bool sound = e.key != 0 || (e.packed_layout == 0 && e.ceiling == Ceiling{});
        if (!sound || e.check_bits != check_bits(e, system_identifier, i)) return damaged(static_cast<int>(i));
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
    fd_ = open_existing(dir_fd_, ceiling_file_name);
    if (fd_ < 0 && errno == ENOENT) {
        Ceilings c;
        seal_ceilings(c, place_.system_identifier);
        place_.before_write();
        const int error = create_file(dir_fd_, ceiling_file_name, place_.mode, &c, sizeof c, place_.sync);
        if (error != 0) return io_error(error);
        fd_ = open_existing(dir_fd_, ceiling_file_name);
    }
    if (fd_ < 0) return io_error(errno);
    if (flock(fd_, LOCK_EX | LOCK_NB) != 0)
        return errno == EWOULDBLOCK ? CeilingResult{CeilingError::busy} : io_error(errno);
    // Another file may have got this name before this process got the lock.
    return is_same_file(dir_fd_, ceiling_file_name, fd_) ? CeilingResult{} : CeilingResult{CeilingError::busy};
}

CeilingResult LockedCeilings::read(Ceilings& c) const {
    std::size_t size;
    if (const int error = read_file(fd_, &c, sizeof c, size)) return io_error(error);
    if (char more; pread(fd_, &more, 1, sizeof c) > 0) size++;
    const CeilingResult r = verify_ceilings(c, size, place_.system_identifier);
    // The creator of an unwritten file may have failed before it synced the directory.
    if (r.error == CeilingError::none && c.life.number == 0 && place_.sync && fsync(dir_fd_) != 0)
        return io_error(errno);
    return r;
}

CeilingResult LockedCeilings::write(Ceilings& c) const {
    seal_ceilings(c, place_.system_identifier);
    place_.before_write();
    if (const int error = write_file(fd_, &c, sizeof c)) return io_error(error);
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
