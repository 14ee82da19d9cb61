// Settled: the time before which every id has arrived. There a reader of a table begins its next poll.
//
// Ids are generated before their rows can be seen, and rows are committed in another order than their ids were
// generated. So a reader needs a time T such that no row whose id is of an earlier time can still appear. T comes from
//
//   promise   One word for the server: no id of an earlier time is accepted any more. It only grows. Exception: a
//             forced reset moves it back (reset.cpp).
//   Backend   One for each process: the earliest id of its open transaction (`low`), and a ring of the transactions
//             that it has ended, because the reader's snapshot may be older than their end.
//
// The time of an id is the last microsecond of its tick. So an id of the present tick is never earlier than the clock,
// and no layout delays the readers of another one. A reader subtracts the tick of its format: settled_for_ticks().
//
// A writer, at each id of time t:
//   0. A trigger that stamps a table notes the table in the Backend, and those that it is a part of. Then it loads the
//      promise.
//   1. If `low` is above t, lower it to t, unless the promise is above t.
//   2. Load the promise. If it is not above t, the id is accepted.
//   3. Otherwise throw the id away, and claim again, at the promise or later.
// Its end, after PostgreSQL has made the end visible:
//   4. If the transaction is committed and has a transaction id, note it in the ring.
//   5. `low` becomes none. After that, the tables are cleared.
// A reader, after its snapshot was taken:
//   6. Lift the promise. T is what it now is.
//   7. For each backend of the reader's database: T becomes `low` if that is earlier, unless this is the reader of a
//      table that the transaction has not noted; then the same with the ring, from the newest entry down to the first
//      that the snapshot calls finished.
//
// In steps 1 and 2, and in 6 and 7, each side writes before it reads, so at least one of them sees the other. If a
// reader does not see the `low` of a transaction with an id before T, it finds that transaction in the ring, or its
// snapshot calls it finished. A reader of a table may pass over a `low`, because the stamps that come later keep the
// promise: each is compared with it, also one above `low` or one that was claimed before, and the load in step 0 lets
// that relaxed comparison see what this reader has promised.
//
// The ring. The transactions of a process come one after another, so a snapshot that calls one finished calls all
// earlier ones finished. Therefore several may share an entry, with the newest id and the lowest `low`. T can be too
// early because of this, never too late. Entries are merged
//   - when the new one's `low` is less than a millisecond after the newest entry's, and the database is the same;
//   - when the ring is full: the two neighbours that are closest together for their age. So T is too early by about as
//     long as the snapshot is old, however much has ended since.
// Entries only move down, and an entry is whole in the lower place before the higher place is overwritten. A reader
// goes down too, so it misses none. If it reads an entry while that changes, it has met the entry that comes down in
// the place above, and meets the entry that goes down in the place below.
//
// A prepared transaction has a Backend instead of a process, with its id in `xid`. Its process fills this in when it
// prepares, with the tables, and then continues with step 5. A reader looks at these after the processes, because a
// transaction may be prepared while it looks. When it is over, another one may use its place, which must be running
// then. So the transactions of a place come one after another too, and the place has a ring of them.
//
// The functions are templates over the words, so that the model checker runs this very code.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>

#include "ledger/claim.hpp"
#include "ledger/slot.hpp"

