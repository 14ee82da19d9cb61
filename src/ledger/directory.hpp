// Files of the ledger's directory: made whole or not at all.
#pragma once

#include <cstddef>

namespace snowflake_ids::ledger {

// Creates file `name` in the directory with `size` bytes. The first `content_size` of them are `content`, the rest is
// zero. Steps: create it under a temporary name, allocate, sync, link it to its name, sync the directory. If another
// process was faster, that is success. `sync`: as the server's fsync setting. 0 or errno.
int create_file(int dir_fd, const char* name, unsigned mode, const void* content, std::size_t content_size,
                std::size_t size, bool sync);

// Opens `name` for reading and writing; -1 and errno on failure.
int open_file(int dir_fd, const char* name);

// Opens the directory itself; -1 and errno on failure.
int open_directory(const char* dir);

// True if the open file has exactly one name, which is `name` in the directory. A creator removes its temporary name a
// moment after the link, so this function waits that moment. If the creator was killed in it, the temporary name is
// removed here.
bool has_one_name(int fd, int dir_fd, const char* name);

// Makes sure that the first `size` bytes of a file can be written without running out of space. A copy may have holes,
// and on a full disk a write to a mapped page in a hole is SIGBUS. Unlike posix_fallocate() it never writes, because
// other processes may. 0 or errno.
int fill_holes(int fd, std::size_t size);

// pwrite() of all bytes. 0 or errno.
int write_at(int fd, const void* data, std::size_t size, std::size_t offset);

}  // namespace snowflake_ids::ledger
