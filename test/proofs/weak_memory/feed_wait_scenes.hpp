// Readers of feeds that sleep, and transactions that commit: what ledger_feed_wait_model_test.cpp checks.
#pragma once

#include "ledger/feed_wait.hpp"
#include "memory.hpp"

namespace snowflake_ids::weak_memory {

struct SleeperAndWriters : rl::test_suite<SleeperAndWriters, 3> {
    static constexpr const char* name = "a sleeper and writers";
    struct Group {
        Word<> count;
    } group;

    // The server's lock under which the end of a transaction becomes visible.
    rl::mutex snapshot_lock;
    unsigned finished = 0;

    // PostgreSQL's list of those who sleep.
    rl::mutex list_lock;
    bool listed = false, woken = false;

    // of the reader
    bool asleep = false;
    Value count = ~Value{0};
    unsigned read = 0;

    SleeperAndWriters() { group.count.begin("count"); }

    void commit(unsigned i) {
        {
            const Held held(snapshot_lock);
            finished |= 1u << i;
        }
        ledger::count_and_wake(group, [this](Group&) {
            const Held held(list_lock);
            woken |= listed;
            listed = false;
        });
    }
    void enter() {
        const Held held(list_lock);
        listed = true;
        woken = false;
    }
    Value look() const { return group.count.load(); }
    // Reads at most so many times.
    void wait(int times) {
        for (int n = 0; n < times; n++) {
            Value now = look();
            if (now == count) {
                enter();
                now = look();
                if (now == count) {
                    asleep = true;
                    return;
                }
            }
            count = now;
            const Held held(snapshot_lock);
            read = finished;
        }
    }
    void thread(unsigned i) { i == 0 ? wait(3) : commit(i); }
    void after() {
        if ((finished & ~read) == 0) return;
        require(count != group.count.last(), "a count holds beside a row");
        require(!asleep || woken, "a wake-up was missed");
    }
};

}  // namespace snowflake_ids::weak_memory
