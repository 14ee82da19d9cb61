// Files of the data directory.
#include "ledger/data_file.hpp"

#include <cerrno>
#include <cstdio>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace snowflake_ids::ledger {

int read_file(int fd, void* data, std::size_t size, std::size_t& done) {
    for (done = 0; done < size;) {
        const ssize_t n = pread(fd, static_cast<char*>(data) + done, size - done, static_cast<off_t>(done));
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return errno;
        if (n == 0) break;
        done += static_cast<std::size_t>(n);
    }
    return 0;
}

int write_file(int fd, const void* data, std::size_t size) {
    for (std::size_t done = 0; done < size;) {
        const ssize_t n = pwrite(fd, static_cast<const char*>(data) + done, size - done, static_cast<off_t>(done));
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return errno;
        if (n == 0) return ENOSPC;
        done += static_cast<std::size_t>(n);
    }
    return 0;
}

int sync_data(int fd) {
#ifdef __APPLE__
    const int done = fcntl(fd, F_FULLFSYNC);
#else
    const int done = fdatasync(fd);
#endif
    return done == 0 ? 0 : errno;
}

int create_file(int dir_fd, const char* name, unsigned mode, const void* content, std::size_t size, bool sync) {
    char temporary[128];
    const int length = snprintf(temporary, sizeof temporary, "%s.%ld.tmp", name, static_cast<long>(getpid()));
    if (length < 0 || static_cast<std::size_t>(length) >= sizeof temporary) return ENAMETOOLONG;

    // A killed process with the same pid may have left it over.
    unlinkat(dir_fd, temporary, 0);
    const int fd = openat(dir_fd, temporary, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode);
    if (fd < 0) return errno;

    int error = write_file(fd, content, size);
    if (error == 0 && sync && fsync(fd) != 0) error = errno;
    // linkat() refuses a name that exists.
    if (error == 0 && linkat(dir_fd, temporary, dir_fd, name, 0) != 0 && errno != EEXIST) error = errno;
    close(fd);
    unlinkat(dir_fd, temporary, 0);
    if (error == 0 && sync && fsync(dir_fd) != 0) error = errno;
    return error;
}

int open_existing(int dir_fd, const char* name) { return openat(dir_fd, name, O_RDWR | O_CLOEXEC | O_NOFOLLOW); }

int open_directory(const char* dir) { return open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC); }

bool is_same_file(int dir_fd, const char* name, int fd) {
    struct stat named, opened;
    return fstatat(dir_fd, name, &named, AT_SYMLINK_NOFOLLOW) == 0 && fstat(fd, &opened) == 0 &&
           named.st_dev == opened.st_dev && named.st_ino == opened.st_ino;
}

}  // namespace snowflake_ids::ledger
