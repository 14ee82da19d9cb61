// The ceiling file is what a server remembers of its generators when its shared memory is gone. A slot may not issue a
// tick at or above its ceiling, so the next life begins there.
//
//   offset 0     header, within one sector: magic, version, system identifier, the life that wrote last, the
//                operator's floor, checksum
//   offset 4096  one entry per slot, 32 bytes each, the index is that in memory:
//                  bytes 0-7    key        as Slot::key; 0: a free slot
//                  bytes 8-15   layout     as Slot::packed_layout
//                  bytes 16-23  ceiling    Unix milliseconds, 48 bits
//                  bytes 24-31  check bits over system identifier, slot index and the other fields
//
// An entry lies inside one sector, so a torn page loses no entry that was synced before. A free entry has check bits
// too, from the creation of the file on, so zeros are always damage.
//
// Lifting. One process at a time, under a file lock that the kernel releases when the process ends: read the file,
// write all of it with the higher entries, sync it, and only then publish: store the ceilings in the slots by an atomic
// maximum. All of the file is written each time, because after a failed sync the kernel may take a page for written
// that is not. Why the sync comes first:
//   A   writes ceiling 3000, synced, then publishes it; 1000 was there before
//   B   issues an id of the time 2500, then the power fails; the next life begins at 3000
// If A published first, the disk could still have 1000, and a next life whose clock is behind would repeat that id.
//
// Fence. Memory belongs to one life (begin_life.hpp), and the file says which life wrote it last. A process whose life
// is older gets an error and writes nothing more:
//   old   of life 7, whose postmaster has ended; its ceiling is 3000
//   new   begins life 8 at 3000, writes that into the file, and issues ids from 3000 on
//   old   wants to issue an id of 3000, locks the file, and finds life 8
// Without the fence, both would issue ids from 3000 on.
//
// If the file is older than the life, somebody has removed or replaced it. Memory has all that the life needs, so the
// file is written from memory. A damaged file does not show its life, so it is an error until somebody moves it away.
#pragma once

#include <algorithm>
#include <cstdint>

#include "ledger/shared_memory.hpp"
#include "ledger/slot.hpp"

namespace snowflake_ids::ledger {

// The file is in the top level of the data directory and not in global/, where pg_basebackup and pg_checksums check
// every file that is not on their own lists.
inline constexpr const char* ceiling_file_name = "snowflake_ids.ceiling";
inline constexpr std::size_t ceiling_header_bytes = 4096;
inline constexpr std::size_t ceiling_entry_bytes = 32;
inline constexpr std::size_t ceiling_file_bytes = ceiling_header_bytes + slot_count * ceiling_entry_bytes;

// 2^48 ms end in the year 10889.
inline constexpr Ceiling max_ceiling{milliseconds{(std::int64_t{1} << 48) - 1}};

// The lowest ceiling that is not below `t`, within the range that the file can hold.
constexpr Ceiling ceiling_at(UnixTime t) {
    return std::clamp(std::chrono::ceil<milliseconds>(t), Ceiling{}, max_ceiling);
}

struct CeilingEntry {
    std::uint64_t key = 0;
    std::uint64_t packed_layout = 0;
    Ceiling ceiling{};
    std::uint64_t check_bits = 0;
};

inline constexpr std::uint64_t ceiling_magic = 0x5e0f1a6e1ed6e202;
inline constexpr std::uint32_t ceiling_version = 1;

struct Ceilings {
    std::uint64_t magic = ceiling_magic;
    std::uint32_t version = ceiling_version;
    std::uint32_t entry_count = slot_count;
    std::uint64_t system_identifier = 0;
    Life life;
    Floor floor{};  // as Header::reset_floor
    std::uint64_t checksum = 0;
    unsigned char unused[ceiling_header_bytes - 56] = {};
    CeilingEntry entries[slot_count];
};
static_assert(sizeof(CeilingEntry) == ceiling_entry_bytes && sizeof(Ceilings) == ceiling_file_bytes);

enum class CeilingError : unsigned char {
    none,
    busy,           // another process has the lock, or the file was replaced just now: try again
    io,             // a call of the system has failed, see CeilingResult::system_errno
    damaged,        // wrong size, checksum or check bits
    other_version,  // written by another version of the library
    foreign,        // written by another cluster
    superseded,     // written by a newer life: another server has taken over
};

struct CeilingResult {
    CeilingError error = CeilingError::none;
    int system_errno = 0;
    int slot = -1;  // damaged: the slot whose entry is damaged; -1: the header or the size of the file
};

// seal_ceilings() sets what verify_ceilings() checks. Errors: damaged, other_version, foreign. `size` is that of the
// file.
void seal_ceilings(Ceilings& c, std::uint64_t system_identifier);
CeilingResult verify_ceilings(const Ceilings& c, std::size_t size, std::uint64_t system_identifier);

struct CeilingPlace {
    const char* dir;
    unsigned mode;  // the permissions of a new file
    std::uint64_t system_identifier;
    bool sync;  // as PostgreSQL's setting fsync
    // Called immediately before the file is created or written. Ends the process if its server is gone.
    void (*before_write)();
};

// The ceiling file while a process has it open and locked. No code that can raise a PostgreSQL error may run while
// such an object exists, because its destructor would not run.
class LockedCeilings {
public:
    using Content = Ceilings;

