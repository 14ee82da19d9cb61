// settled.hpp: draws and ends of transactions against readers. No row may appear whose time is before what a reader was
// told, unless that reader's snapshot has it.
#pragma once

#include "ledger/settled.hpp"
#include "memory.hpp"

namespace snowflake_ids::weak_memory {

inline constexpr unsigned transactions = 8;

struct Backend {
    static constexpr unsigned places = 3;
    Word low, database, holder, ended;
    struct {
        Word xid, low;
    } ring[places];

    Backend() {
        low.begin("low", ledger::no_low);
        database.begin("database");
        holder.begin("holder");
        ended.begin("ended");
        for (auto& r : ring) {
            r.xid.begin("ring.xid");
            r.low.begin("ring.low");
        }
    }
};

struct Prepared {
    Word xid, low, database;

    Prepared() {
        xid.begin("prepared.xid");
        low.begin("prepared.low");
        database.begin("prepared.database");
    }
};

// Transactions 1 to `transactions` - 1; transaction and local id are the same number.
struct Database {
    static constexpr unsigned backends = 2, places = 2;
    static constexpr Value id = 5;
    Word promise, reused;
    Backend backend[backends];
    Prepared table[places];

    // The server's own: which transactions have ended, and the next one, each under a lock of the server; which local
    // transaction a process has open, without any lock.
    rl::mutex snapshot_lock, next_lock;
    unsigned finished = 0;
    Value next = 1;
    Word open[backends];
    Value last_time = 3;

    // Of each transaction: its earliest row, and the latest time that was told to a reader whose snapshot has it not.
    Value row[transactions] = {}, told[transactions] = {};

    Database() {
        promise.begin("promise");
        reused.begin("prepared_reused");
        for (Word& o : open) o.begin(nullptr);
    }
    auto entry() {
        return [this](std::uint32_t i) -> Prepared& { return table[i]; };
    }
    Value next_xid() {
        const Held held(next_lock);
        return next;
    }
    Value begin_transaction() {
        const Held held(next_lock);
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

// A transaction of process `b`. A worker draws for it too.
struct Transaction {
    Database& db;
    unsigned b;
    Value xid = 0, covered = ledger::no_low;
    Value database = Database::id;

    Backend& own() { return db.backend[b]; }
    void start() {
        xid = db.begin_transaction();
        db.open[b].store(xid, std::memory_order_relaxed);
        covered = ledger::no_low;
    }
    // As src/pg/draw/unsettled.cpp, claim.cpp.
    void draw(bool by_worker = false) {
        if (covered == ledger::no_low) {
            if (own().holder.load() != 0 || by_worker) ledger::hold_for(own(), xid);
            if (own().database.load() != database) own().database.store(database);
        }
        Value t = between(1, db.last_time);
        while (!ledger::accepts(db.promise, own(), t, covered)) {
            const Value promised = db.promise.load();
            if (t < promised) t = promised;
        }
        if (database == Database::id && (db.row[xid] == 0 || t < db.row[xid])) db.row[xid] = t;
    }
    void take_back(Value committed) {
        ledger::end_transaction(own(), xid, committed, [this] { return db.next_xid(); });
    }
    void close() { db.open[b].store(0, std::memory_order_relaxed); }
    void end(bool commits, bool has_library = true) {
        db.finish(xid, commits);
        close();
        if (has_library) take_back(commits ? xid : 0);
    }
    bool prepare() {
        const auto over = [this](Value x) { return (db.snapshot() >> x & 1) != 0; };
        if (!ledger::note_prepared(own(), db.reused, Database::places, db.entry(), xid, Database::id, over))
            return false;
        close();
        take_back(0);
        return true;
    }
};

struct Reader {
    Database& db;
    unsigned seen;
    unsigned b = 0;

    // 0 is before all: an entry of the ring that nobody has written.
    bool finished(Value xid) const { return xid == 0 || (seen >> xid & 1) != 0; }
    bool is_after(Value xid) const {
        const unsigned earlier = (1u << xid) - 2;
        return (seen & earlier) == earlier || finished(xid);
    }
    bool runs(Value lxid) const { return db.open[b].load(std::memory_order_relaxed) == lxid; }
    Value next_xid() const { return db.next_xid(); }

    // As src/pg/operate/settled.cpp.
    static void read(Database& db) {
        Reader view{db, db.snapshot()};
        // Much may happen before it looks.
        for (unsigned n = pick(2) * pick(60); n > 0; n--) pause();
        ledger::raise_to(db.promise, between(1, db.last_time));
        Value t = db.promise.load();
        const Value reused = db.reused.load();
        for (view.b = 0; view.b < Database::backends; view.b++) {
            if (!ledger::limit_by(db.backend[view.b], Database::id, view, t)) return;
        }
        ledger::limit_by_prepared(Database::places, db.entry(), Database::id, view, t);
        if (db.reused.load() != reused) return;
        db.tell(view.seen, t);
    }
};

struct DrawAndReader : rl::test_suite<DrawAndReader, 3>, Database {
    static constexpr const char* name = "a draw and readers";

    void thread(unsigned i) {
        if (i != 0) return Reader::read(*this);
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
        if (i == 2) return Reader::read(*this);
        Transaction x{*this, i};
        x.start();
        x.draw();
        x.end(pick(4) != 0);
    }
};

// One after another: the ring has three places.
struct Ring : rl::test_suite<Ring, 2>, Database {
    static constexpr const char* name = "ring";

    void before() { last_time = 2; }
    void thread(unsigned i) {
        if (i == 1) return Reader::read(*this);
        Transaction x{*this, 0};
        for (int n = 0; n < 5; n++) {
            x.start();
            x.draw();
            x.end(true);
        }
    }
};

// The same, but some are prepared, then committed. So the ring has entries that tell no order.
struct PreparedRing : rl::test_suite<PreparedRing, 2>, Database {
    static constexpr const char* name = "ring with prepared ones";

    void before() { last_time = 2; }
    void thread(unsigned i) {
        if (i == 1) return Reader::read(*this);
        Transaction x{*this, 0};
        for (int n = 0; n < 6; n++) {
            x.start();
            x.draw();
            if (pick(2) == 0 && x.prepare())
                finish(x.xid, true);
            else
                x.end(true);
        }
    }
};

// Prepared, then committed by another process. The table has two places.
struct PreparedTable : rl::test_suite<PreparedTable, 3>, Database {
    static constexpr const char* name = "prepared";
    Value prepared[transactions] = {};
    unsigned count = 0;
    bool over = false;

    void before() { last_time = 2; }
    void thread(unsigned i) {
        if (i == 2) return Reader::read(*this);
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
            // The transaction is in the server's list, under its lock.
            const Held held(snapshot_lock);
            prepared[count++] = x.xid;
        }
        over = true;
    }
};

// A worker draws for the transaction of its leader, whose process may not have loaded the library.
struct Workers : rl::test_suite<Workers, 3>, Database {
    static constexpr const char* name = "workers";
    rl::mutex group;
    bool starts = false, ends = false;
    Value leads = 0;

