// The ledger file: created once, mapped shared by every process that uses it.
//
// Creation: under a temporary name, with all space allocated, the constants written, and file and directory synced.
// Then link() gives it its name. link() refuses an existing name, so of several creators one wins, and all map the
// same file. No file is ever renamed over a mapped one: two inodes would mean two ledgers, and duplicates.
#pragma once

#include <cstdint>

#include "ledger/slot.hpp"

namespace snowflake_ids::ledger {

// In the top level of the data directory. pg_basebackup and pg_checksums check all files of global/, except those on
// their own lists.
inline constexpr const char* file_name = "snowflake_ids.ledger";

enum class FileError : unsigned char {
    none,
    // with errno
    cannot_create,
    cannot_open,
    cannot_map,
    // the file exists, but this library cannot use it as a ledger
    bad_size,      // truncated or extended
    bad_magic,     // not a ledger, or of the other byte order
    bad_version,   // of a newer or older library
    bad_checksum,  // constants damaged
    foreign,       // made by another cluster
    relinked,      // has a second name, or none: another process may use another copy
};

struct Ledger {
    Header* header = nullptr;
    Slot* slots = nullptr;
    std::uint64_t device = 0;  // which file is mapped
    std::uint64_t inode = 0;

    explicit operator bool() const { return header != nullptr; }
};

struct Attached {
    Ledger ledger;
    FileError error = FileError::none;
    int system_errno = 0;
};

// Opens the ledger called `name` in directory `dir` and maps it. Creates it if there is none. `mode`: permissions of a
// new file. `sync`: as the server's fsync setting. Leaves nothing open on failure.
Attached attach(const char* dir, const char* name, unsigned mode, std::uint64_t system_identifier, bool sync = true);

// True if `name` is still the mapped file, and the file has no other name. If it was replaced, new sessions would draw
// from another ledger.
bool still_linked(const char* dir, const char* name, const Ledger& ledger);

// For attach() and repair(): writes the header's constants; maps a file of the right size, whatever its content.
void write_constants(Header& header, std::uint64_t system_identifier);
Attached map_unchecked(int fd);

// For tests, and where attaching fails half-way. A backend keeps its mapping until it ends.
void detach(Ledger& ledger);

// The slot of a generator. If it has none yet, a free slot becomes its slot; null: all slots are in use. With
// `may_create` false: null if it has none. `numbering`: for Format::snowflake; 0 for all others.
Slot* find_slot(const Ledger& ledger, const Key& key, bool may_create = true, std::uint64_t numbering = 0);

// True if any node has a slot with this numbering.
bool numbering_used(const Ledger& ledger, std::uint64_t numbering);

// How many slots explicit calls of a database have created.
std::uint32_t slots_owned(const Ledger& ledger, std::uint32_t owner);

// How many slots explicit calls of all databases have created.
std::uint32_t slots_owned(const Ledger& ledger);

}  // namespace snowflake_ids::ledger
