/*
 * sync_shim.c: the disk of a test. It remembers what a server has synced, for tests that take its power away, can take
 * as long over it as a test wants, can be full, and can fail.
 *
 *   cc -O2 -fPIC -shared -o sync_shim.so sync_shim.c -ldl
 *   SYNC_SHIM_DIR=dir LD_PRELOAD=.../sync_shim.so pg_ctl start
 *
 * With each fsync() or fdatasync() of a WAL segment or of a file named snowflake_ids.*, dir/NAME becomes a
 * copy of what the file held when the call began, and dir/NAME.syncs one byte longer. To lose power: kill the server,
 * and put the copies in place of the files.
 *
 * Nothing is really synced, of no file: the copies are the disk of the test.
 *
 * Files in dir that the test makes and removes while the server runs:
 *   held.ceiling, held.wal   process ids: a sync of the ceiling file, or of a WAL segment, by one of these processes does
 *                            not return before this file is removed. The process is added to held.log when it begins
 *   full                     names of calls ("pwrite fdatasync") that find no space in files named snowflake_ids.*;
 *                            "fsync_directory" is an fsync() of the data directory
 *   broken                   the same, for calls that fail with an input/output error
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *shim_dir(void)
{
	const char *dir = getenv("SYNC_SHIM_DIR");

	return dir && *dir ? dir : NULL;
}

static int is_segment(const char *name)
{
	return strlen(name) == 24 && strspn(name, "0123456789ABCDEF") == 24;
}

static int is_ours(const char *name)
{
	return strncmp(name, "snowflake_ids.", 14) == 0;
}

/* The file's name without its directory; false if there is none. */
static int name_of(int fd, char *name, size_t size)
{
	char link[64], path[4096];
	const char *base;
	ssize_t n;

	snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
	n = readlink(link, path, sizeof path - 1);
	if (n <= 0)
		return 0;
	path[n] = '\0';
	base = strrchr(path, '/');
	if (!base)
		return 0;
	snprintf(name, size, "%s", base + 1);
	return 1;
}

/* What dir/file holds; false if there is none. */
static int word_in(const char *file, char *word, size_t size)
{
	const char *dir = shim_dir();
	char path[4096];
	ssize_t n;
	int fd;

	if (!dir)
		return 0;
	snprintf(path, sizeof path, "%s/%s", dir, file);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	n = read(fd, word, size - 1);
	close(fd);
	if (n < 0)
		return 0;
	word[n] = '\0';
	return 1;
}

static void append(const char *name, const char *text)
{
	char path[4096];
	int fd;

	snprintf(path, sizeof path, "%s/%s", shim_dir(), name);
	fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t) strlen(text))
		abort();
	close(fd);
}

