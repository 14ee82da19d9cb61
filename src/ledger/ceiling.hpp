// The durable ceilings of the slots: a small file next to the ledger, one entry per slot. A slot may not issue a tick
// at or above its ceiling. So even if the ledger file has lost something in a crash, no id at or above the ceiling was
// issued.
//
//   8 bytes at 8 * slot index:  bits 63-16  Unix milliseconds
//                               bits 15-0   check bits over time and slot index
//
// An entry lies inside one sector, so a torn page loses no entry that was synced before. All zero is valid: no ceiling
// yet.
//
// Raising. One process at a time, under a file lock that the kernel releases when the process ends: write the entry,
// sync the file, and only then publish the value: store it in the slot, where sessions rely on it, by an atomic
// maximum. During this, other processes continue below the old ceiling. Syncing the mapped page of the slot instead
// would stop them all.
//
// A failed sync publishes nothing, and the next attempt writes the entry again: after an error the kernel may have
// dropped the dirty page.
#pragma once

#include <cstdint>

#include "ledger/claim.hpp"
#include "ledger/file.hpp"
#include "ledger/slot.hpp"

namespace snowflake_ids::ledger {

inline constexpr const char* ceiling_file_name = "snowflake_ids.ceiling";
inline constexpr std::size_t ceiling_file_bytes = slot_count * 8;

// 2^48 ms end in the year 10889.
inline constexpr std::uint64_t max_ceiling_ms = (std::uint64_t{1} << 48) - 1;

std::uint64_t pack_ceiling(std::uint64_t ms, std::uint32_t slot_index);
// False: the check bits are wrong.
bool unpack_ceiling(std::uint64_t word, std::uint32_t slot_index, std::uint64_t& ms);

enum class CeilingError : unsigned char {
    none,
    busy,      // another process holds the lock: try again
    io,        // with errno
    damaged,   // wrong size or check bits
    relinked,  // the ledger file's name is now that of another file
};

struct CeilingResult {
    CeilingError error = CeilingError::none;
    int system_errno = 0;
    std::uint32_t slot = 0;  // damaged: which one
};

// The ceiling file, open and locked. Only ceiling.cpp, life.cpp and reset.cpp use it. No code that can raise a
// PostgreSQL error may run while such an object exists, because its destructor would not run.
class LockedCeilings {
public:
    using Ceilings = std::uint64_t[slot_count];

    // Opens the file, creates it if there is none, and locks it without waiting. `sync`: as the server's fsync
    // setting.
    CeilingResult open(const char* dir, unsigned mode, const Ledger& ledger, bool sync);
    // The same for a file that may be damaged: an entry that cannot be read becomes `floor_ms`.
    CeilingResult open_and_repair(const char* dir, unsigned mode, const Ledger& ledger, std::uint64_t floor_ms,
                                  bool sync);
    ~LockedCeilings();
    LockedCeilings() = default;
    LockedCeilings(const LockedCeilings&) = delete;
    LockedCeilings& operator=(const LockedCeilings&) = delete;

    CeilingResult read(Ceilings& ms) const;
    // Writes every ceiling. A new life rewrites what it has read, because the last writer may have died before its
    // sync.
    CeilingResult write_all(const Ceilings& ms, bool sync) const;
    CeilingResult write(std::uint32_t slot_index, std::uint64_t ms, bool sync) const;

private:
    CeilingResult open_and_lock(const char* dir, unsigned mode, const Ledger& ledger, bool sync);
    int fd_ = -1;
};

// The steps of a raise, once `file` is locked. A template, like everything where the order matters: the model checker
// runs this very code.
template <class S, class File>
CeilingResult raise_locked_ceiling(S& slot, std::uint32_t slot_index, std::uint64_t ms, bool sync, const File& file) {
    // The process that had the lock before us may have raised it already, perhaps higher. Then the file must not be
    // lowered.
    if (slot.ceiling.load() >= ms) return {};
    const CeilingResult r = file.write(slot_index, ms, sync);
    if (r.error == CeilingError::none) raise_to(slot.ceiling, ms);
    return r;
}

// Which ceilings of other slots are raised in the same sync, and how far: see raise_ceiling().
struct Along {
    std::uint64_t from_ms, to_ms;
};

// Raises the durable ceiling of `slot` to at least `ms`. `sync`: as the server's fsync setting.
//
// Other generators in use share the sync. Every other ceiling above `along.from_ms` is raised as well, to
// `along.to_ms` or to `ms`, whichever is lower. So a generator that is far ahead of the clock does not take the others
// with it.
CeilingResult raise_ceiling(const char* dir, unsigned mode, const Ledger& ledger, Slot& slot, std::uint64_t ms,
                            Along along, bool sync);

}  // namespace snowflake_ids::ledger
