/*
 * clock_ramp: every read of the wall clock is CLOCK_RAMP_STEP nanoseconds after the one before. So a program runs
 * the same instructions each time, however slow an instrumented one is. One read, early on, is a minute after the one
 * before: a server begins its ids ahead of the clock, which must have caught up before calls cost what they do later.
 *
 *   cc -O2 -fPIC -shared -o clock_ramp.so clock_ramp.c
 *   LD_PRELOAD=.../clock_ramp.so CLOCK_RAMP_STEP=35 program
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static int64_t now_ns, step_ns, reads;

int clock_gettime(clockid_t id, struct timespec *ts) {
    if (id != CLOCK_REALTIME) return (int) syscall(SYS_clock_gettime, id, ts);
    if (now_ns == 0) {
        const char *step = getenv("CLOCK_RAMP_STEP");

        syscall(SYS_clock_gettime, CLOCK_REALTIME, ts);
        now_ns = (int64_t) ts->tv_sec * 1000000000 + ts->tv_nsec;
        step_ns = step == NULL ? 1000 : atoll(step);
    }
    now_ns += ++reads == 1000 ? INT64_C(60000000000) : step_ns;
    ts->tv_sec = now_ns / 1000000000;
    ts->tv_nsec = now_ns % 1000000000;
    return 0;
}