/* Whole or not at all, and in the order of the syncs. */
static void keep(const char *path, const char *base)
{
	const char *dir = shim_dir();
	char name[1024], temporary[4096], kept[4096], buffer[65536];
	ssize_t n;
	int lock, in, out;

	/* A file is made under a temporary name, NAME.PID.tmp, and synced before it is linked. */
	snprintf(name, sizeof name - 8, "%s", base);
	if (strlen(name) > 4 && strcmp(name + strlen(name) - 4, ".tmp") == 0)
	{
		*strrchr(name, '.') = '\0';
		*strrchr(name, '.') = '\0';
	}

	snprintf(temporary, sizeof temporary, "%s/lock", dir);
	lock = open(temporary, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	flock(lock, LOCK_EX);
	/* Not under its name before it is complete: the server may be killed at any time. */
	snprintf(temporary, sizeof temporary, "%s/copy.tmp", dir);
	out = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	in = open(path, O_RDONLY | O_CLOEXEC);
	while (in >= 0 && out >= 0 && (n = read(in, buffer, sizeof buffer)) > 0)
		if (write(out, buffer, (size_t) n) != n)
			abort();
	snprintf(kept, sizeof kept, "%s/%s", dir, name);
	if (in < 0 || out < 0 || rename(temporary, kept) != 0)
		abort();
	strcat(name, ".syncs");
	append(name, "s");
	close(in);
	close(out);
	close(lock);
}

static void hold(const char *base)
{
	const char *held = is_segment(base) ? "held.wal" : "held.ceiling";
	char pids[1024], pid[32];

	snprintf(pid, sizeof pid, " %ld ", (long) getpid());
	if (!word_in(held, pids, sizeof pids) || !strstr(pids, pid))
		return;
	append("held.log", pid);
	while (word_in(held, pids, sizeof pids))
		usleep(2000);
}

/* Is the call among those that the file names? */
static int names_call(const char *file, const char *call)
{
	char calls[256], *at;
	size_t n = strlen(call);

	if (!word_in(file, calls, sizeof calls))
		return 0;
	for (at = calls; (at = strstr(at, call)) != NULL; at += n)
		if ((at == calls || at[-1] == ' ') && strchr(" \n", at[n]))
			return 1;
	return 0;
}

/* Sets errno, and is true, if this call shall fail. */
static int fails(const char *call)
{
	if (names_call("full", call))
		errno = ENOSPC;
	else if (names_call("broken", call))
		errno = EIO;
	else
		return 0;
	return 1;
}

static int fails_for(const char *call, int fd)
{
	char name[1024];

	/* The cheap question first: the server writes a lot. */
	return shim_dir() && fails(call) && name_of(fd, name, sizeof name) && is_ours(name);
}

/* The server's processes work in it. */
static int is_data_directory(int fd)
{
	struct stat opened, here;

	return fstat(fd, &opened) == 0 && stat(".", &here) == 0 && S_ISDIR(opened.st_mode) &&
		   opened.st_dev == here.st_dev && opened.st_ino == here.st_ino;
}

static int sync_file(const char *call, int fd)
{
	char link[64], name[1024];

	if (!shim_dir() || !name_of(fd, name, sizeof name) || (!is_segment(name) && !is_ours(name)))
		return 0;
	if (is_ours(name) && fails(call))
		return -1;
	/* Opened anew: the server may have opened the file for writing only. */
	snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
	keep(link, name);
	if (is_segment(name) || strcmp(name, "snowflake_ids.ceiling") == 0)
		hold(name);
	return 0;
}

int fsync(int fd)
{
	if (shim_dir() && is_data_directory(fd) && fails("fsync_directory"))
		return -1;
	return sync_file("fsync", fd);
}


int fdatasync(int fd) { return sync_file("fdatasync", fd); }

/* ---- calls that may fail, besides the syncs */

ssize_t pwrite(int fd, const void *data, size_t size, off_t at)
{
	static ssize_t (*real)(int, const void *, size_t, off_t);

	if (fails_for("pwrite", fd))
		return -1;
	if (!real)
		real = (ssize_t (*)(int, const void *, size_t, off_t)) dlsym(RTLD_NEXT, "pwrite");
	return real(fd, data, size, at);
}

ssize_t pread(int fd, void *data, size_t size, off_t at)
{
	static ssize_t (*real)(int, void *, size_t, off_t);

	if (fails_for("pread", fd))
		return -1;
	if (!real)
		real = (ssize_t (*)(int, void *, size_t, off_t)) dlsym(RTLD_NEXT, "pread");
	return real(fd, data, size, at);
}

int openat(int dir_fd, const char *name, int flags, ...)
{
	static int (*real)(int, const char *, int, ...);
	mode_t mode = 0;

	if ((flags & O_CREAT) || (flags & O_TMPFILE) == O_TMPFILE)
	{
		va_list list;

		va_start(list, flags);
		mode = va_arg(list, mode_t);
		va_end(list);
	}
	if ((flags & O_CREAT) && is_ours(name) && fails("openat"))
		return -1;
	if (!real)
		real = (int (*)(int, const char *, int, ...)) dlsym(RTLD_NEXT, "openat");
	return real(dir_fd, name, flags, mode);
}

int linkat(int from_fd, const char *from, int to_fd, const char *to, int flags)
{
	static int (*real)(int, const char *, int, const char *, int);

	if (is_ours(to) && fails("linkat"))
		return -1;
	if (!real)
		real = (int (*)(int, const char *, int, const char *, int)) dlsym(RTLD_NEXT, "linkat");
	return real(from_fd, from, to_fd, to, flags);
}