namespace snowflake_ids::ledger {

// The `low` of a transaction without ids: it is after all times.
inline constexpr UnixTime no_low = UnixTime::max();

// A transaction shares the newest entry of the ring if that is of the same database, and if the transaction's `low` is
// less than this after the entry's.
inline constexpr microseconds ring_resolution = milliseconds{1};

// The database of an entry that was merged from those of several databases. It counts for all.
inline constexpr std::uint64_t any_database = 0;

// The settled time for a format with ticks of this length: no row can still appear whose tick starts before it, because
// such a tick ends before `t`.
constexpr UnixTime settled_for_ticks(UnixTime t, microseconds tick_length) {
    return t - (tick_length - microseconds{1});
}

// The clock that the promise follows. After a start, ids begin ahead of the wall clock, and readers would see none of
// them until the wall clock has caught up. So this clock begins where these ids begin, and runs at half the speed of
// the monotonic clock until the wall clock has caught up. It stands still for no reader, and pushes no generator faster
// than time. Generators do not follow it. `base` is Header::promise_base.
constexpr UnixTime promise_clock(UnixTime base, MonotonicTime monotonic, UnixTime wall) {
    const UnixTime slow = base + monotonic.time_since_epoch() / 2;
    return slow < wall ? wall : slow;
}

// The `base` with which promise_clock() begins at `t`.
constexpr UnixTime promise_base_at(UnixTime t, MonotonicTime monotonic) { return t - monotonic.time_since_epoch() / 2; }

// Steps 1 to 3 of the protocol above, for an id of time `t`. `backend` is that of this process. Returns false if the id
// must be thrown away.
template <class W, class B>
bool admit(const W& promise, B& backend, UnixTime t) {
    if (backend.low.load(std::memory_order_relaxed) > t) {
        if (promise.load(std::memory_order_relaxed) > t) return false;
        backend.low.store(t);
    }
    return promise.load() <= t;
}

// Step 0: notes a table that the transaction is going to write to. There is no way back before the end, so a
// transaction counts for the tables of savepoints that were rolled back.
template <class W, class B>
void note_table(const W& promise, B& backend, std::uint64_t table) {
    const std::uint64_t n = backend.table_count.load(std::memory_order_relaxed);
    for (std::uint64_t i = 0; i < n; i++)  // its own process has written them
        if (backend.tables[i].load(std::memory_order_relaxed) == table) return;
    if (n == std::size(backend.tables)) {
        if (backend.every_table.load(std::memory_order_relaxed) != 0) return;
        backend.every_table.store(1);
    } else {
        // A reader that meets it in place of a former transaction's table must find that one in the ring.
        backend.tables[n].store(table, std::memory_order_release);
        backend.table_count.store(n + 1);
    }
    (void) promise.load();
}

// True if the transaction of the backend has noted the table, or every one.
template <class B>
bool has_noted(const B& backend, std::uint64_t table) {
    for (std::uint64_t n = backend.table_count.load(); n-- > 0;)
        if (backend.tables[n].load(std::memory_order_acquire) == table) return true;
    return backend.every_table.load() != 0;
}

namespace detail {

// Takes back the tables of the transaction.
template <class B>
void clear_tables(B& backend) {
    if (backend.table_count.load(std::memory_order_relaxed) == 0) return;
    backend.table_count.store(0, std::memory_order_release);
    if (backend.every_table.load(std::memory_order_relaxed) != 0)
        backend.every_table.store(0, std::memory_order_release);
}

// Writes an entry of the ring. Its words may be written in any order: see "The ring" above.
template <class Entry>
void put(Entry& entry, std::uint64_t xid, UnixTime low, std::uint64_t database) {
    entry.low.store(low, std::memory_order_release);
    entry.database.store(database, std::memory_order_release);
    entry.xid.store(xid, std::memory_order_release);
}

// The two neighbours in a full ring whose merging makes T too early by the smallest part of their age. Returns the
// index of the lower one. `now` is the `low` of the entry that comes next; the age of a `low` is its distance from it.
template <class Ring>
std::size_t closest(const Ring& ring, UnixTime now) {
    using Real = std::chrono::duration<double, std::micro>;
    std::size_t best = 0;
    double least = 2;
    UnixTime low = ring[0].low.load(std::memory_order_relaxed);
    for (std::size_t i = 0; i + 1 < std::size(ring); i++) {
        const UnixTime next = ring[i + 1].low.load(std::memory_order_relaxed);
        // If the `low` of the entry above, or of the entry that comes next, is not later than the `low` of this entry,
        // the merging costs nothing: T is that early without it too.
        const bool free = next <= low || now <= low;
        const double part = free ? 0 : Real{next - low} / Real{now - low};
        if (part < least) {
            least = part;
            best = i;
        }
        low = next;
    }
    return best;
}

// Merges two neighbours of a full ring and moves the entries above them down, so that the highest place can be
// overwritten. `now` is the `low` of the entry that comes next.
template <class Ring>
void make_room(Ring& ring, UnixTime now) {
    struct Read {
        std::uint64_t xid;
        UnixTime low;
        std::uint64_t database;
    };
    const auto read = [&ring](std::size_t i) -> Read {
        return {ring[i].xid.load(std::memory_order_relaxed), ring[i].low.load(std::memory_order_relaxed),
                ring[i].database.load(std::memory_order_relaxed)};
    };
    std::size_t i = closest(ring, now);
    const Read lower = read(i), upper = read(i + 1);
    put(ring[i], upper.xid, lower.low < upper.low ? lower.low : upper.low,
        lower.database == upper.database ? upper.database : any_database);
    for (i++; i + 1 < std::size(ring); i++) {
        const Read above = read(i + 1);
        put(ring[i], above.xid, above.low, above.database);
    }
}

}  // namespace detail

// Step 4: notes in the ring that the transaction `xid` has ended. `low` and `database` are what it has shown. Only one
// process at a time may call it for a backend: the process of the backend, or the one that has set taken_mark.
template <class B>
void note_ended(B& backend, std::uint64_t xid, UnixTime low, std::uint64_t database) {
    auto& ring = backend.ring;
    std::uint64_t n = backend.ended.load(std::memory_order_relaxed);
    if (n > 0) {
        auto& newest = ring[n - 1];
        const UnixTime newest_low = newest.low.load(std::memory_order_relaxed);
        // The transaction shares the newest entry if that is of the same database and `low` is not too late for it: see
        // ring_resolution.
        if (newest.database.load(std::memory_order_relaxed) == database && low < newest_low + ring_resolution) {
            if (low < newest_low) newest.low.store(low, std::memory_order_release);
            newest.xid.store(xid, std::memory_order_release);
            return;
        }
    }
    if (n == std::size(ring)) {
        detail::make_room(ring, low);
        n--;
    }
    detail::put(ring[n], xid, low, database);
    backend.ended.store(n + 1, std::memory_order_release);
}

// Steps 4 and 5, for the transaction of this process. `xid` is its full id if it was committed and has one, otherwise
// 0.
template <class B>
void end_transaction(B& backend, std::uint64_t xid) {
    const UnixTime low = backend.low.load(std::memory_order_relaxed);
    if (low != no_low) {
        if (xid != 0) note_ended(backend, xid, low, backend.database.load(std::memory_order_relaxed));
        backend.low.store(no_low, std::memory_order_release);
    }
    detail::clear_tables(backend);
}

// A bit in Backend::xid of a prepared transaction's place. It is set while a process takes the place for another
// transaction. Until that is done, the place still belongs to the transaction whose id the other bits contain.
inline constexpr std::uint64_t taken_mark = std::uint64_t{1} << 63;

// In place of the table of a reader of all tables: every transaction counts, whatever it has noted.
inline constexpr std::uint64_t all_tables = 0;

// True if readers of the table wait for the transaction of the backend.
template <class B>
bool counts_for(const B& backend, std::uint64_t table) {
    return table == all_tables || has_noted(backend, table);
}

// Step 7, for one process or one place of prepared transactions. Lowers `t` to the earliest time that its transactions
// in the reader's `database` allow. `finished(xid)` says whether the reader's snapshot calls this transaction finished;
// it returns true for 0. `table`: the one that is read.
template <class B, class Finished>
void limit_by(B& backend, std::uint64_t database, Finished finished, UnixTime& t, std::uint64_t table = all_tables) {
    const UnixTime low = backend.low.load();
    if (low < t) {
        const std::uint64_t xid = backend.xid.load() & ~taken_mark;
        if ((xid == 0 || !finished(xid)) && backend.database.load() == database && counts_for(backend, table)) t = low;
    }
    for (std::uint64_t i = backend.ended.load(); i-- > 0;) {
        auto& entry = backend.ring[i];
        if (finished(entry.xid.load(std::memory_order_acquire))) return;  // all older entries have finished too
        const std::uint64_t of = entry.database.load(std::memory_order_acquire);
        const UnixTime entry_low = entry.low.load(std::memory_order_acquire);
        if (entry_low < t && (of == database || of == any_database)) t = entry_low;
    }
}

// Gives the transaction `xid` of this process, which is about to be prepared, one of the `count` places. Call it while
// the transaction is running, so that the transaction which had the place before has ended earlier. `over(xid)` is true
// for a transaction that is neither running nor prepared. Returns false if no place is free.
template <class B, class PlaceAt, class Over>
bool note_prepared(const B& backend, std::uint32_t count, PlaceAt place, std::uint64_t xid, Over over) {
    for (std::uint32_t i = 0; i < count; i++) {
        auto& p = place(i);
        std::uint64_t seen = p.xid.load();
        if ((seen & taken_mark) != 0 || (seen != 0 && !over(seen))) continue;
        if (!p.xid.compare_exchange_strong(seen, seen | taken_mark)) continue;
        // The former transaction goes into the ring before anything of it is overwritten.
        if (seen != 0) note_ended(p, seen, p.low.load(), p.database.load());
        p.low.store(backend.low.load());
        p.database.store(backend.database.load());
        const std::uint64_t tables = backend.table_count.load(std::memory_order_relaxed);
        for (std::uint64_t n = 0; n < tables; n++)
            p.tables[n].store(backend.tables[n].load(std::memory_order_relaxed), std::memory_order_release);
        p.every_table.store(backend.every_table.load(std::memory_order_relaxed));
        p.table_count.store(tables);
        p.xid.store(xid);
        return true;
    }
    return false;
}

}  // namespace snowflake_ids::ledger
