/*
 * clock_shim: moves the wall clock of a server and all its processes while they run.
 *
 *   cc -O2 -fPIC -shared -o clock_shim.so clock_shim.c
 *   truncate -s 8 offset; LD_PRELOAD=.../clock_shim.so CLOCK_SHIM_OFFSET=.../offset postgres ...
 *
 * The file named by CLOCK_SHIM_OFFSET holds an int64: nanoseconds that are added to the wall clock. Every process
 * maps it, so that an 8-byte write to it is seen by the next clock read of each, backends and workers alike. Timers
 * and sleeps stay real, as they do when an operator or NTP steps a clock, and so does the monotonic clock (and the time
 * since boot), unless a second int64 follows: nanoseconds that it is ahead. It may only grow.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static const _Atomic int64_t zero[2];
static const _Atomic int64_t *offset = zero;

__attribute__((constructor)) static void map_offset(void) {
    const char *path = getenv("CLOCK_SHIM_OFFSET");
    int fd = path == NULL ? -1 : open(path, O_RDONLY | O_CLOEXEC);
    void *p;

    if (fd < 0) return;
    p = mmap(NULL, sizeof zero, PROT_READ, MAP_SHARED, fd, 0);
    close(fd);
    if (p != MAP_FAILED) offset = p;
}

/* The system call, not the C library's function: dlsym() is no place to go from a constructor of who knows whom. */
int clock_gettime(clockid_t id, struct timespec *ts) {
    int64_t ns;
    int wall = id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE || id == CLOCK_TAI;
    long rc = syscall(SYS_clock_gettime, id, ts);

    if (rc != 0 || (!wall && id != CLOCK_MONOTONIC && id != CLOCK_BOOTTIME)) return (int) rc;
    ns = (int64_t) ts->tv_sec * 1000000000 + ts->tv_nsec + atomic_load_explicit(&offset[!wall], memory_order_relaxed);
    ts->tv_sec = ns / 1000000000;
    ts->tv_nsec = ns % 1000000000;
    return 0;
}

int gettimeofday(struct timeval *restrict tv, void *restrict tz) {
    struct timespec ts;

    (void) tz;
    clock_gettime(CLOCK_REALTIME, &ts);
    tv->tv_sec = ts.tv_sec;
    tv->tv_usec = ts.tv_nsec / 1000;
    return 0;
}

time_t time(time_t *out) {
    struct timespec ts;

    clock_gettime(CLOCK_REALTIME, &ts);
    if (out != NULL) *out = ts.tv_sec;
    return ts.tv_sec;
}
