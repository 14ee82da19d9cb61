// Settled: up to which time every id has arrived, so that a reader who continues after the last id loses no row.
//
// Ids are drawn before their rows can be seen, and rows are committed in another order than their ids were drawn. So
// a reader may only go up to a time T such that no row whose id is of an earlier time than T can still appear. Two
// things give T:
//
//   promise   One word for the server: no id of an earlier time is accepted any more. It only grows.
//   Backend   One for each process: the earliest id of its open transaction, and the last transactions that it has
//             ended, because the reader's snapshot may be older than their end.
//
// A draw of a transaction, after its claim. t: the time at which the id's tick starts.
//   1. t >= covered: done. `covered` is the process's own: none when a transaction starts.
//   2. Lower `low` to t, and only then load the promise. If it is not above t: covered := t, done.
//   3. Else throw the id away and draw again, at the promise or later. If covered was none, it becomes the promise; not
//      t, because another reader may have made a higher promise since, and seen no `low`.
// The end of a transaction, after the server has made its end visible, and in this order:
//   4. If it is committed and has a transaction id: note both in the ring, then add one to `ended`.
//   5. `low` becomes none.
// A reader, after its snapshot was taken:
//   6. Raise the promise. T is what it now is.
//   7. Of each backend, in this order: `low` (of the reader's database only), then `ended`, then the ring from the
//      newest entry to the first that the snapshot calls finished, then `ended` again. T is the earliest of all.
// In steps 2 and 6 each side writes before it reads, so at least one of them sees the other. A draw that finds `low` lower
// already has nothing to write there. Then `low` is of its own transaction, or `holder` is written, see below.
//
// A prepared transaction has no process. When it is prepared, its entry is written to a table; its process then
// continues with step 5. The reader looks into the table after the backends, because a transaction may be prepared
// while it looks. An entry of a transaction that is over is used again; it is noted in the ring of the process that
// does so, for readers whose snapshot is older than its end. If that happens while a reader looks, it knows no T.
//
// A parallel worker draws for the transaction of its leader. It lowers the leader's `low`, and leaves it to the leader
// to raise it. `holder` says for which transaction, because a leader that has not loaded the library does not do so.
//   0                    the leader itself has drawn, or nobody has
//   lxid                 drawn by a worker for the leader's transaction with this local id
//   lxid | adopted_mark  and `low` may be that of an earlier transaction as well, also of another database
//   xid | ended_mark     that transaction is over; it was when `xid` was the next one. A snapshot that knows all earlier
//                        ones as finished, or `xid` itself, is newer than its end. It keeps adopted_mark
//
// Templates over the words, so that the model checker runs this very code.
#pragma once

#include <cstdint>
#include <iterator>

#include "ledger/claim.hpp"
#include "ledger/slot.hpp"

