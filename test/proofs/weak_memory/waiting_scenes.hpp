// What ledger_waiting_model_test.cpp checks.
#pragma once

#include "ledger/waiting.hpp"
#include "settling_scenes.hpp"

namespace snowflake_ids::weak_memory {

struct Waiting : OneTable {
    struct Group {
        Word<> count;
    } group;

    // PostgreSQL's list of those who sleep.
    rl::mutex list_lock;
    bool listed = false, woken = false;

    // of the reader
    bool asleep = false, looks_soon = false;
    Value number = ~Value{0};
    unsigned read = 0;

    Waiting() { group.count.begin("count"); }

    void count_up() {
        ledger::count_up(group, [this](Group&) {
            const Held held(list_lock);
            woken |= listed;
            listed = false;
        });
    }
    // As src/pg/promise/writer.cpp.
    void commit(Value xid) {
        finish(xid, true);
        count_up();
    }
    // COMMIT PREPARED tells nobody.
    void prepare(unsigned b) {
        Transaction x{*this, b};
        x.start();
        note(x, table);
        if (!x.prepare()) return;
        count_up();
        finish(x.xid, true);
    }
    ledger::Sum look() {
        const auto over = [this](Value xid) { return (snapshot() >> xid & 1) != 0; };
        return ledger::look(group, places, place(), 0, table, over);
    }
    void enter() {
        const Held held(list_lock);
        listed = true;
        woken = false;
    }
    // As src/pg/settled/wait.cpp. Reads at most so many times.
    void wait(int times) {
        for (int n = 0; n < times; n++) {
            ledger::Sum sum = look();
            if (sum.number == number) {
                enter();
                sum = look();
                if (sum.number == number) {
                    asleep = true;
                    looks_soon = sum.prepared;
                    return;
                }
            }
            number = sum.number;
            read = snapshot();
        }
    }
    void check() {
        if ((finished & ~read) == 0) return;
        ledger::Sum present{group.count.last()};
        for (const Prepared& p : prepared_places) {
            const Value xid = p.xid.last();
            if (xid != 0 && (finished >> xid & 1) == 0) present.add(xid);
        }
        require(number != present.number, "a number holds beside a row");
        require(!asleep || looks_soon || woken, "a wake-up was missed");
    }
};

struct SleeperAndWriters : rl::test_suite<SleeperAndWriters, 3>, Waiting {
    static constexpr const char* name = "a sleeper and writers";

    void thread(unsigned i) { i == 0 ? wait(3) : commit(begin_transaction()); }
    void after() { check(); }
};

struct SleeperAndPrepared : rl::test_suite<SleeperAndPrepared, 2>, Waiting {
    static constexpr const char* name = "a sleeper and a prepared transaction";

    void thread(unsigned i) {
        if (i == 0) return wait(3);
        prepare(0);
        if (pick(2) == 0) prepare(0);
    }
    void after() { check(); }
};

}  // namespace snowflake_ids::weak_memory
