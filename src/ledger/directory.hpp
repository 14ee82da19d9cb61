// Files of the ledger's directory: made whole or not at all.
#pragma once

#include <cstddef>

namespace snowflake_ids::ledger {

// Makes file `name` in the directory with `size` bytes, the first `content_size` of them
// `content`, the rest zero: under a temporary name, space allocated, synced, linked into
// place, directory synced. Somebody else having been faster is success. `sync`: as the server's
// fsync setting. 0 or errno.
int create_file(int dir_fd, const char* name, unsigned mode, const void* content, std::size_t content_size,
                std::size_t size, bool sync);

// Opens `name` for reading and writing, -1 and errno if it cannot be.
int open_file(int dir_fd, const char* name);

// The directory itself, -1 and errno if it cannot be opened.
int open_directory(const char* dir);

// True if the open file has exactly one name, which is `name` in the directory. A creator
// unlinks its temporary name a moment after the link: it is given that moment, and if it was
// killed in it, the temporary name is removed here.
bool has_one_name(int fd, int dir_fd, const char* name);

// Makes sure that the first `size` bytes of a file can be written without running out of space: a copy may have holes,
// and a write to a mapped page of one is SIGBUS on a full disk. Unlike posix_fallocate() it never writes, for others
// may. 0 or errno.
int fill_holes(int fd, std::size_t size);

// pwrite(), all of it. 0 or errno.
int write_at(int fd, const void* data, std::size_t size, std::size_t offset);

}  // namespace snowflake_ids::ledger
