// Steps of ledger_lives.hpp that are wrong on purpose, one in each.
#pragma once

#include <utility>

#include "support/ledger_lives.hpp"

namespace snowflake_ids::test {

// ---- lifts ----

// `write()` writes the file.
template <class H, class S, class File, class Publish>
ledger::CeilingResult lift_otherwise(const H& header, S& slot, Ceiling least, const File& file, Publish publish) {
    if (slot.ceiling.load() >= least) return {};
    typename File::Content c;
    const ledger::CeilingResult r = ledger::read_for_life(
        header, 1u, [&](std::uint32_t) -> S& { return slot; }, file, c);
    if (r.error != ledger::CeilingError::none) return r;
    if (c.entries[0].ceiling < least) ledger::set_entry(c.entries[0], slot, least);
    return publish(c.entries[0].ceiling, [&] { return file.write(c); });
}

struct PublishedBeforeTheSync : RightSteps {
    template <class H, class S, class File>
    static ledger::CeilingResult lift_ceiling(H& header, S& slot, Ceiling least, const File& file) {
        return lift_otherwise(header, slot, least, file, [&](Ceiling higher, auto write) {
            ledger::lift_to(slot.ceiling, higher);
            return write();
        });
    }
};

struct PublishedThoughTheSyncFailed : RightSteps {
    template <class H, class S, class File>
    static ledger::CeilingResult lift_ceiling(H& header, S& slot, Ceiling least, const File& file) {
        return lift_otherwise(header, slot, least, file, [&](Ceiling higher, auto write) {
            const ledger::CeilingResult r = write();
            ledger::lift_to(slot.ceiling, higher);
            return r;
        });
    }
};

// Although another process had the lock before and wanted more.
struct CeilingStored : RightSteps {
    template <class H, class S, class File>
    static ledger::CeilingResult lift_ceiling(H& header, S& slot, Ceiling least, const File& file) {
        typename File::Content c;
        ledger::CeilingResult r = ledger::read_for_life(
            header, 1u, [&](std::uint32_t) -> S& { return slot; }, file, c);
        if (r.error != ledger::CeilingError::none) return r;
        ledger::set_entry(c.entries[0], slot, least);
        r = file.write(c);
        if (r.error == ledger::CeilingError::none) slot.ceiling.store(least);
        return r;
    }
};

template <class File, class Change>
struct ChangedFile : File {
    using Content = typename File::Content;
    ledger::CeilingResult read(Content& c) const {
        const ledger::CeilingResult r = File::read(c);
        change(c);
        return r;
    }
    Change change;
};

template <class H, class S, class File, class Change>
ledger::CeilingResult lift_reading(H& header, S& slot, Ceiling least, const File& file, Change change) {
    return RightSteps::lift_ceiling(header, slot, least, ChangedFile<File, Change>{file, change});
}

struct RaiseComparesWithMemoryOnly : RightSteps {
    template <class H, class S, class File>
    static ledger::CeilingResult lift_ceiling(H& header, S& slot, Ceiling least, const File& file) {
        return lift_reading(header, slot, least, file, [](auto& c) { c = {}; });
    }
};

// The file's higher ceilings stay, whatever life wrote them.
struct NoFence : RightSteps {
    template <class H, class S, class File>
    static ledger::CeilingResult lift_ceiling(H& header, S& slot, Ceiling least, const File& file) {
        return lift_reading(header, slot, least, file, [&](auto& c) { c.life = ledger::life_of(header); });
    }
};

// Of two lives of the same second, each takes the file for its own.
struct FenceWithoutIds : RightSteps {
    template <class H, class S, class File>
    static ledger::CeilingResult lift_ceiling(H& header, S& slot, Ceiling least, const File& file) {
        return lift_reading(header, slot, least, file, [&](auto& c) {
            const ledger::Life own = ledger::life_of(header);
            if (c.life.number == own.number) c.life.id = own.id;
        });
    }
};

// ---- lives ----

template <class Differently>
struct OtherLife : RightSteps {
    template <class H, class SlotAt, class Resume, class File>
    static ledger::CeilingResult begin_life(H& header, std::uint32_t n, SlotAt slot, Resume resume, const File& file,
                                            Value id, Floor at_least, Value now_s) {
        return Differently::begin(header, n, slot, resume, file, id, at_least, now_s);
    }
};

struct SlotsNotRaised : OtherLife<SlotsNotRaised> {
    template <class H, class SlotAt, class Resume, class File>
    static ledger::CeilingResult begin(H& header, std::uint32_t n, SlotAt slot, Resume, const File& file, Value id,
                                       Floor at_least, Value now_s) {
        return ledger::begin_locked_life(
            header, n, slot, [](auto&, Floor) {}, file, id, at_least, now_s);
    }
};

struct LifePublishedFirst : OtherLife<LifePublishedFirst> {
    template <class H, class SlotAt, class Resume, class File>
    static ledger::CeilingResult begin(H& header, std::uint32_t n, SlotAt slot, Resume resume, const File& file,
                                       Value id, Floor at_least, Value now_s) {
        if (ledger::has_begun(header)) return {};
        const auto late = [&](auto& s, Floor at) {
            typename File::Content c;
            file.read(c);
            header.life_number.store(c.life.number);
            header.life_id.store(id);
            resume(s, at);
        };
        return ledger::begin_locked_life(header, n, slot, late, file, id, at_least, now_s);
    }
};

// A life takes the file for the one that the last life left.
struct FilesTrusted : OtherLife<FilesTrusted> {
    template <class H, class SlotAt, class Resume, class File>
    static ledger::CeilingResult begin(H& header, std::uint32_t n, SlotAt slot, Resume resume, const File& file,
                                       Value id, Floor, Value now_s) {
        return ledger::begin_locked_life(header, n, slot, resume, file, id, Floor{}, now_s);
    }
};

// The floor for new slots is not lifted.
struct NewSlotAtTheClock : OtherLife<NewSlotAtTheClock> {
    template <class H, class SlotAt, class Resume, class File>
    static ledger::CeilingResult begin(H& header, std::uint32_t n, SlotAt slot, Resume resume, const File& file,
                                       Value id, Floor at_least, Value now_s) {
        const auto lifted = [&](auto& s, Floor bound) { resume(s, std::max(bound, at_least)); };
        return ledger::begin_locked_life(header, n, slot, lifted, file, id, Floor{}, now_s);
    }
};

struct UnsyncedCeilingTrusted : OtherLife<UnsyncedCeilingTrusted> {
    template <class File>
    struct Unsynced : File {
        using Content = typename File::Content;
        ledger::CeilingResult write(const Content& c) const { return File::write_only(c); }
    };
    template <class H, class SlotAt, class Resume, class File>
    static ledger::CeilingResult begin(H& header, std::uint32_t n, SlotAt slot, Resume resume, const File& file,
                                       Value id, Floor at_least, Value now_s) {
        return ledger::begin_locked_life(header, n, slot, resume, Unsynced<File>{file}, id, at_least, now_s);
    }
};

struct LivesCountedInTheFile : OtherLife<LivesCountedInTheFile> {
    template <class H, class SlotAt, class Resume, class File>
    static ledger::CeilingResult begin(H& header, std::uint32_t n, SlotAt slot, Resume resume, const File& file,
                                       Value id, Floor at_least, Value) {
        return ledger::begin_locked_life(header, n, slot, resume, file, id, at_least, 0);
    }
};

template <class File>
struct FileOfLife : File {
    using Content = typename File::Content;
    ledger::CeilingResult write(Content c) const {
        c.life = life(c.life);
        return File::write(c);
    }
    ledger::Life (*life)(ledger::Life);
};

// A crash of the postmaster's children does not change it.
struct LifeByStartTime : OtherLife<LifeByStartTime> {
    static constexpr ledger::Life started{2, 2};
    template <class H, class SlotAt, class Resume, class File>
    static ledger::CeilingResult begin(H& header, std::uint32_t n, SlotAt slot, Resume resume, const File& file, Value,
                                       Floor at_least, Value) {
        const FileOfLife<File> same{file, [](ledger::Life) { return started; }};
        const ledger::CeilingResult r =
            ledger::begin_locked_life(header, n, slot, resume, same, started.id, at_least, started.number);
        if (r.error == ledger::CeilingError::none) header.life_number.store(started.number);
        return r;
    }
};

// Two versions of the library have their own memories, and the second one joins the life.
struct MemoryOfEachVersion : OtherLife<MemoryOfEachVersion> {
    template <class H, class SlotAt, class Resume, class File>
    static ledger::CeilingResult begin(H& header, std::uint32_t n, SlotAt slot, Resume resume, const File& file,
                                       Value id, Floor at_least, Value now_s) {
        typename File::Content c;
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
    template <class Wal, class RaiseFloor>
    static Ceiling enter_database(Wal& wal, Value life_id, Ceiling target, RaiseFloor lift_floor) {
        const ledger::WalCeiling c = wal.read();
        if (c.life_id == life_id) return c.until;
        const Ceiling until = wal.lift({target, life_id}).until;
        lift_floor(c.until);
        return until;
    }
};

struct DatabaseEnteredWithoutFloor : RightSteps {
    template <class Wal, class RaiseFloor>
    static Ceiling enter_database(Wal& wal, Value life_id, Ceiling target, RaiseFloor) {
        return ledger::enter_database(wal, life_id, target, [](Floor) {});
    }
};

struct WalNotFlushed : RightSteps {
    template <class Wal>
    static Ceiling lift_wal_above(Wal& wal, Value life_id, UnixTime wanted, Ceiling target) {
        const Ceiling until = wal.read().until;
        return wanted < until ? until : wal.write_only({target, life_id}).until;
    }
};

struct WalReadUnflushed : RightSteps {
    template <class Wal>
    static Ceiling lift_wal_above(Wal& wal, Value life_id, UnixTime wanted, Ceiling target) {
        const Ceiling until = wal.read_only().until;
        return wanted < until ? until : wal.lift({target, life_id}).until;
    }
};

struct FileLoweredFirst : RightSteps {
    template <class H, class SlotAt, class File, class Change, class PutBack>
    static ledger::CeilingResult force(H& header, std::uint32_t n, SlotAt slot, const File& file, Change change,
                                       PutBack put_back) {
        typename File::Content c;
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
    template <class H, class SlotAt, class File, class Change, class PutBack>
    static ledger::CeilingResult force(H& header, std::uint32_t n, SlotAt slot, const File& file, Change change,
                                       PutBack put_back) {
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

struct LifeBegunAtTheLastTick : OtherLife<LifeBegunAtTheLastTick> {
    template <class H, class SlotAt, class Resume, class File>
    static ledger::CeilingResult begin(H& header, std::uint32_t n, SlotAt slot, Resume resume, const File& file,
                                       Value id, Floor at_least, Value now_s) {
        const auto last = [&](auto& s, Floor) { resume(s, ceiling_at(Server::last_time)); };
        return ledger::begin_locked_life(header, n, slot, last, file, id, at_least, now_s);
    }
};

struct FileOfTheFutureRefused : OtherLife<FileOfTheFutureRefused> {
    template <class H, class SlotAt, class Resume, class File>
    static ledger::CeilingResult begin(H& header, std::uint32_t n, SlotAt slot, Resume resume, const File& file,
                                       Value id, Floor at_least, Value now_s) {
        typename File::Content c;
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
