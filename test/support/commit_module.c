/*
 * commit_module: holds a COMMIT where others see the transaction, but have neither its invalidation messages nor its locks.
 *
 *   cc -O2 -fPIC -shared -I $(pg_config --includedir-server) -o commit_module.so commit_module.c
 *
 *   hold_commit() void   the present transaction stays there, until the directory of the data has a file "go_on"
 */
#include "postgres.h"

#include <unistd.h>

#include "access/xact.h"
#include "fmgr.h"

PG_MODULE_MAGIC;

PG_FUNCTION_INFO_V1(hold_commit);

static bool held = false;

static void
at_event(XactEvent event, void *arg)
{
	if (event != XACT_EVENT_COMMIT)
		return;
	while (held && access("go_on", F_OK) != 0)
		pg_usleep(1000L);
	held = false;
}

Datum
hold_commit(PG_FUNCTION_ARGS)
{
	static bool watches = false;

	if (!watches)
		RegisterXactCallback(at_event, NULL);
	watches = true;
	held = true;
	PG_RETURN_VOID();
}