namespace snowflake_ids::ledger {

// Times are Unix microseconds.
inline constexpr std::uint64_t no_low = ~std::uint64_t{0};

inline constexpr std::uint64_t ended_mark = std::uint64_t{1} << 63, adopted_mark = std::uint64_t{1} << 62;
// In the ring. unordered_mark: the entry says nothing about the time when older entries were written. over_mark: its
// transaction was over when the id was the next one, as for ended_mark.
inline constexpr std::uint64_t unordered_mark = std::uint64_t{1} << 63, over_mark = std::uint64_t{1} << 62;

template <class W>
void lower_to(W& word, std::uint64_t ceiling) {
    std::uint64_t seen = word.load();
    while (seen > ceiling && !word.compare_exchange_weak(seen, ceiling)) {}
}

// Steps 1 to 3. False: the id must be thrown away.
template <class W, class B>
bool accepts(const W& promise, B& backend, std::uint64_t t, std::uint64_t& covered) {
    if (t >= covered) return true;
    lower_to(backend.low, t);
    const std::uint64_t promised = promise.load();
    if (promised <= t) {
        covered = t;
        return true;
    }
    if (covered == no_low) covered = promised;
    return false;
}

// For a worker: the transaction `lxid` of this backend's process has drawn. For that process itself, if it finds
// another transaction's `low`. Call it before accepts(), and before the database is changed: the process that has left
// `low` behind may have been in another one.
template <class B>
void hold_for(B& backend, std::uint64_t lxid) {
    std::uint64_t holder = backend.holder.load();
    for (;;) {
        const bool drawn = backend.low.load() != no_low;
        if ((holder == 0 && drawn) || (holder & ~adopted_mark) == lxid) return;
        if (backend.holder.compare_exchange_strong(holder, drawn ? lxid | adopted_mark : lxid)) return;
    }
}

// Step 4. Only the process of the backend calls it.
template <class B>
void note_ended(B& backend, std::uint64_t xid, std::uint64_t low) {
    const std::uint64_t n = backend.ended.load(std::memory_order_relaxed);
    auto& entry = backend.ring[n % std::size(backend.ring)];
    entry.xid.store(xid, std::memory_order_release);
    entry.low.store(low, std::memory_order_release);
    backend.ended.store(n + 1, std::memory_order_release);
}

// Steps 4 and 5 for the transaction `lxid`. `xid`: of a committed transaction, 0: none. `next_xid()`: the next one.
template <class B, class NextXid>
void end_transaction(B& backend, std::uint64_t lxid, std::uint64_t xid, NextXid next_xid) {
    const std::uint64_t low = backend.low.load(std::memory_order_relaxed);
    if (low == no_low) return;
    const std::uint64_t holder = backend.holder.load(std::memory_order_relaxed);
    if (holder != 0 && (holder & ~adopted_mark) != lxid) return;
    // A snapshot that is older than the end of the earlier transaction does not know this one's id either.
    if (xid == 0 && (holder & adopted_mark) != 0) xid = next_xid() | over_mark;
    if (xid != 0) note_ended(backend, xid, low);
    if (holder != 0) backend.holder.store(0, std::memory_order_release);
    backend.low.store(no_low, std::memory_order_release);
}

// Step 7. Lowers `t` to what the backend allows. A View has
//   bool finished(xid)  is it finished, as the snapshot has it?
//   bool is_after(xid)  is that so, or are all earlier ones finished?
//   bool runs(lxid)     does the backend's process have this transaction open?
//   next_xid()          the next transaction id
// False: too many transactions have ended since the snapshot was taken.
template <class B, class View>
bool limit_by(B& backend, std::uint64_t database, View view, std::uint64_t& t) {
    const auto limit = [&t](std::uint64_t low) {
        if (low < t) t = low;
    };
    const std::uint64_t low = backend.low.load();
    if (low != no_low) {
        // In this order: who sees another database sees that `low` was adopted.
        const bool same_database = backend.database.load() == database;
        std::uint64_t holder = backend.holder.load();
        if (same_database || (holder & adopted_mark) != 0) {
            if ((holder & ended_mark) == 0 && holder != 0 && !view.runs(holder & ~adopted_mark)) {
                const std::uint64_t over = view.next_xid() | ended_mark | (holder & adopted_mark);
                if (backend.holder.compare_exchange_strong(holder, over)) holder = over;
            }
            if ((holder & ended_mark) == 0 || !view.is_after(holder & ~(ended_mark | adopted_mark))) limit(low);
        }
    }
    const std::uint64_t ended = backend.ended.load();
    std::uint64_t oldest = ended;
    while (oldest > 0 && ended - oldest < std::size(backend.ring)) {
        auto& entry = backend.ring[--oldest % std::size(backend.ring)];
        const std::uint64_t xid = entry.xid.load(std::memory_order_acquire);
        const std::uint64_t entry_low = entry.low.load(std::memory_order_acquire);
        const std::uint64_t of = xid & ~(unordered_mark | over_mark);
        if (!((xid & over_mark) != 0 ? view.is_after(of) : view.finished(of)))
            limit(entry_low);
        else if ((xid & unordered_mark) == 0)
            break;
    }
    // The place of the oldest entry may be in use again.
    return ended == 0 || oldest + std::size(backend.ring) > backend.ended.load();
}

// The table of prepared transactions.
inline constexpr std::uint64_t being_written = ~std::uint64_t{0};

// Notes a transaction that is about to be prepared. `over(xid)`: neither running nor prepared. `reused`: how often an
// entry was used again. False: no room.
template <class B, class W, class EntryAt, class Over>
bool note_prepared(B& backend, W& reused, std::uint32_t count, EntryAt entry, std::uint64_t xid, std::uint64_t database,
                   Over over) {
    for (std::uint32_t i = 0; i < count; i++) {
        auto& e = entry(i);
        std::uint64_t seen = e.xid.load();
        if (seen == being_written || (seen != 0 && !over(seen))) continue;
        if (seen != 0) {
            note_ended(backend, seen | unordered_mark, e.low.load());
            reused.fetch_add(1);
        }
        if (!e.xid.compare_exchange_strong(seen, being_written)) continue;
        e.low.store(backend.low.load());
        e.database.store(database);
        e.xid.store(xid);
        // A snapshot that knows this one as finished is newer than all earlier entries. So the ring does not fill up with
        // entries that tell no order.
        note_ended(backend, xid, no_low);
        return true;
    }
    return false;
}

template <class EntryAt, class View>
void limit_by_prepared(std::uint32_t count, EntryAt entry, std::uint64_t database, View view, std::uint64_t& t) {
    for (std::uint32_t i = 0; i < count; i++) {
        auto& e = entry(i);
        const std::uint64_t xid = e.xid.load();
        if (xid == 0 || xid == being_written || view.finished(xid) || e.database.load() != database) continue;
        const std::uint64_t low = e.low.load();
        if (low < t) t = low;
    }
}

}  // namespace snowflake_ids::ledger
