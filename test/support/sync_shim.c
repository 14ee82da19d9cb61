/*
 * sync_shim.c: remembers what a server has synced, for tests that take its power away.
 *
 *   cc -O2 -fPIC -shared -o sync_shim.so sync_shim.c
 *   SYNC_SHIM_DIR=dir LD_PRELOAD=.../sync_shim.so pg_ctl start
 *
 * With each fsync() or fdatasync() of a WAL segment or of a file named snowflake_ids.*, dir/NAME
 * becomes a copy of what the file held when the call began, and dir/NAME.syncs one byte
 * longer. To lose power: kill the server, and put the copies in place of the files.
 *
 * Nothing is really synced, of no file: the copies are the disk of the test.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

static int is_segment(const char *name)
{
	return strlen(name) == 24 && strspn(name, "0123456789ABCDEF") == 24;
}

static void count(const char *dir, const char *name)
{
	char path[4096];
	int fd;

	snprintf(path, sizeof path, "%s/%s.syncs", dir, name);
	fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	if (fd >= 0 && write(fd, "s", 1) != 1)
		abort();
	close(fd);
}

/* Whole or not at all, and in the order of the syncs. */
static void keep(int fd)
{
	const char *dir = getenv("SYNC_SHIM_DIR");
	char link[64], path[4096], name[4096], temporary[4096], buffer[65536];
	const char *base;
	ssize_t n;
	off_t at = 0;
	int lock, out;

	if (!dir)
		return;
	snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
	n = readlink(link, path, sizeof path - 1);
	if (n <= 0)
		return;
	path[n] = '\0';
	base = strrchr(path, '/');
	if (!base || (!is_segment(base + 1) && strncmp(base + 1, "snowflake_ids.", 14) != 0))
		return;
	base++;
	/* A file is made under a temporary name, NAME.PID.tmp, and synced before it is linked. */
	snprintf(name, sizeof name, "%.1000s", base);
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
	/* The server may have opened the file for writing only. */
	fd = open(link, O_RDONLY | O_CLOEXEC);
	while (fd >= 0 && out >= 0 && (n = pread(fd, buffer, sizeof buffer, at)) > 0)
	{
		if (write(out, buffer, (size_t) n) != n)
			abort();
		at += n;
	}
	snprintf(path, sizeof path, "%s/%.1000s", dir, name);
	if (fd < 0 || out < 0 || rename(temporary, path) != 0)
		abort();
	count(dir, name);
	close(fd);
	close(out);
	close(lock);
}

int fsync(int fd)
{
	keep(fd);
	return 0;
}

int fdatasync(int fd) { return fsync(fd); }
