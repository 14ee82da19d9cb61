// The WAL writer flushes whole pages, so while a transaction writes much, flushed WAL often ends inside a record.
// After a crash, recovery ends before that record.
#include "pg/feed/end_of_records.hpp"

extern "C" {
#include "access/xlog.h"
#include "access/xlog_internal.h"
#include "access/xlogrecord.h"
#include "storage/fd.h"
}

namespace snowflake_ids::feed {

namespace {

bool read_page(XLogRecPtr start, TimeLineID timeline, PGAlignedXLogBlock& page) {
    XLogSegNo segment;
    XLByteToSeg(start, segment, wal_segment_size);
    char path[MAXPGPATH];
    XLogFilePath(path, timeline, segment, wal_segment_size);
    const int file = OpenTransientFile(path, O_RDONLY | PG_BINARY);
    if (file < 0) return false;
    const auto offset = static_cast<off_t>(XLogSegmentOffset(start, wal_segment_size));
    const bool read = pg_pread(file, page.data, XLOG_BLCKSZ, offset) == XLOG_BLCKSZ;
    CloseTransientFile(file);
    const auto* header = reinterpret_cast<const XLogPageHeaderData*>(page.data);
    return read && header->xlp_magic == XLOG_PAGE_MAGIC && header->xlp_pageaddr == start;
}

// Where, in this page, the last record that is complete there ends; 0 if it ends on an earlier page.
Size end_of_whole_records(PGAlignedXLogBlock& page) {
    auto* const header = reinterpret_cast<XLogPageHeader>(page.data);
    Size at = XLogPageHeaderSize(header);
    if ((header->xlp_info & XLP_FIRST_IS_CONTRECORD) != 0) at += MAXALIGN(Size{header->xlp_rem_len});
    if (at > XLOG_BLCKSZ) return 0;
    while (at < XLOG_BLCKSZ) {
        uint32 length;
        memcpy(&length, page.data + at, sizeof length);
        if (length == 0) return XLOG_BLCKSZ;  // after a switch to the next segment
        if (at + MAXALIGN(Size{length}) > XLOG_BLCKSZ) return at;
        at += MAXALIGN(Size{length});
    }
    return at;
}

}  // namespace

XLogRecPtr end_of_records(XLogRecPtr flushed, TimeLineID timeline) {
    constexpr int most_pages = 64;
    if (flushed % XLOG_BLCKSZ != 0) return flushed;
    XLogRecPtr start = flushed;
    for (int i = 0; i < most_pages && start >= XLOG_BLCKSZ; i++) {
        start -= XLOG_BLCKSZ;
        PGAlignedXLogBlock page;
        if (!read_page(start, timeline, page)) break;
        const Size at = end_of_whole_records(page);
        if (at != 0) return start + at;
    }
    return flushed;
}

}  // namespace snowflake_ids::feed
