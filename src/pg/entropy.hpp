// Random bits from PostgreSQL's strong source, a whole buffer at a time, because each read costs a system call.
#pragma once

#include "pg/pg.hpp"

namespace snowflake_ids::entropy {

struct Buffer {
    uint64* words = nullptr;  // 4 KiB; null before the first refill()
    unsigned left = 0;        // unused words, of which the last is used next
    int owner_pid = 0;        // a forked child must not use its parent's bits
};

extern Buffer buffer;

// Raises an error if PostgreSQL's source fails.
void refill();

// Wiped from the buffer, so a later look into this process's memory does not show an id that was issued.
inline uint64 random64() {
    if (unlikely(buffer.left == 0 || buffer.owner_pid != MyProcPid)) refill();
    uint64& word = buffer.words[--buffer.left];
    const uint64 value = word;
    word = 0;
    return value;
}

}  // namespace snowflake_ids::entropy
