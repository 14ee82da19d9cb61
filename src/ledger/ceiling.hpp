// The durable ceilings: a small file beside the ledger, one word per slot. A slot may not
// issue a tick at or beyond its ceiling, so whatever the ledger file has forgotten after a
// crash, nothing at or beyond the ceiling was ever issued.
//
//   8 bytes at 8 * slot index:  bits 63-16  Unix milliseconds
//                               bits 15-0   check bits over time and slot index
//
// A word lies inside one sector, so a torn page loses no word that was synced before. All
// zero is valid: no ceiling yet.
//
// Raising. One process at a time, under a file lock that the kernel drops with its owner:
// write the word, sync, and only then publish the value to the slot, by an atomic maximum. A
// failed sync publishes nothing and the next attempt writes again: after an error the kernel
// may have dropped the dirty page. Others go on issuing below the old ceiling meanwhile.
// Syncing the hot mapped page instead would stall them all.
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
    relinked,  // the ledger file's name now leads elsewhere
};

struct CeilingResult {
    CeilingError error = CeilingError::none;
    int system_errno = 0;
    std::uint32_t slot = 0;  // damaged: which one
};

// The open, locked ceiling file. Only inside the functions below and in life.cpp; nothing
// that could raise a PostgreSQL error runs while one is held.
class LockedCeilings {
public:
    using Ceilings = std::uint64_t[slot_count];

    // Opens, makes if there is none, and locks without waiting. `sync`: as the server's fsync setting.
    CeilingResult open(const char* dir, unsigned mode, const Ledger& ledger, bool sync);
    // The same for a file that may be damaged: what cannot be read becomes `floor_ms`.
    CeilingResult open_and_repair(const char* dir, unsigned mode, const Ledger& ledger, std::uint64_t floor_ms,
                                  bool sync);
    ~LockedCeilings();
    LockedCeilings() = default;
    LockedCeilings(const LockedCeilings&) = delete;
    LockedCeilings& operator=(const LockedCeilings&) = delete;

    CeilingResult read(Ceilings& ms) const;
    // All of them anew, for whoever wants to rely on what he has read: its writer may have been
    // killed before his sync.
    CeilingResult write_all(const Ceilings& ms, bool sync) const;
    CeilingResult write(std::uint32_t slot_index, std::uint64_t ms, bool sync) const;

private:
    CeilingResult open_and_lock(const char* dir, unsigned mode, const Ledger& ledger, bool sync);
    int fd_ = -1;
};

// The steps of a raise, once `file` is locked. A template, as everything that has an order
// to keep: the model checker drives this very code.
template <class S, class File>
CeilingResult raise_locked_ceiling(S& slot, std::uint32_t slot_index, std::uint64_t ms, bool sync, const File& file) {
    // Whoever held the lock before us may have gone as far; and values in the file never sink.
    if (slot.ceiling.load() >= ms) return {};
    const CeilingResult r = file.write(slot_index, ms, sync);
    if (r.error == CeilingError::none) raise_to(slot.ceiling, ms);
    return r;
}

// Raises the durable ceiling of `slot` to at least `ms`, and takes along those of other slots
// that are beyond `along.from_ms`: generators in use share one sync. They go to `along.to_ms` at
// most, for a generator that runs ahead of the clock must not lead the others there. `sync`: as
// the server's fsync setting.
struct Along {
    std::uint64_t from_ms, to_ms;
};
CeilingResult raise_ceiling(const char* dir, unsigned mode, const Ledger& ledger, Slot& slot, std::uint64_t ms,
                            Along along, bool sync);

}  // namespace snowflake_ids::ledger
