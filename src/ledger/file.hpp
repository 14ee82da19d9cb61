// The ledger file: created once, mapped shared by every process that uses it.
//
// Creation: under a temporary name, all space allocated, constants written, synced with its
// directory, then linked into place; link() refuses an existing name, so of several creators
// one wins and all map the same file. It is never renamed over a mapped one: two inodes
// would mean two ledgers, and duplicates.
#pragma once

#include <cstdint>

#include "ledger/slot.hpp"

namespace snowflake_ids::ledger {

// In the data directory's top level: pg_basebackup and pg_checksums know the files of global/.
inline constexpr const char* file_name = "snowflake_ids.ledger";

enum class FileError : unsigned char {
    none,
    // with errno
    cannot_create,
    cannot_open,
    cannot_map,
    // the file is there and is not a ledger that this library can use
    bad_size,      // truncated or extended
    bad_magic,     // not a ledger, or of the other byte order
    bad_version,   // of a newer or older library
    bad_checksum,  // constants damaged
    foreign,       // made by another cluster
    relinked,      // has another name as well, or none: somebody may hold another copy
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

// Opens the ledger called `name` in directory `dir` and maps it, making it if there is
// none. `mode` is the permission of a new file, `sync` as the server's fsync setting. Leaves
// nothing open on failure.
Attached attach(const char* dir, const char* name, unsigned mode, std::uint64_t system_identifier, bool sync = true);

// True if `name` still leads to the mapped file, and it has no other name. Were it replaced,
// newcomers would draw from another ledger.
bool still_linked(const char* dir, const char* name, const Ledger& ledger);

// For attach() and repair(). The header's constants for this library; the mapping of a file
// of the right size, whatever is in it.
void write_constants(Header& header, std::uint64_t system_identifier);
Attached map_unchecked(int fd);

// For tests; a backend keeps its mapping until it ends.
void detach(Ledger& ledger);

// The slot of a generator, taken from the free ones if it has none yet; null: all are in
// use. `may_create` false: null too if it has none. `numbering`: of Format::snowflake, and 0 for all others.
Slot* find_slot(const Ledger& ledger, const Key& key, bool may_create = true, std::uint64_t numbering = 0);

// True if any node has a slot with this numbering.
bool numbering_used(const Ledger& ledger, std::uint64_t numbering);

// How many slots explicit calls of a database have created.
std::uint32_t slots_owned(const Ledger& ledger, std::uint32_t owner);

// How many slots explicit calls of all databases have created.
std::uint32_t slots_owned(const Ledger& ledger);

}  // namespace snowflake_ids::ledger
