// Files of the data directory. An int result is 0 or errno.
#pragma once

#include <cstddef>

namespace snowflake_ids::ledger {

// Creates the whole file or none. `sync` is PostgreSQL's setting fsync. If another process was faster, its file stays,
// which is no error.
int create_file(int dir_fd, const char* name, unsigned mode, const void* content, std::size_t size, bool sync);

// These return a file descriptor, or -1 with errno. open_existing() follows no symbolic link.
int open_existing(int dir_fd, const char* name);
int open_directory(const char* dir);

// Writes to the disk itself: fsync() on macOS stops at the drive's cache.
int sync_data(int fd);

// False also if `name` does not exist.
bool is_same_file(int dir_fd, const char* name, int fd);

// Reads from the start. `done` is less than `size` if the file is shorter.
int read_file(int fd, void* data, std::size_t size, std::size_t& done);

// Writes at the start. Never shortens the file.
int write_file(int fd, const void* data, std::size_t size);

}  // namespace snowflake_ids::ledger
