// What ledger_settling_model_test.cpp checks, in the memory model of C++: an order that is too weak.
#pragma once

#include "ledger/settling.hpp"
#include "memory.hpp"

namespace snowflake_ids::weak_memory {

inline constexpr unsigned transactions = 8;
inline constexpr microseconds unit = ledger::ring_resolution * 6 / 10;

inline UnixTime time_at(Value units) { return UnixTime{units * unit}; }
inline Value units_in(UnixTime t) { return static_cast<Value>(t.time_since_epoch() / unit); }

struct Backend {
    static constexpr unsigned places = 3;
    Word<UnixTime> low;
    Word<> database, xid, ended, every_table, table_count, tables[1];
    struct {
        Word<> xid, database;
        Word<UnixTime> low;
    } ring[places];

    Backend() {
        low.begin("low", ledger::no_low);
        database.begin("database");
        xid.begin("xid");
        ended.begin("ended");
        every_table.begin("every_table");
        table_count.begin("table_count");
        tables[0].begin("tables");
        for (auto& r : ring) {
            r.xid.begin("ring.xid");
            r.low.begin("ring.low");
            r.database.begin("ring.database");
        }
    }
};

struct Prepared : Backend {
    Prepared() {
        low.begin("prepared.low", ledger::no_low);
        database.begin("prepared.database");
        xid.begin("prepared.xid");
        ended.begin("prepared.ended");
        every_table.begin("prepared.every_table");
        table_count.begin("prepared.table_count");
        tables[0].begin("prepared.tables");
    }
};

struct Database {
    static constexpr unsigned backends = 2, places = 2;
    static constexpr Value id = 5;
    Word<UnixTime> promise;
    Backend backend[backends];
    Prepared prepared_places[places];

    rl::mutex snapshot_lock;
    unsigned finished = 0;
    Value next = 1;
    Value last_time = 3;

    // By transaction: its earliest row, and the latest time told to a reader whose snapshot lacks it.
    Value row[transactions] = {}, told[transactions] = {};

    Database() { promise.begin("promise"); }
    auto place() {
        return [this](std::uint32_t i) -> Prepared& { return prepared_places[i]; };
    }
    Value begin_transaction() {
        const Held held(snapshot_lock);
        return next++;
    }
    unsigned snapshot() {
        const Held held(snapshot_lock);
        return finished;
    }
    void finish(Value xid, bool commits) {
        const Held held(snapshot_lock);
        finished |= 1u << xid;
        require(!commits || row[xid] == 0 || row[xid] >= told[xid], "a row was skipped");
        if (!commits) row[xid] = 0;
    }
    void tell(unsigned snapshot, Value t) {
        for (Value x = 1; x < transactions; x++) {
            if ((snapshot >> x & 1) != 0) continue;
            if (told[x] < t) told[x] = t;
            require((finished >> x & 1) == 0 || row[x] == 0 || row[x] >= t, "a row was skipped");
        }
    }
};

struct Transaction {
    Database& db;
    unsigned b;
    Value xid = 0;
    Value database = Database::id;

    Backend& own() { return db.backend[b]; }
    void start() { xid = db.begin_transaction(); }
    // As src/pg/promise/writer.cpp. `at`: the clock; 0: any time.
    Value draw(Value at = 0) {
        if (own().database.load() != database) own().database.store(database);
        Value t = at != 0 ? at : between(1, db.last_time);
        while (!ledger::admit(db.promise, own(), time_at(t))) {
            const Value promised = units_in(db.promise.load());
            if (t < promised) t = promised;
        }
        if (database == Database::id && (db.row[xid] == 0 || t < db.row[xid])) db.row[xid] = t;
        return t;
    }
    void take_back(Value committed) { ledger::end_transaction(own(), committed); }
    void end(bool commits) {
        db.finish(xid, commits);
        take_back(commits ? xid : 0);
    }
    bool prepare() {
        const auto over = [this](Value x) { return (db.snapshot() >> x & 1) != 0; };
        if (!ledger::note_prepared(own(), Database::places, db.place(), xid, over)) return false;
        take_back(0);
        return true;
    }
};

// As src/pg/settled/reader.cpp.
inline void read(Database& db) {
    const unsigned seen = db.snapshot();
    const auto finished = [seen](Value xid) { return xid == 0 || (seen >> xid & 1) != 0; };
    for (unsigned n = pick(2) * pick(60); n > 0; n--) pause();
    ledger::lift_to(db.promise, time_at(between(1, db.last_time)));
    UnixTime t = db.promise.load();
    for (Backend& b : db.backend) ledger::limit_by(b, Database::id, finished, t);
    for (Backend& b : db.prepared_places) ledger::limit_by(b, Database::id, finished, t);
    db.tell(seen, units_in(t));
}

struct DrawAndReader : rl::test_suite<DrawAndReader, 3>, Database {
    static constexpr const char* name = "a draw and readers";

    void thread(unsigned i) {
        if (i != 0) return read(*this);
        Transaction x{*this, 0};
        x.start();
        x.draw();
        x.draw();
        x.end(true);
    }
};

struct TwoWriters : rl::test_suite<TwoWriters, 3>, Database {
    static constexpr const char* name = "two writers and a reader";

