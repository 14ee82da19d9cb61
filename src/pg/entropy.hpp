// Random bits from PostgreSQL's strong source (pg_strong_random). A whole buffer is read at a time, because each read
// costs a system call.
#pragma once

#include "pg/pg.hpp"

namespace snowflake_ids::entropy {

struct Buffer {
    uint64* words = nullptr;  // 4 KiB; null before the first refill()
    unsigned left = 0;        // how many words are unused; the last of them is used next
    int owner_pid = 0;        // the process that filled it: a forked child must not use its parent's bits
};

extern Buffer buffer;

// Fills the buffer. Raises an error if PostgreSQL's source fails.
void refill();

// 64 random bits. They are wiped from the buffer, so a later look into this process's memory does not show an id that
// was issued.
inline uint64 random64() {
    if (unlikely(buffer.left == 0 || buffer.owner_pid != MyProcPid)) refill();
    uint64& word = buffer.words[--buffer.left];
    const uint64 value = word;
    word = 0;
    return value;
}

}  // namespace snowflake_ids::entropy
