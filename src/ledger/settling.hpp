// Settled: up to which time every id has arrived, so that a reader who continues after the last id loses no row.
//
// Ids are drawn before their rows can be seen, and rows are committed in another order than their ids were drawn. So
// a reader may only go up to a time T such that no row whose id is of an earlier time than T can still appear. Two
// things give T:
//
//   promise   One word for the server: no id of an earlier time is accepted any more. It only grows.
//   Backend   One for each process: the earliest id of its open transaction, and a ring of those that it has ended,
//             because the reader's snapshot may be older than their end.
//
// The time of an id is the last microsecond of its tick. So a draw at the time of the clock is never earlier than the
// clock, however long the tick, and no layout delays the readers of another one. A reader of one format subtracts the
// tick of that format from T: settled_start().
//
// A draw of a transaction, after its claim. t: the time of the id.
//   1. If t < covered: lower `low` to t. `covered` is the process's own: none when a transaction starts.
//   2. Only then load the promise. If it is not above t: covered := t if that is less, done.
//   3. Else throw the id away and draw again, at the promise or later. If covered was none, it becomes the promise; not
//      t, because another reader may have made a higher promise since, and seen no `low`.
// Also an id that is covered is compared with the promise, and one that was claimed before: the reader of a table may
// have passed over the `low` of a transaction that had not yet locked the table.
// The end of a transaction, after PostgreSQL has made its end visible, and in this order:
//   4. If it is committed and has a transaction id: note it in the ring.
//   5. `low` becomes none.
// A reader, after its snapshot was taken:
//   6. Lift the promise. T is what it now is.
//   7. Of each backend: `low`, then the ring, from the newest entry down to the first that the snapshot calls finished.
//      T is the earliest of all that are of the reader's database.
//      Between the two, the reader of a table asks whether the transaction holds a lock that a writer of the table
//      takes before it draws. If not, its `low` does not count, because what it draws for the table later keeps the promise.
//      Locks are released after step 5, so a transaction that ends before the question is in the ring.
//      PostgreSQL can also release a lock although the rows remain: of a cursor that inserts and then fails in a later
//      subtransaction. Before that, the process sets `unlocked`, and so counts for every table. Step 5 clears it.
// In steps 2 and 6 each side writes before it reads, so at least one of them sees the other. A reader that finds `low`
// without a transaction that has drawn before T finds that transaction in the ring, or knows it as finished.
//
// The ring. The transactions of a process come one after another. So a snapshot that knows one as finished knows all
// earlier ones as finished. Therefore an entry may stand for several transactions: with the newest id and the lowest
// `low` of them. A snapshot that knows the newest as finished knows all of them; for any other T is lower than it had
// to be. So T can be too early because of this, never too late, and it is never missing. Entries are merged
//   - when the new one's `low` is less than a millisecond after the newest entry's;
//   - when the ring is full: the two neighbours that are closest together for their age. So the entries lie the closer
//     the newer they are, and T is too early by about as long as the snapshot is old, however much has ended since.
// Entries only move down, and are whole in the lower place before the higher one is overwritten. A reader goes down
// too, so it passes none by. If it reads an entry while it changes, it has met the one that comes down in the place
// above, and meets the one that goes down in the place below.
//
// A prepared transaction has no process. It has a Backend of its own, with its id in `xid`. Its process fills this in
// when it prepares, and then continues with step 5. A reader looks at these after the processes, because a transaction
// may be prepared while it looks. When the transaction is over, the place is used again: for one that is still running
// then. So also the transactions of a place come one after another, and the place has a ring of them.
//
// Templates over the words, so that the model checker runs this very code.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>

#include "ledger/claim.hpp"
#include "ledger/slot.hpp"

