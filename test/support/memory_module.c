/*
 * memory_module: functions of a server that use up its shared memory, or spoil that of snowflake_ids.
 *
 *   cc -O2 -fPIC -shared -I $(pg_config --includedir-server) -o memory_module.so memory_module.c
 *
 *   take_slack() bigint            takes all bytes that the main shared memory has left over; returns how many
 *   take_segments() int            makes segments of dynamic shared memory until there can be no more
 *   give_segments(n int) void      gives n of them back, in the same session
 *   forget_ledger() void           the server drops the segment of snowflake_ids once no session has it open
 *   set_memory_version(v int) int  writes a version into that segment, as another library would have; the old one
 */
#include "postgres.h"

#include "fmgr.h"
#include "storage/dsm.h"
#include "storage/lwlock.h"
#include "storage/proc.h"
#include "storage/shmem.h"

PG_MODULE_MAGIC;

PG_FUNCTION_INFO_V1(take_slack);
PG_FUNCTION_INFO_V1(take_segments);
PG_FUNCTION_INFO_V1(give_segments);
PG_FUNCTION_INFO_V1(forget_ledger);
PG_FUNCTION_INFO_V1(set_memory_version);

/* src/pg/server/shared_ledger.cpp: Location */
typedef struct
{
	dsm_handle	segment;
	uint32		preloaded;
	uint64		reserved[7];
} Place;

static dsm_handle taken[100000];
static int	count = 0;

Datum
take_slack(PG_FUNCTION_ARGS)
{
	int64		sum = 0;
	Size		size = 1024 * 1024;

	while (size > 0)
	{
		if (ShmemAllocNoError(size) != NULL)
			sum += size;
		else
			size /= 2;
	}
	PG_RETURN_INT64(sum);
}

Datum
take_segments(PG_FUNCTION_ARGS)
{
	dsm_segment *segment;

	while (count < lengthof(taken) && (segment = dsm_create(4096, DSM_CREATE_NULL_IF_MAXSEGMENTS)) != NULL)
	{
		dsm_pin_segment(segment);
		taken[count++] = dsm_segment_handle(segment);
		dsm_detach(segment);
	}
	PG_RETURN_INT32(count);
}

Datum
give_segments(PG_FUNCTION_ARGS)
{
	int			n = PG_GETARG_INT32(0);

	while (n-- > 0 && count > 0)
		dsm_unpin_segment(taken[--count]);
	PG_RETURN_VOID();
}

static dsm_handle
find_ledger(void)
{
	bool		found;
	Place	   *place;

	LWLockAcquire(AddinShmemInitLock, LW_EXCLUSIVE);
	place = ShmemInitStruct("snowflake_ids", sizeof(Place), &found);
	LWLockRelease(AddinShmemInitLock);
	if (!found || place->segment == DSM_HANDLE_INVALID)
		elog(ERROR, "snowflake_ids has no segment");
	return place->segment;
}

Datum
forget_ledger(PG_FUNCTION_ARGS)
{
	dsm_unpin_segment(find_ledger());
	PG_RETURN_VOID();
}

Datum
set_memory_version(PG_FUNCTION_ARGS)
{
	dsm_segment *segment = dsm_attach(find_ledger());
	uint32	   *version = (uint32 *) ((char *) dsm_segment_address(segment) + 8);
	uint32		before = *version;

	*version = PG_GETARG_INT32(0);
	dsm_detach(segment);
	PG_RETURN_INT32(before);
}

