// Steps of ledger_lives.hpp that are wrong on purpose, one in each.
#pragma once

#include <utility>

#include "explorers/ledger_lives.hpp"

namespace snowflake_ids::test {

// ---- lifts ----

// `publish(entry, slot, write)` sets the slot's ceiling; `write()` writes the file.
inline ledger::CeilingResult lift_otherwise(const auto& header, auto slot, const auto& file, auto wanted,
                                            auto publish) {
    WatchedFile::Content c;
    const ledger::CeilingResult r = ledger::read_for_life(header, 1u, slot, file, c);
    if (r.error != ledger::CeilingError::none) return r;
    if (c.entries[0].ceiling < wanted(0)) ledger::set_entry(c.entries[0], slot(0), wanted(0));
    return publish(c.entries[0], slot(0), [&] { return file.write(c); });
}

struct PublishedBeforeTheSync : RightSteps {
    static ledger::CeilingResult lift_locked_ceilings(const auto& header, std::uint32_t, auto at, const auto& file,
                                                      auto wanted) {
        return lift_otherwise(header, at, file, wanted, [](auto& entry, auto& slot, auto write) {
            ledger::lift_to(slot.ceiling, entry.ceiling);
            return write();
        });
    }
};

struct PublishedThoughTheSyncFailed : RightSteps {
    static ledger::CeilingResult lift_locked_ceilings(const auto& header, std::uint32_t, auto at, const auto& file,
                                                      auto wanted) {
        return lift_otherwise(header, at, file, wanted, [](auto& entry, auto& slot, auto write) {
            const ledger::CeilingResult r = write();
            ledger::lift_to(slot.ceiling, entry.ceiling);
            return r;
        });
    }
};

// Although another process had the lock before and wanted more.
struct CeilingStored : RightSteps {
    static ledger::CeilingResult lift_locked_ceilings(const auto& header, std::uint32_t, auto at, const auto& file,
                                                      auto wanted) {
        return lift_otherwise(header, at, file, wanted, [&](auto& entry, auto& slot, auto write) {
            entry.ceiling = wanted(0);
            const ledger::CeilingResult r = write();
            if (r.error == ledger::CeilingError::none) slot.ceiling.store(wanted(0));
            return r;
        });
    }
};

template <class Change>
struct ChangedFile : WatchedFile {
    ChangedFile(const WatchedFile& file, Change change) : WatchedFile(file), change(change) {}
    ledger::CeilingResult read(Content& c) const {
        const ledger::CeilingResult r = WatchedFile::read(c);
        change(c);
        return r;
    }
    Change change;
};

template <class Differently>
struct OtherFile : RightSteps {
    static ledger::CeilingResult lift_locked_ceilings(auto& header, std::uint32_t n, auto at, const auto& file,
                                                      auto wanted) {
        const auto change = [&](auto& c) { Differently::change(c, ledger::life_of(header)); };
        return ledger::lift_locked_ceilings(header, n, at, ChangedFile(file, change), wanted);
    }
};

struct RaiseComparesWithMemoryOnly : OtherFile<RaiseComparesWithMemoryOnly> {
    static void change(auto& c, const ledger::Life&) { c = {}; }
};

// The file's higher ceilings stay, whatever life wrote them.
struct NoFence : OtherFile<NoFence> {
    static void change(auto& c, const ledger::Life& own) { c.life = own; }
};

// Of two lives of the same second, each takes the file for its own.
struct FenceWithoutIds : OtherFile<FenceWithoutIds> {
    static void change(auto& c, const ledger::Life& own) {
        if (c.life.number == own.number) c.life.id = own.id;
    }
};

// ---- lives ----

struct SlotsNotRaised : RightSteps {
    static ledger::CeilingResult begin_locked_life(auto& header, std::uint32_t n, auto slot, auto, const auto& file,
                                                   Value id, Floor at_least, Value now_s) {
        return ledger::begin_locked_life(
            header, n, slot, [](auto&, Floor) {}, file, id, at_least, now_s);
    }
};

struct LifePublishedFirst : RightSteps {
    static ledger::CeilingResult begin_locked_life(auto& header, std::uint32_t n, auto slot, auto resume,
                                                   const auto& file, Value id, Floor at_least, Value now_s) {
        if (ledger::has_begun(header)) return {};
        const auto late = [&](auto& s, Floor at) {
            WatchedFile::Content c;
            file.read(c);
            header.life_number.store(c.life.number);
            header.life_id.store(id);
            resume(s, at);
        };
        return ledger::begin_locked_life(header, n, slot, late, file, id, at_least, now_s);
    }
};

// A life takes the file for the one that the last life left.
struct FilesTrusted : RightSteps {
    static ledger::CeilingResult begin_locked_life(auto& header, std::uint32_t n, auto slot, auto resume,
                                                   const auto& file, Value id, Floor, Value now_s) {
        return ledger::begin_locked_life(header, n, slot, resume, file, id, Floor{}, now_s);
    }
};

// The floor for new slots is not lifted.
struct NewSlotAtTheClock : RightSteps {
    static ledger::CeilingResult begin_locked_life(auto& header, std::uint32_t n, auto slot, auto resume,
                                                   const auto& file, Value id, Floor at_least, Value now_s) {
        const auto lifted = [&](auto& s, Floor bound) { resume(s, std::max(bound, at_least)); };
        return ledger::begin_locked_life(header, n, slot, lifted, file, id, Floor{}, now_s);
    }
};

struct UnsyncedCeilingTrusted : RightSteps {
    struct Unsynced : WatchedFile {
        ledger::CeilingResult write(const Content& c) const { return write_only(c); }
    };
    static ledger::CeilingResult begin_locked_life(auto& header, std::uint32_t n, auto slot, auto resume,
                                                   const auto& file, Value id, Floor at_least, Value now_s) {
        return ledger::begin_locked_life(header, n, slot, resume, Unsynced{file}, id, at_least, now_s);
    }
};

struct LivesCountedInTheFile : RightSteps {
    static ledger::CeilingResult begin_locked_life(auto& header, std::uint32_t n, auto slot, auto resume,
                                                   const auto& file, Value id, Floor at_least, Value) {
        return ledger::begin_locked_life(header, n, slot, resume, file, id, at_least, 0);
    }
};

// A crash of the postmaster's children does not change it.
struct LifeByStartTime : RightSteps {
    static constexpr ledger::Life started{2, 2};
    struct Same : WatchedFile {
        ledger::CeilingResult write(Content c) const {
            c.life = started;
            return WatchedFile::write(c);
        }
    };
    static ledger::CeilingResult begin_locked_life(auto& header, std::uint32_t n, auto slot, auto resume,
                                                   const auto& file, Value, Floor at_least, Value) {
        const ledger::CeilingResult r =
            ledger::begin_locked_life(header, n, slot, resume, Same{file}, started.id, at_least, started.number);
        if (r.error == ledger::CeilingError::none) header.life_number.store(started.number);
        return r;
    }
};

// Two versions of the library have their own memories, and the second one joins the life.
struct MemoryOfEachVersion : RightSteps {
    static ledger::CeilingResult begin_locked_life(auto& header, std::uint32_t n, auto slot, auto resume,
                                                   const auto& file, Value id, Floor at_least, Value now_s) {
        WatchedFile::Content c;
        file.read(c);
        if (c.life.number == 0) return ledger::begin_locked_life(header, n, slot, resume, file, id, at_least, now_s);
        if (ledger::has_begun(header)) return {};
        const ledger::CeilingResult r = file.write(c);
        if (r.error != ledger::CeilingError::none) return r;
        header.life_number.store(c.life.number);
        if (c.entries[0].key != 0) {
            slot(0).key.store(c.entries[0].key);
            resume(slot(0), std::max(c.entries[0].ceiling, at_least));
            slot(0).ceiling.store(c.entries[0].ceiling);
        }
        header.life_id.store(c.life.id);
        return {};
    }
};

struct DatabaseEnteredBeforeItsFloor : RightSteps {
    static Ceiling enter_database(auto& wal, Value life_id, Ceiling target, auto lift_floor) {
        const ledger::WalCeiling c = wal.read();
        if (c.life_id == life_id) return c.until;
        const Ceiling until = wal.lift({target, life_id}).until;
        lift_floor(c.until);
        return until;
    }
};

struct DatabaseEnteredWithoutFloor : RightSteps {
    static Ceiling enter_database(auto& wal, Value life_id, Ceiling target, auto) {
        return ledger::enter_database(wal, life_id, target, [](Floor) {});
    }
};

struct WalNotFlushed : RightSteps {
    static Ceiling lift_wal_above(auto& wal, Value life_id, UnixTime wanted, Ceiling target) {
        const Ceiling until = wal.read().until;
        return wanted < until ? until : wal.write_only({target, life_id}).until;
    }
};

struct WalReadUnflushed : RightSteps {
    static Ceiling lift_wal_above(auto& wal, Value life_id, UnixTime wanted, Ceiling target) {
        const Ceiling until = wal.read_only().until;
        return wanted < until ? until : wal.lift({target, life_id}).until;
    }
};

struct FileLoweredFirst : RightSteps {
    static ledger::CeilingResult force(auto& header, std::uint32_t n, auto slot, const auto& file, auto change,
                                       auto put_back) {
        WatchedFile::Content c;
        ledger::CeilingResult r = ledger::read_for_life(header, n, slot, file, c);
        if (r.error != ledger::CeilingError::none) return r;
        change(c);
        put_back(slot(0), c.entries[0]);
        r = file.write(c);
        if (r.error != ledger::CeilingError::none) return r;
        slot(0).ceiling.store(c.entries[0].ceiling);
        header.revision.fetch_add(1);
        return r;
    }
};

struct FileLoweredBeforeTheEpoch : RightSteps {
    static ledger::CeilingResult force(auto& header, std::uint32_t n, auto slot, const auto& file, auto change,
                                       auto put_back) {
        struct {
            decltype((header.life_number)) life_number;
            decltype((header.life_id)) life_id;
            decltype((header.reset_floor)) reset_floor;
            struct {
                void fetch_add(Value) {}
            } revision;
        } silent{header.life_number, header.life_id, header.reset_floor, {}};
        return ledger::run_locked_reset(silent, n, slot, file, change, put_back);
    }
};

// ---- they stop: who comes finds no way on ----

struct LockKeptAfterAFailedSync : RightSteps {
    static void unlock(World& w, const ledger::CeilingResult& r) {
        if (r.error == ledger::CeilingError::none) w.unlock();
    }
};

struct LifeBegunAtTheLastTick : RightSteps {
    static ledger::CeilingResult begin_locked_life(auto& header, std::uint32_t n, auto slot, auto resume,
                                                   const auto& file, Value id, Floor at_least, Value now_s) {
        const auto last = [&](auto& s, Floor) { resume(s, ceiling_at(Server::last_time)); };
        return ledger::begin_locked_life(header, n, slot, last, file, id, at_least, now_s);
    }
};

struct FileOfTheFutureRefused : RightSteps {
    static ledger::CeilingResult begin_locked_life(auto& header, std::uint32_t n, auto slot, auto resume,
                                                   const auto& file, Value id, Floor at_least, Value now_s) {
        WatchedFile::Content c;
        file.read(c);
        if (c.life.number >= now_s) return {ledger::CeilingError::superseded, 0, -1};
        return ledger::begin_locked_life(header, n, slot, resume, file, id, at_least, now_s);
    }
};

// The time at which a held tick began is taken for the next one's, so everybody waits.
struct HeldTickNeverBegins : RightSteps {
    struct MistakenSlot {
        struct Begun {
            WatchedWord<>& begun;
            Value load() const { return begun.load(); }
            bool compare_exchange_strong(Value& seen, Value desired) {
                return begun.compare_exchange_strong(seen, desired + 1);
            }
        };
        WatchedWord<>&word, &safe;
        Begun begun;
    };
    template <bool has_toggle, class S, class Clock>
    static ledger::Claim claim(S& slot, Clock& clock, std::uint32_t want, const Rules& rules, Value limit) {
        MistakenSlot mistaken{slot.word, slot.safe, {slot.begun}};
        return ledger::claim<has_toggle>(mistaken, clock, want, rules, limit);
    }
};

}  // namespace snowflake_ids::test
