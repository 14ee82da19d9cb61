// The ceiling file: opened under a lock, checked, read and written; and how a ceiling is raised.
#include "ledger/ceiling.hpp"

#include <cerrno>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ledger/claim.hpp"
#include "ledger/directory.hpp"

namespace snowflake_ids::ledger {

namespace {

constexpr unsigned check_width = 16;

// The slot index is part of the sum: an entry in the wrong place counts as damaged.
std::uint64_t check_bits(std::uint64_t ms, std::uint32_t slot_index) {
    std::uint64_t h = (ms ^ std::uint64_t{slot_index} << 48) * 0x9e3779b97f4a7c15;
    h ^= h >> 29;
    h *= 0xbf58476d1ce4e5b9;
    return h >> (64 - check_width);
}

CeilingResult io_error(int error) { return {CeilingError::io, error, 0}; }

}  // namespace

std::uint64_t pack_ceiling(std::uint64_t ms, std::uint32_t slot_index) {
    return ms << check_width | check_bits(ms, slot_index);
}

bool unpack_ceiling(std::uint64_t word, std::uint32_t slot_index, std::uint64_t& ms) {
    ms = word >> check_width;
    return word == 0 || word == pack_ceiling(ms, slot_index);
}

CeilingResult LockedCeilings::open_and_lock(const char* dir, unsigned mode, const Ledger& ledger, bool sync) {
    const int dir_fd = open_directory(dir);
    if (dir_fd < 0) return io_error(errno);
    fd_ = open_file(dir_fd, ceiling_file_name);
    int error = fd_ < 0 ? errno : 0;
    if (error == ENOENT) {
        // The file was removed, but the ledger is still there: create the file again with the published ceilings.
        std::uint64_t words[slot_count];
        for (std::uint32_t i = 0; i < slot_count; i++) {
            const std::uint64_t ms = ledger.slots[i].ceiling.load();
            words[i] = ms == 0 ? 0 : pack_ceiling(ms, i);
        }
        error = create_file(dir_fd, ceiling_file_name, mode, words, sizeof words, ceiling_file_bytes, sync);
        if (error == 0) {
            fd_ = open_file(dir_fd, ceiling_file_name);
            error = fd_ < 0 ? errno : 0;
        }
    }
    close(dir_fd);
    if (error != 0) return io_error(error);

    if (flock(fd_, LOCK_EX | LOCK_NB) != 0)
        return errno == EWOULDBLOCK ? CeilingResult{CeilingError::busy, 0, 0} : io_error(errno);
    return {};
}

CeilingResult LockedCeilings::open(const char* dir, unsigned mode, const Ledger& ledger, bool sync) {
    const CeilingResult r = open_and_lock(dir, mode, ledger, sync);
    if (r.error != CeilingError::none) return r;
    struct stat st;
    if (fstat(fd_, &st) != 0) return io_error(errno);
    if (!S_ISREG(st.st_mode) || st.st_size != static_cast<off_t>(ceiling_file_bytes))
        return {CeilingError::damaged, 0, 0};
    return {};
}

CeilingResult LockedCeilings::open_and_repair(const char* dir, unsigned mode, const Ledger& ledger,
                                              std::uint64_t floor_ms, bool sync) {
    CeilingResult r = open_and_lock(dir, mode, ledger, sync);
    if (r.error != CeilingError::none) return r;
    if (ftruncate(fd_, static_cast<off_t>(ceiling_file_bytes)) != 0) return io_error(errno);
    std::uint64_t ms[slot_count];
    while ((r = read(ms)).error == CeilingError::damaged) {
        r = write(r.slot, floor_ms, false);
        if (r.error != CeilingError::none) return r;
    }
    if (r.error == CeilingError::none && sync && fsync(fd_) != 0) return io_error(errno);
    return r;
}

// Closing the only descriptor of this open file drops the lock.
LockedCeilings::~LockedCeilings() {
    if (fd_ >= 0) close(fd_);
}

CeilingResult LockedCeilings::read(Ceilings& ms) const {
    std::uint64_t words[slot_count];
    std::size_t done = 0;
    while (done < sizeof words) {
        const ssize_t n =
            pread(fd_, reinterpret_cast<char*>(words) + done, sizeof words - done, static_cast<off_t>(done));
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return io_error(errno);
        if (n == 0) return {CeilingError::damaged, 0, 0};
        done += static_cast<std::size_t>(n);
    }
    for (std::uint32_t i = 0; i < slot_count; i++) {
        if (!unpack_ceiling(words[i], i, ms[i])) return {CeilingError::damaged, 0, i};
    }
    return {};
}

CeilingResult LockedCeilings::write_all(const Ceilings& ms, bool sync) const {
    std::uint64_t words[slot_count];
    for (std::uint32_t i = 0; i < slot_count; i++) words[i] = ms[i] == 0 ? 0 : pack_ceiling(ms[i], i);
    if (const int error = write_at(fd_, words, sizeof words, 0)) return io_error(error);
    if (sync && fdatasync(fd_) != 0) return io_error(errno);
    return {};
}

CeilingResult LockedCeilings::write(std::uint32_t slot_index, std::uint64_t ms, bool sync) const {
    const std::uint64_t word = pack_ceiling(ms, slot_index);
    if (const int error = write_at(fd_, &word, sizeof word, slot_index * sizeof word)) return io_error(error);
    if (sync && fdatasync(fd_) != 0) return io_error(errno);
    return {};
}

CeilingResult raise_ceiling(const char* dir, unsigned mode, const Ledger& ledger, Slot& slot, std::uint64_t ms,
                            Along along, bool sync) {
    if (slot.ceiling.load() >= ms) return {};
    LockedCeilings file;
    CeilingResult r = file.open(dir, mode, ledger, sync);
    if (r.error != CeilingError::none) return r;
    if (!still_linked(dir, file_name, ledger)) return {CeilingError::relinked, 0, 0};
    if (slot.ceiling.load() >= ms) return {};
    // The slot's first ceiling: sync the ledger before it. A power loss must not take the slot or its numbering and
    // leave the ceiling, because another generator could then take this place, and the ceiling would say nothing about
    // its ids.
    if (sync && slot.ceiling.load() == 0 && msync(ledger.header, file_bytes, MS_SYNC) != 0) return io_error(errno);

    // Written before our own, whose sync covers them too. They are published after that sync.
    const auto own = static_cast<std::uint32_t>(&slot - ledger.slots);
    const std::uint64_t to_ms = ms < along.to_ms ? ms : along.to_ms;
    bool taken[slot_count] = {};
    for (std::uint32_t i = 0; i < slot_count; i++) {
        const std::uint64_t ceiling = ledger.slots[i].ceiling.load();
        if (i == own || ceiling <= along.from_ms || ceiling >= to_ms) continue;
        r = file.write(i, to_ms, false);
        if (r.error != CeilingError::none) return r;
        taken[i] = true;
    }
    r = raise_locked_ceiling(slot, own, ms, sync, file);
    if (r.error != CeilingError::none) return r;
    for (std::uint32_t i = 0; i < slot_count; i++) {
        if (taken[i]) raise_to(ledger.slots[i].ceiling, to_ms);
    }
    return r;
}

}  // namespace snowflake_ids::ledger