namespace snowflake_ids::ledger {

// Of a transaction that has drawn nothing: after all times.
inline constexpr UnixTime no_low = UnixTime::max();

// Transactions that are closer together are one entry of the ring.
inline constexpr microseconds ring_resolution = milliseconds{1};

// In the ring: an entry that was merged from those of several databases counts for all.
inline constexpr std::uint64_t any_database = 0;

// Of a format with this tick: no row can still appear whose tick starts before this. An earlier tick ends before `t`.
constexpr UnixTime settled_start(UnixTime t, microseconds tick_length) { return t - (tick_length - microseconds{1}); }

template <class W>
void lower_to(W& word, UnixTime t) {
    UnixTime seen = word.load();
    while (seen > t && !word.compare_exchange_weak(seen, t)) {}
}

// Steps 1 to 3. False: the id must be thrown away.
template <class W, class B>
bool admit(const W& promise, B& backend, UnixTime t, UnixTime& covered) {
    const bool is_covered = t >= covered;
    if (!is_covered) lower_to(backend.low, t);
    const UnixTime promised = promise.load();
    if (promised <= t) {
        if (!is_covered) covered = t;
        return true;
    }
    if (covered == no_low) covered = promised;
    return false;
}

namespace detail {

// The words of an entry in any order: see "The ring" above.
template <class Entry>
void put(Entry& entry, std::uint64_t xid, UnixTime low, std::uint64_t database) {
    entry.low.store(low, std::memory_order_release);
    entry.database.store(database, std::memory_order_release);
    entry.xid.store(xid, std::memory_order_release);
}

// Of a full ring: the lower one of the two neighbours whose merging makes T too early by the least part of their age.
// `now`: the `low` that comes next.
template <class Ring>
std::size_t closest(const Ring& ring, UnixTime now) {
    using Real = std::chrono::duration<double, std::micro>;
    std::size_t best = 0;
    double least = 2;
    UnixTime low = ring[0].low.load(std::memory_order_relaxed);
    for (std::size_t i = 0; i + 1 < std::size(ring); i++) {
        const UnixTime next = ring[i + 1].low.load(std::memory_order_relaxed);
        // If something newer has a lower `low`, nothing is lost.
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

// Merges two neighbours of a full ring and moves what is above them down. The place at the top is free then.
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

// Step 4. Only the process of the backend calls it.
template <class B>
void note_ended(B& backend, std::uint64_t xid, UnixTime low, std::uint64_t database) {
    auto& ring = backend.ring;
    std::uint64_t n = backend.ended.load(std::memory_order_relaxed);
    if (n > 0) {
        auto& newest = ring[n - 1];
        const UnixTime newest_low = newest.low.load(std::memory_order_relaxed);
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

// Steps 4 and 5. `xid`: of a committed transaction, 0: none.
template <class B>
void end_transaction(B& backend, std::uint64_t xid) {
    const UnixTime low = backend.low.load(std::memory_order_relaxed);
    if (low == no_low) return;
    if (xid != 0) note_ended(backend, xid, low, backend.database.load(std::memory_order_relaxed));
    backend.low.store(no_low, std::memory_order_release);
    if (backend.unlocked.load(std::memory_order_relaxed) != 0) backend.unlocked.store(0, std::memory_order_release);
}

// In Backend::xid: a process is about to use the place again. It still stands for that transaction.
inline constexpr std::uint64_t taken_mark = std::uint64_t{1} << 63;

struct Everybody {
    bool operator()(std::uint64_t) const { return true; }
};

// Step 7, of a process or of a prepared transaction. Lowers `t` to what it allows. `finished(xid)`: as the snapshot has
// it; true for 0. `writes(xid)`: does the transaction hold a writer's lock on what is read? xid: 0 of a process.
template <class B, class Finished, class Writes = Everybody>
void limit_by(B& backend, std::uint64_t database, Finished finished, UnixTime& t, Writes writes = {}) {
    const UnixTime low = backend.low.load();
    if (low < t) {
        const std::uint64_t xid = backend.xid.load() & ~taken_mark;
        if ((xid == 0 || !finished(xid)) && backend.database.load() == database &&
            (writes(xid) || backend.unlocked.load() != 0))
            t = low;
    }
    for (std::uint64_t i = backend.ended.load(); i-- > 0;) {
        auto& entry = backend.ring[i];
        if (finished(entry.xid.load(std::memory_order_acquire))) return;
        const std::uint64_t of = entry.database.load(std::memory_order_acquire);
        const UnixTime entry_low = entry.low.load(std::memory_order_acquire);
        if (entry_low < t && (of == database || of == any_database)) t = entry_low;
    }
}

// Gives a transaction that is about to be prepared one of the `count` places. Call it while the transaction is running:
// what is over by then has ended before it. `over(xid)`: neither running nor prepared. False: no room.
template <class B, class PlaceAt, class Over>
bool note_prepared(const B& backend, std::uint32_t count, PlaceAt place, std::uint64_t xid, Over over) {
    for (std::uint32_t i = 0; i < count; i++) {
        auto& p = place(i);
        std::uint64_t seen = p.xid.load();
        if ((seen & taken_mark) != 0 || (seen != 0 && !over(seen))) continue;
        if (!p.xid.compare_exchange_strong(seen, seen | taken_mark)) continue;
        // Before anything of it is overwritten.
        if (seen != 0) note_ended(p, seen, p.low.load(), p.database.load());
        p.low.store(backend.low.load());
        p.database.store(backend.database.load());
        p.xid.store(xid);
        return true;
    }
    return false;
}

}  // namespace snowflake_ids::ledger
