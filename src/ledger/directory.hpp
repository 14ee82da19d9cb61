// Files of the data directory. create_file() makes a file whole or not at all; write_file() overwrites a file in place.
#pragma once

#include <cstddef>

namespace snowflake_ids::ledger {

// Creates file `name` in the directory with these bytes. It writes them under a temporary name, syncs the file, gives
// it its own name, and syncs the directory; no sync if `sync` is false (PostgreSQL's setting fsync). If there is a file
// of this name, it stays, because another process was faster. Returns 0 or errno.
int create_file(int dir_fd, const char* name, unsigned mode, const void* content, std::size_t size, bool sync);

// Opens `name` for reading and writing; -1 and errno on failure.
int open_file(int dir_fd, const char* name);

// Opens the directory itself; -1 and errno on failure.
int open_directory(const char* dir);

// Makes the names of new files in the directory durable. Returns 0 or errno.
int sync_directory(const char* dir);

// Syncs the content of the file to the disk itself; macOS would leave it in the cache of the drive. Returns 0 or errno.
int sync_data(int fd);

// True if `name` in the directory is the open file.
bool is_same_file(int dir_fd, const char* name, int fd);

// Reads up to `size` bytes from the start of the file, fewer only if it is shorter. Returns 0 or errno; `done` is how
// many bytes were read.
int read_file(int fd, void* data, std::size_t size, std::size_t& done);

// Overwrites the start of the file with these bytes; it does not make the file shorter. Returns 0 or errno.
int write_file(int fd, const void* data, std::size_t size);

}  // namespace snowflake_ids::ledger
