// Making, opening and writing files of the data directory.
#include "ledger/directory.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace snowflake_ids::ledger {

namespace {

// posix_fallocate() returns its error and may be interrupted by a signal.
int allocate(int fd, std::size_t size) {
    int rc;
    do {
        rc = posix_fallocate(fd, 0, static_cast<off_t>(size));
    } while (rc == EINTR);
    return rc;
}

bool is_temporary_name(const char* candidate, const char* name) {
    const std::size_t length = strlen(name), all = strlen(candidate);
    return all > length + 5 && strncmp(candidate, name, length) == 0 && candidate[length] == '.' &&
           strcmp(candidate + all - 4, ".tmp") == 0;
}

// Removes the temporary names of the file: a creator that was killed between link() and unlink() leaves one. For a
// creator that is still running, unlink() then fails, which does no harm.
void remove_temporary_names(int dir_fd, const char* name, const struct stat& file) {
    const int fd = openat(dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR* dir = fd < 0 ? nullptr : fdopendir(fd);
    if (dir == nullptr) {
        if (fd >= 0) close(fd);
        return;
    }
    while (const dirent* entry = readdir(dir)) {
        struct stat st;
        if (is_temporary_name(entry->d_name, name) && fstatat(dir_fd, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
            st.st_dev == file.st_dev && st.st_ino == file.st_ino) {
            unlinkat(dir_fd, entry->d_name, 0);
        }
    }
    closedir(dir);
}

}  // namespace

int write_at(int fd, const void* data, std::size_t size, std::size_t offset) {
    const char* p = static_cast<const char*>(data);
    while (size > 0) {
        const ssize_t n = pwrite(fd, p, size, static_cast<off_t>(offset));
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return errno;
        if (n == 0) return ENOSPC;
        p += n;
        offset += static_cast<std::size_t>(n);
        size -= static_cast<std::size_t>(n);
    }
    return 0;
}

int create_file(int dir_fd, const char* name, unsigned mode, const void* content, std::size_t content_size,
                std::size_t size, bool sync) {
    char temporary[128];
    const int length = snprintf(temporary, sizeof temporary, "%s.%ld.tmp", name, static_cast<long>(getpid()));
    if (length < 0 || static_cast<std::size_t>(length) >= sizeof temporary) return ENAMETOOLONG;

    // A file of this name can only be the left-over of a killed process with our pid.
    unlinkat(dir_fd, temporary, 0);
    const int fd = openat(dir_fd, temporary, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode);
    if (fd < 0) return errno;

    int error = allocate(fd, size);
    if (error == 0) error = write_at(fd, content, content_size, 0);
    if (error == 0 && sync && fsync(fd) != 0) error = errno;
    if (error == 0 && linkat(dir_fd, temporary, dir_fd, name, 0) != 0 && errno != EEXIST) error = errno;
    close(fd);
    unlinkat(dir_fd, temporary, 0);
    if (error == 0 && sync && fsync(dir_fd) != 0) error = errno;
    return error;
}

int fill_holes(int fd, std::size_t size) {
    while (fallocate(fd, 0, 0, static_cast<off_t>(size)) != 0) {
        // A file system without fallocate(): space is taken when a page is first written, as before.
        if (errno == EOPNOTSUPP) return 0;
        if (errno != EINTR) return errno;
    }
    return 0;
}

int open_file(int dir_fd, const char* name) { return openat(dir_fd, name, O_RDWR | O_CLOEXEC | O_NOFOLLOW); }

int open_directory(const char* dir) { return open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC); }

bool has_one_name(int fd, int dir_fd, const char* name) {
    for (int i = 0; i < 1000; i++) {
        struct stat st;
        if (fstat(fd, &st) != 0 || st.st_nlink == 0) return false;
        if (st.st_nlink == 1) return true;
        if (i == 10) remove_temporary_names(dir_fd, name, st);
        usleep(1000);
    }
    return false;
}

}  // namespace snowflake_ids::ledger
