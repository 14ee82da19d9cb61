// Files of the data directory. All functions but is_same_file() and the two that open return 0 or errno.
#pragma once

#include <cstddef>

namespace snowflake_ids::ledger {

// Creates the file as a whole or not at all: writes a temporary file, syncs it, gives it its name, and syncs the
// directory. Without `sync` (PostgreSQL's setting fsync) it syncs nothing. If another process was faster, its file
// stays, which is no error.
int create_file(int dir_fd, const char* name, unsigned mode, const void* content, std::size_t size, bool sync);

// For reading and writing. -1 and errno on failure, also for a symbolic link.
int open_file(int dir_fd, const char* name);

// -1 and errno on failure.
int open_directory(const char* dir);

// Makes the names of new files durable.
int sync_directory(const char* dir);

// Syncs the content to the disk itself; fsync() on macOS stops at the cache of the drive.
int sync_data(int fd);

// True if `name` exists and is the file open as `fd`.
bool is_same_file(int dir_fd, const char* name, int fd);

// From the start of the file; `done` is less than `size` if the file is shorter.
int read_file(int fd, void* data, std::size_t size, std::size_t& done);

// Overwrites the start of the file, and never shortens it.
int write_file(int fd, const void* data, std::size_t size);

}  // namespace snowflake_ids::ledger
