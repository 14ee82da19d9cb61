// Steps of ledger_lives.hpp that are wrong on purpose, one in each.
#pragma once

#include <utility>

#include "support/ledger_lives.hpp"

namespace snowflake_ids::test {

struct PublishedBeforeTheSync : RightSteps {
    template <class S, class File>
    static ledger::CeilingResult raise_ceiling(S& slot, std::uint32_t i, Value ms, bool sync, const File& file) {
        if (slot.ceiling.load() >= ms) return {};
        ledger::raise_to(slot.ceiling, ms);
        return file.write(i, ms, sync);
    }
};

struct PublishedThoughTheSyncFailed : RightSteps {
    template <class S, class File>
    static ledger::CeilingResult raise_ceiling(S& slot, std::uint32_t i, Value ms, bool sync, const File& file) {
        if (slot.ceiling.load() >= ms) return {};
        const ledger::CeilingResult r = file.write(i, ms, sync);
        ledger::raise_to(slot.ceiling, ms);
        return r;
    }
};

// No second look under the lock, and a plain store instead of the atomic maximum.
struct CeilingStored : RightSteps {
    template <class S, class File>
    static ledger::CeilingResult raise_ceiling(S& slot, std::uint32_t i, Value ms, bool sync, const File& file) {
        const ledger::CeilingResult r = file.write(i, ms, sync);
        if (r.error == ledger::CeilingError::none) slot.ceiling.store(ms);
        return r;
    }
};

// The mapped file is believed, as if it always survived.
struct MemoryTrusted : RightSteps {
    template <class H, class SlotAt, class Resume, class File>
    static ledger::CeilingResult begin_life(H& header, std::uint32_t, SlotAt slot, Resume, const File& file,
                                            const ledger::LifeKey& key, Value life_id, Value at_least, bool sync) {
        const auto stay = [](auto&, Value) {};
        return ledger::begin_locked_life(header, 1, slot, stay, file, key, life_id, at_least, sync);
    }
};

struct KeyWrittenFirst : RightSteps {
    template <class H, class SlotAt, class Resume, class File>
    static ledger::CeilingResult begin_life(H& header, std::uint32_t, SlotAt slot, Resume resume, const File& file,
                                            const ledger::LifeKey& key, Value life_id, Value at_least, bool sync) {
        if (ledger::is_current(header, key)) return {};
        typename File::Ceilings ceilings;
        file.read(ceilings);
        file.write_all(ceilings, sync);
        header.life_id.store(life_id);
        header.life_key[0].store(key.started);
        resume(slot(0), std::max(slot(0).ceiling.load(), ceilings[0]));
        slot(0).ceiling.store(ceilings[0]);
        return {};
    }
};

// A life believes that the files are those that the last one left.
struct FilesTrusted : RightSteps {
    template <class H, class SlotAt, class Resume, class File>
    static ledger::CeilingResult begin_life(H& header, std::uint32_t n, SlotAt slot, Resume resume, const File& file,
                                            const ledger::LifeKey& key, Value life_id, Value, bool sync) {
        return ledger::begin_locked_life(header, n, slot, resume, file, key, life_id, 0, sync);
    }
};

// It raises the slots that it finds, and not the floor for those to come.
struct NewSlotAtTheClock : RightSteps {
    template <class H, class SlotAt, class Resume, class File>
    static ledger::CeilingResult begin_life(H& header, std::uint32_t n, SlotAt slot, Resume resume, const File& file,
                                            const ledger::LifeKey& key, Value life_id, Value at_least, bool sync) {
        const auto raised = [&](auto& s, Value bound) { resume(s, std::max(bound, at_least)); };
        return ledger::begin_locked_life(header, n, slot, raised, file, key, life_id, 0, sync);
    }
};

struct UnsyncedCeilingTrusted : RightSteps {
    template <class File>
    struct Unsynced : File {
        template <class C>
        ledger::CeilingResult write_all(const C&, bool) const {
            return {};
        }
    };
    template <class H, class SlotAt, class Resume, class File>
    static ledger::CeilingResult begin_life(H& header, std::uint32_t n, SlotAt slot, Resume resume, const File& file,
                                            const ledger::LifeKey& key, Value life_id, Value at_least, bool sync) {
        return ledger::begin_locked_life(header, n, slot, resume, Unsynced<File>{file}, key, life_id, at_least, sync);
    }
};

struct DatabaseEnteredBeforeItsFloor : RightSteps {
    template <class Wal, class RaiseFloor>
    static std::int64_t enter_database(Wal& wal, Value life_id, std::int64_t target, RaiseFloor raise_floor) {
        const ledger::WalCeiling c = wal.read();
        if (c.life_id == life_id) return c.until_us;
        const std::int64_t until = wal.raise({target, life_id}).until_us;
        raise_floor(c.until_us);
        return until;
    }
};

struct DatabaseEnteredWithoutFloor : RightSteps {
    template <class Wal, class RaiseFloor>
    static std::int64_t enter_database(Wal& wal, Value life_id, std::int64_t target, RaiseFloor) {
        return ledger::enter_database(wal, life_id, target, [](std::int64_t) {});
    }
};

struct WalNotFlushed : RightSteps {
    template <class Wal>
    static std::int64_t raise_wal_above(Wal& wal, Value life_id, std::int64_t wanted, std::int64_t target) {
        const std::int64_t until = wal.read().until_us;
        return wanted < until ? until : wal.write_only({target, life_id}).until_us;
    }
};

struct WalReadUnflushed : RightSteps {
    template <class Wal>
    static std::int64_t raise_wal_above(Wal& wal, Value life_id, std::int64_t wanted, std::int64_t target) {
        const std::int64_t until = wal.read_only().until_us;
        return wanted < until ? until : wal.raise({target, life_id}).until_us;
    }
};

// A forced reset that lowers what is on disk before what sessions rely on.
struct FileLoweredFirst : RightSteps {
    template <class H, class SlotAt, class PutBack, class File>
    static ledger::CeilingResult force(H& header, std::uint32_t, SlotAt slot, PutBack put_back, const File& file,
                                       bool sync) {
        typename File::Ceilings ms;
        file.read(ms);
        put_back(slot(0), ms[0]);
        const ledger::CeilingResult r = file.write_all(ms, sync);
        if (r.error != ledger::CeilingError::none) return r;
        slot(0).ceiling.store(ms[0]);
        header.epoch.fetch_add(1);
        return r;
    }
};

// Sessions do not look again before it is done.
struct FileLoweredBeforeTheEpoch : RightSteps {
    template <class H, class SlotAt, class PutBack, class File>
    static ledger::CeilingResult force(H&, std::uint32_t n, SlotAt slot, PutBack put_back, const File& file,
                                       bool sync) {
        struct {
            struct {
                void fetch_add(Value) {}
            } epoch;
        } no_header;
        return ledger::force_locked(no_header, n, slot, put_back, file, sync);
    }
};

// ---- they stop: who comes finds no way on ----

struct LockKeptAfterAFailedSync : RightSteps {
    static void unlock(World& w, const ledger::CeilingResult& r) {
        if (r.error == ledger::CeilingError::none) w.unlock();
    }
};

// A new life begins above everything.
struct LifeBegunAtTheLastTick : RightSteps {
    template <class H, class SlotAt, class Resume, class File>
    static ledger::CeilingResult begin_life(H& header, std::uint32_t n, SlotAt slot, Resume resume, const File& file,
                                            const ledger::LifeKey& key, Value life_id, Value at_least, bool sync) {
        const auto last = [&](auto& s, Value) { resume(s, Server::last_time); };
        return ledger::begin_locked_life(header, n, slot, last, file, key, life_id, at_least, sync);
    }
};

// What says when a held tick was begun speaks of the next one, so everybody waits from now on.
struct HeldTickNeverBegins : RightSteps {
    struct MistakenSlot {
        struct Begun {
            WatchedWord& begun;
            Value load() const { return begun.load(); }
            bool compare_exchange_strong(Value& seen, Value desired) {
                return begun.compare_exchange_strong(seen, desired + 1);
            }
        };
        WatchedWord &word, &safe, &lead;
        Begun begun;
    };
    template <bool has_toggle, class S, class Clock>
    static ledger::Claim claim(S& slot, Clock& clock, std::uint32_t want, const Rules& rules, Value limit) {
        MistakenSlot mistaken{slot.word, slot.safe, slot.lead, {slot.begun}};
        return ledger::claim<has_toggle>(mistaken, clock, want, rules, limit);
    }
};

}  // namespace snowflake_ids::test
