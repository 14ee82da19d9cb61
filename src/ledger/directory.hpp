// Files of the data directory. create_file() makes a file as a whole or not at all. write_file() overwrites a file in
// place.
#pragma once

#include <cstddef>

namespace snowflake_ids::ledger {

// Creates the file `name` in the directory with these bytes. It writes them under a temporary name, syncs the file,
// gives it its own name, and syncs the directory. If `sync` is false (PostgreSQL's setting fsync), it does not sync. If
// there is a file of this name, that one stays. This is no error, because another process was faster. Returns 0 or
// errno.
int create_file(int dir_fd, const char* name, unsigned mode, const void* content, std::size_t size, bool sync);

// Opens the file `name` in the directory for reading and writing. Returns -1 and sets errno on failure, also for a
// symbolic link.
int open_file(int dir_fd, const char* name);

// Opens a directory, for the functions here. Returns -1 and sets errno on failure.
int open_directory(const char* dir);

// Makes the names of new files in the directory durable. Returns 0 or errno.
int sync_directory(const char* dir);

// Syncs the content of the file to the disk itself. It does not use fsync() on macOS, because that would leave the
// content in the cache of the drive. Returns 0 or errno.
int sync_data(int fd);

// True if `name` in the directory is the file that is open as `fd`. False also if there is no such name.
bool is_same_file(int dir_fd, const char* name, int fd);

// Reads `size` bytes from the start of the file, or fewer if the file is shorter. `done` is how many bytes were read.
// Returns 0 or errno.
int read_file(int fd, void* data, std::size_t size, std::size_t& done);

// Overwrites the start of the file with these bytes. It does not make a longer file shorter. Returns 0 or errno.
int write_file(int fd, const void* data, std::size_t size);

}  // namespace snowflake_ids::ledger
