// A server: shared memory, disk, WAL and clock. Between any two accesses another process may come.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstring>
#include <memory>
#include <utility>

#include "ledger/ceiling_file.hpp"
#include "ledger/wal_ceiling.hpp"
#include "simulator/scheduler.hpp"

namespace snowflake_ids::simulator {

using Value = std::uint64_t;

// A part of std::atomic, sequentially consistent. Weaker orders: test/proofs/weak_memory.
template <class T = Value>
class Word {
public:
    T load(std::memory_order = std::memory_order_seq_cst) const {
        scheduler->step();
        return value_;
    }
    void store(T v, std::memory_order = std::memory_order_seq_cst) {
        scheduler->step();
        value_ = v;
    }
    bool compare_exchange_strong(T& expected, T desired) {
        scheduler->step();
        if (value_ != expected) return expected = value_, false;
        value_ = desired;
        return true;
    }
    bool compare_exchange_weak(T& expected, T desired) {
        if (scheduler->random.one_in(100)) return expected = load(), false;
        return compare_exchange_strong(expected, desired);
    }
    T fetch_add(T n) {
        scheduler->step();
        return std::exchange(value_, value_ + n);
    }
    T peek() const { return value_; }
    void poke(T v) { value_ = v; }

private:
    T value_{};
};

inline constexpr std::uint32_t generator_count = 4, database_count = 2;

using Slot = ledger::BasicSlot<Word>;
struct Header {
    Word<> life_id, life_number, revision;
    Word<Floor> floor, reset_floor;
    Word<UnixTime> life_began;
    Word<microseconds> lead;
};
struct Memory {
    Header header;
    Slot slots[generator_count];
};

inline constexpr Value system_identifier = 0x1234567890abcdef;

// As processes see it, and as it is on disk. Each sector is written whole or not at all.
struct Disk {
    static constexpr std::size_t sector = 512, sectors = ledger::ceiling_file_bytes / sector;
    unsigned char cache[ledger::ceiling_file_bytes], durable[ledger::ceiling_file_bytes];
    bool dirty[sectors] = {};
    bool sync_fails = false, write_fails = false;  // the next one

    Disk() {
        ledger::Ceilings c;
        ledger::seal_ceilings(c, system_identifier);
        std::memcpy(cache, &c, sizeof cache);
        std::memcpy(durable, cache, sizeof cache);
    }
    void write(std::size_t s, const unsigned char* bytes) {
        std::memcpy(cache + s * sector, bytes, sector);
        dirty[s] = true;
    }
    // False: failed, and the kernel takes the sectors for written.
    bool sync() {
        bool is_dirty[sectors];
        std::copy(std::begin(dirty), std::end(dirty), is_dirty);
        scheduler->sleep(microseconds{scheduler->random.below(4000)});
        const bool fails = std::exchange(sync_fails, false);
        for (std::size_t s = 0; s < sectors; s++) {
            if (!is_dirty[s]) continue;
            dirty[s] = false;
            if (!fails) std::memcpy(durable + s * sector, cache + s * sector, sector);
        }
        return !fails;
    }
    Ceiling durable_ceiling(std::uint32_t slot) const {
        constexpr std::size_t at_byte = 16;
        std::int64_t ms;
        std::memcpy(&ms, durable + ledger::ceiling_header_bytes + slot * ledger::ceiling_entry_bytes + at_byte,
                    sizeof ms);
        return Ceiling{milliseconds{ms}};
    }
    // Each unsynced sector is there or not.
    void lose_power() {
        for (std::size_t s = 0; s < sectors; s++) {
            if (dirty[s] && scheduler->random.one_in(2)) std::memcpy(durable + s * sector, cache + s * sector, sector);
            dirty[s] = false;
        }
        std::memcpy(cache, durable, sizeof cache);
    }
};

struct WalPosition {
    ledger::WalCeiling written, flushed;
};

struct Site {
    std::shared_ptr<Memory> memory;
    Disk disk;
    WalPosition wal[database_count];
    Fiber* locked_by = nullptr;
    microseconds clock_ahead{};  // of the true time

    UnixTime wall() const { return UnixTime{1'790'000'000s} + scheduler->now.time_since_epoch() + clock_ahead; }
};

struct Wrong {
    bool publish_unsynced = false, no_fence = false, begin_too_low = false, wal_unread = false;
    bool lease_too_long = false;
};

// As ledger::LockedCeilings, on a Disk.
struct CeilingFile {
    using Content = ledger::Ceilings;
    Site& site;
    const Wrong& wrong;
    Value own_number = 0;

    bool lock() const {
        scheduler->step();
        if (site.locked_by != nullptr) return false;
        site.locked_by = scheduler->current();
        return true;
    }
    void unlock() const { site.locked_by = nullptr; }
    ledger::CeilingResult read(Content& c) const {
        scheduler->step();
        std::memcpy(&c, site.disk.cache, sizeof c);
        const ledger::CeilingResult r = ledger::verify_ceilings(c, sizeof site.disk.cache, system_identifier);
        if (wrong.no_fence && own_number != 0) c.life.number = std::min(c.life.number, own_number - 1);
        return r;
    }
    ledger::CeilingResult write(Content& c) const {
        ledger::seal_ceilings(c, system_identifier);
        const auto* bytes = reinterpret_cast<const unsigned char*>(&c);
        Disk& disk = site.disk;
        const bool fails = std::exchange(disk.write_fails, false);
        for (std::size_t s = 0; s < Disk::sectors; s++) {
            if (fails && s > Disk::sectors / 8) return {ledger::CeilingError::io, 28, -1};
            disk.write(s, bytes + s * Disk::sector);
            if (s % 8 == 0) scheduler->step();
        }
        if (!wrong.publish_unsynced && !disk.sync()) return {ledger::CeilingError::io, 5, -1};
        return {};
    }
};

// As issue_limit::Host.
struct Wal {
    WalPosition& wal;

    ledger::WalCeiling flush() const {
        const ledger::WalCeiling seen = wal.written;
        scheduler->sleep(microseconds{scheduler->random.below(2000)});
        if (wal.flushed.until <= seen.until) wal.flushed = seen;
        return seen;
    }
    ledger::WalCeiling read() const {
        scheduler->step();
        return flush();
    }
    ledger::WalCeiling lift(const ledger::WalCeiling& wanted) const {
        scheduler->step();
        ledger::WalCeiling& w = wal.written;
        w = {std::max(w.until, wanted.until), wanted.life_id};
        return flush();
    }
    // 0 if another session is flushing, or if nobody has entered the database.
    Ceiling lift_if_free(UnixTime soon, const ledger::WalCeiling& wanted) const {
        const ledger::WalCeiling seen = wal.written;
        if (seen.until == Ceiling{} || (soon < seen.until && wal.flushed.until < seen.until)) return {};
        return soon < seen.until ? seen.until : lift(wanted).until;
    }
};

}  // namespace snowflake_ids::simulator
