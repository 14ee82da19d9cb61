// Waiting: how readers of stamped tables sleep until a transaction has committed rows that they have not read.
//
// Tables share groups. A Group has a count and the list of the processes that sleep, which a lock of PostgreSQL guards
// (pg/server/waiters.hpp).
//
// A transaction that has stamped rows takes these steps when it is committed and its rows are visible, after step 5 of
// settling.hpp. It also takes them when it is prepared.
//   1. Add one to the count of each group of its tables.
//   2. Wake all that are in the list of such a group.
// A reader has the number that it got the last time. It takes these steps, and then reads:
//   3. Load the count of its table's group. Only then look at the prepared transactions: add a number for each that has
//      noted the table and is not over. If the sum is another one than the reader has, that is the answer.
//   4. Enter the list, and take step 3 again. Sleep if the sum is the same.
// If step 2 does not find the reader in the list, its step 4 takes the lock later, and sees the count.
//
// COMMIT PREPARED knows no tables, and may run where this library is not loaded. So nobody counts it: the number of the
// transaction leaves the sum. A reader looks again soon while there is one. If the count tells that a transaction was
// prepared, step 3 finds it in its place, or over.
//
// Nothing is remembered between two calls.
#pragma once

#include <cstdint>

#include "ledger/settling.hpp"

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

// Of Backend::tables, whose words remain when the transaction has ended.
struct Noted {
    std::uint64_t tables;
    bool every;
};
template <class B>
Noted noted_by(const B& backend) {
    return {backend.table_count.load(std::memory_order_relaxed),
            backend.every_table.load(std::memory_order_relaxed) != 0};
}

template <class B, class Each>
void each_group(const B& backend, const Noted& noted, std::uint64_t database, Each each) {
    if (noted.every) {
        for (std::uint32_t i = 0; i < groups_of_database; i++) each(first_group(database) + i);
        return;
    }
    for (std::uint64_t n = 0; n < noted.tables; n++)
        each(group_of(database, backend.tables[n].load(std::memory_order_relaxed)));
}

// Steps 1 and 2.
template <class G, class Wake>
void count_up(G& group, Wake wake) {
    group.count.fetch_add(1);
    wake(group);
}

struct Sum {
    std::uint64_t number;
    bool prepared = false;  // look again soon

    void add(std::uint64_t xid) {
        number += xid * spread;
        prepared = true;
    }
};

// Step 3. `over(xid)` is true for a transaction that is neither running nor prepared.
template <class G, class PlaceAt, class Over>
Sum look(const G& group, std::uint32_t count, PlaceAt place, std::uint64_t database, std::uint64_t table, Over over) {
    Sum sum{group.count.load()};
    for (std::uint32_t i = 0; i < count; i++) {
        const auto& p = place(i);
        const std::uint64_t xid = p.xid.load();
        // With taken_mark, it is over.
        if (xid != 0 && (xid & taken_mark) == 0 && p.database.load() == database && has_noted(p, table) && !over(xid))
            sum.add(xid);
    }
    return sum;
}

}  // namespace snowflake_ids::ledger
