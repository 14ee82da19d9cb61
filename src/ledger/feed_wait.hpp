// Waiting: how readers of feeds sleep until a transaction has committed rows that they have not read.
//
// Tables share groups. A Group has a count and the list of the processes that sleep, which a lock of PostgreSQL guards
// (pg/server/feed_waiters.hpp).
//
// A transaction that has written into such tables takes these steps when it is committed and its rows are visible. It
// also takes them when it is prepared.
//   1. Add one to the count of each group of its tables.
//   2. Wake all that are in the list of such a group.
// A reader has the count that it got the last time. It takes these steps, and then reads:
//   3. Load the count of its table's group. If it is another one than the reader has, that is the answer.
//   4. Enter the list, and take step 3 again. Sleep if the count is the same.
// If step 2 does not find the reader in the list, its step 4 takes the lock later, and sees the count.
//
// For example: a reader has the count 7, and step 3 finds 7. Now a transaction ends: 7 becomes 8, and the list is
// empty, so nobody is woken. The reader enters the list, looks again, finds 8, and does not sleep. If it had entered
// before the transaction looked into the list, it would be asleep or about to sleep, and be woken.
//
// The server remembers nothing of a reader between two calls.
#pragma once

#include <cstdint>

#include "ledger/slot.hpp"

namespace snowflake_ids::ledger {

// An odd number that spreads others.
inline constexpr std::uint64_t spread = 0x9e3779b97f4a7c15;

constexpr std::uint32_t first_group(std::uint64_t database) {
    return static_cast<std::uint32_t>(database % (group_count / groups_of_database)) * groups_of_database;
}
constexpr std::uint32_t group_of(std::uint64_t database, std::uint64_t table) {
    return first_group(database) + static_cast<std::uint32_t>((table * spread >> 32) % groups_of_database);
}

// The counts of two groups, and those of one group in two memories, are far apart. `random`: of this memory.
constexpr std::uint64_t first_count(std::uint64_t random, std::uint32_t group) { return random + group * spread; }

// Steps 1 and 2 for one group.
template <class G, class Wake>
void count_and_wake(G& group, Wake wake) {
    group.count.fetch_add(1);
    wake(group);
}

}  // namespace snowflake_ids::ledger