    void before() { last_time = 2; }
    void thread(unsigned i) {
        if (i == 2) return Reader::read(*this);
        if (i == 1) {
            while (!starts) pause();
            const Held held(group);
            if (ends) return;
            Transaction worker{*this, 0, leads};
            worker.draw(true);
            return;
        }
        const bool has_library = pick(2) == 0;
        Transaction x{*this, 0};
        x.start();
        {
            const Held held(group);
            leads = x.xid;
            starts = true;
        }
        if (has_library) x.draw();
        {
            const Held held(group);
            ends = true;
        }
        x.end(pick(4) != 0, has_library);
        x.start();
        x.draw();
        x.end(pick(2) != 0);
    }
};

// Only a worker has drawn for a transaction, and its leader has not loaded the library: so `low` stays when it is over. The
// next process in this place may be of another database.
struct LeftBehind : rl::test_suite<LeftBehind, 3>, Database {
    static constexpr const char* name = "a low that is left behind";

    void thread(unsigned i) {
        if (i != 0) return Reader::read(*this);
        Transaction x{*this, 0};
        x.start();
        x.draw(true);
        x.end(true, false);
        if (pick(2) == 0) x.database++;
        x.start();
        x.draw(pick(2) == 0);
        x.end(true);
    }
};

// The next transaction in that place draws later ids, so it does not write `low` again: only `holder` shows it.
struct Behind : rl::test_suite<Behind, 2>, Database {
    static constexpr const char* name = "draws behind a low";

    void before() {
        Transaction x{*this, 0};
        x.start();
        x.draw(true);
        x.end(true, false);
        if (pick(4) != 0) Reader::read(*this);
    }
    void thread(unsigned i) {
        if (i != 0) return Reader::read(*this);
        Transaction x{*this, 0};
        x.start();
        x.draw(pick(2) == 0);
        x.end(true);
    }
};

}  // namespace snowflake_ids::weak_memory