    explicit LockedCeilings(const CeilingPlace& place) : place_(place) {}
    ~LockedCeilings();
    LockedCeilings(const LockedCeilings&) = delete;
    LockedCeilings& operator=(const LockedCeilings&) = delete;

    // Creates the file if there is none. Does not wait: busy if another process has the lock.
    CeilingResult open();

    // Errors: io, and those of verify_ceilings().
    CeilingResult read(Ceilings& c) const;

    // Errors: io; busy if somebody has removed the file. After an error, the caller publishes nothing.
    CeilingResult write(Ceilings& c) const;

private:
    CeilingPlace place_;
    int dir_fd_ = -1;
    int fd_ = -1;
};

// True if the life that wrote the file has taken over from the one with this memory: its number is higher, or two lives
// have got the same number.
constexpr bool supersedes(const Life& in_file, const Life& own) {
    return in_file.number > own.number || (in_file.number == own.number && in_file.id != own.id);
}

template <class H>
Life life_of(const H& header) {
    return {header.life_number.load(), header.life_id.load()};
}

// Before a life has begun, no ids are generated.
template <class H>
bool has_begun(const H& header) {
    return header.life_id.load() != 0;
}

template <class Entry, class S>
void set_entry(Entry& entry, const S& slot, Ceiling ceiling) {
    entry.key = slot.key.load();
    entry.packed_layout = slot.packed_layout.load();
    entry.ceiling = ceiling;
}

// Reads the file into `c`, and adds what memory has and the file has not. Then `c` is the least that the file must
// contain in the life that memory belongs to. `slot(i)` is the i-th of `count`. Errors: those of read(), and
// superseded.
template <class H, class SlotAt, class File>
CeilingResult read_for_life(const H& header, std::uint32_t count, SlotAt slot, const File& file,
                            typename File::Content& c) {
    const CeilingResult r = file.read(c);
    if (r.error != CeilingError::none) return r;
    const Life own = life_of(header);
    if (supersedes(c.life, own)) return {CeilingError::superseded};
    if (c.life.number < own.number) c = {};
    c.life = own;
    c.floor = std::max(c.floor, header.reset_floor.load());
    for (std::uint32_t i = 0; i < count; i++) {
        const Ceiling published = slot(i).ceiling.load();
        if (c.entries[i].ceiling < published) set_entry(c.entries[i], slot(i), published);
    }
    return r;
}

// The steps of a lift, once `file` is locked. `wanted(i)` is the ceiling that slot i should have; 0: none.
// Errors: those of read_for_life() and write().
template <class H, class SlotAt, class File, class Wanted>
CeilingResult lift_locked_ceilings(H& header, std::uint32_t count, SlotAt slot, const File& file, Wanted wanted) {
    typename File::Content c;
    CeilingResult r = read_for_life(header, count, slot, file, c);
    if (r.error != CeilingError::none) return r;
    for (std::uint32_t i = 0; i < count; i++) {
        const Ceiling least = wanted(i);
        if (c.entries[i].ceiling < least) set_entry(c.entries[i], slot(i), least);
    }
    r = file.write(c);
    for (std::uint32_t i = 0; i < count && r.error == CeilingError::none; i++) {
        if (c.entries[i].ceiling != Ceiling{}) lift_to(slot(i).ceiling, c.entries[i].ceiling);
    }
    return r;
}

// Which ceilings of other slots are lifted in the same sync, and how far: see lift_ceiling().
struct Along {
    Ceiling from, to;
};

// Lifts the ceiling of `slot` in the file, which is locked, to at least `least`. `memory` is a Host
// (session.hpp). Errors: those of read_for_life() and write().
//
// Other generators in use share the sync. Every other ceiling above `along.from`, of a format with a time, is lifted
// too, to `along.to` or to `least`, whichever is lower. So a generator that is far ahead of the clock does not take
// the others with it.
template <class Memory, class S, class File>
CeilingResult lift_ceiling(Memory& memory, const S& slot, Ceiling least, Along along, const File& file) {
    const Ceiling others = std::min(least, along.to);
    const auto at = memory.slots();
    const auto wanted = [&](std::uint32_t i) {
        if (&at(i) == &slot) return least;
        return memory.has_time(at(i)) && at(i).ceiling.load() > along.from ? others : Ceiling{};
    };
    return memory.lift_locked_ceilings(memory.header(), memory.count(), at, file, wanted);
}

// Runs `work(file)` once the file is open and locked. Errors: those of open(), and of `work`.
template <class Work>
CeilingResult with_ceilings(const CeilingPlace& place, Work work) {
    LockedCeilings file(place);
    const CeilingResult r = file.open();
    return r.error == CeilingError::none ? work(file) : r;
}

// No generator has issued an id of this time or later, and until a ceiling is lifted none may.
Ceiling highest_ceiling(const Ledger& ledger);

// Reads the ceiling file, and returns the error that would stop a process from lifting a ceiling, as far as reading
// shows it.
CeilingResult check_ceilings(const CeilingPlace& place, const Ledger& ledger);

}  // namespace snowflake_ids::ledger