    void thread(unsigned i) {
        if (i == 2) return read(*this);
        Transaction x{*this, i};
        x.start();
        x.draw();
        x.end(pick(4) != 0);
    }
};

// They pass over transactions that have not noted it. A backend has room for one table.
struct OneTable : Database {
    static constexpr Value table = 1, another = 2;

    void read_table() {
        const unsigned seen = snapshot();
        const auto finished = [seen](Value xid) { return xid == 0 || (seen >> xid & 1) != 0; };
        for (unsigned n = pick(2) * pick(30); n > 0; n--) pause();
        ledger::lift_to(promise, time_at(between(1, last_time)));
        UnixTime t = promise.load();
        for (Backend& b : backend) ledger::limit_by(b, id, finished, t, table);
        for (Backend& b : prepared_places) ledger::limit_by(b, id, finished, t, table);
        tell(seen, units_in(t));
    }
    void note(Transaction& x, Value t) { ledger::note_table(promise, x.own(), t); }
    // The row's number was claimed before, unless readers were promised more.
    void write_table(Transaction& x, bool elsewhere, bool many = false) {
        x.start();
        Value claimed = 0;
        if (elsewhere) {
            claimed = x.draw();
            row[x.xid] = 0;
        }
        if (many) note(x, another);
        note(x, table);
        if (claimed != 0 && promise.load(std::memory_order_relaxed) <= time_at(claimed))
            row[x.xid] = claimed;
        else
            x.draw();
    }
    void write_another(Transaction& x) {
        x.start();
        note(x, another);
        x.draw();
        row[x.xid] = 0;
    }
};

struct TableAndReaders : rl::test_suite<TableAndReaders, 3>, OneTable {
    static constexpr const char* name = "a table and its readers";

    void thread(unsigned i) {
        if (i != 0) return read_table();
        Transaction x{*this, 0};
        write_table(x, true);
        x.end(true);
        write_table(x, false);
        x.end(true);
    }
};

struct AnotherTable : rl::test_suite<AnotherTable, 2>, OneTable {
    static constexpr const char* name = "another table";

    void before() { last_time = 2; }
    void thread(unsigned i) {
        if (i != 0) return read_table();
        Transaction x{*this, 0};
        write_table(x, false);
        x.end(true);
        write_another(x);
        x.end(true);
    }
};

struct ManyTables : rl::test_suite<ManyTables, 2>, OneTable {
    static constexpr const char* name = "more tables than fit";

    void before() { last_time = 2; }
    void thread(unsigned i) {
        if (i != 0) return read_table();
        Transaction x{*this, 0};
        write_table(x, true, true);
        x.end(true);
        write_another(x);
        x.end(true);
    }
};

// All get the same place.
struct TablePrepared : rl::test_suite<TablePrepared, 2>, OneTable {
    static constexpr const char* name = "a table of prepared ones";

    void before() { last_time = 2; }
    void thread(unsigned i) {
        if (i != 0) return read_table();
        Transaction x{*this, 0};
        for (int n = 0; n < 3; n++) {
            if (n == 1)
                write_another(x);
            else
                write_table(x, true, pick(2) != 0);
            if (!x.prepare()) return x.end(false);
            finish(x.xid, true);
        }
    }
};

struct Ring : rl::test_suite<Ring, 2>, Database {
    static constexpr const char* name = "ring";

    void thread(unsigned i) {
        if (i == 1) return read(*this);
        Transaction x{*this, 0};
        for (int n = 0; n < 4; n++) {
            x.start();
            x.draw();
            x.end(true);
        }
    }
};

// Three places; processes of two databases, one after another.
struct FullRing : rl::test_suite<FullRing, 2>, Database {
    static constexpr const char* name = "full ring";
    // Its rarest fault needs about 75,000 executions.
    static constexpr int times = 5;

    void before() { last_time = 13; }
    void thread(unsigned i) {
        if (i == 1) return read(*this);
        Transaction x{*this, 0};
        for (Value n = 1; n <= 6; n++) {
            x.database = id + (pick(4) == 0 ? 1 : 0);
            x.start();
            x.draw(2 * n);
            x.end(true);
        }
    }
};

struct OnePlace : rl::test_suite<OnePlace, 2>, Database {
    static constexpr const char* name = "one place";

    void before() { last_time = 11; }
    void thread(unsigned i) {
        if (i == 1) return read(*this);
        Transaction x{*this, 0};
        for (Value n = 1; n <= 5; n++) {
            x.start();
            x.draw(2 * n);
            if (!x.prepare()) return x.end(false);
            finish(x.xid, true);
        }
    }
};

struct PreparedTable : rl::test_suite<PreparedTable, 3>, Database {
    static constexpr const char* name = "prepared";
    Value prepared[transactions] = {};
    unsigned count = 0;
    bool over = false;

    void before() { last_time = 2; }
    void thread(unsigned i) {
        if (i == 2) return read(*this);
        if (i == 1) {
            for (unsigned n = 0; n < 4; n++) {
                while (count <= n && !over) pause();
                if (count <= n) return;
                finish(prepared[n], true);
            }
            return;
        }
        Transaction x{*this, 0};
        for (int n = 0; n < 4; n++) {
            x.start();
            x.draw();
            if (!x.prepare()) {
                x.end(false);
                break;
            }
            const Held held(snapshot_lock);
            prepared[count++] = x.xid;
        }
        over = true;
    }
};

}  // namespace snowflake_ids::weak_memory
