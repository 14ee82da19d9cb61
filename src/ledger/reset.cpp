// The steps of an operator's reset, and of the repair of both files.
#include "ledger/reset.hpp"

#include <algorithm>
#include <cerrno>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ledger/claim.hpp"
#include "ledger/directory.hpp"
#include "ledger/formats.hpp"
#include "ledger/life.hpp"
#include "ledger/word.hpp"

namespace snowflake_ids::ledger {

namespace {

bool chosen(const Reset& reset, const Header& header, const Slot& slot) {
    const Key key = Key::unpack(slot.key.load());
    return has_time(key.format) && (reset.kind == Kind::none || reset.kind == kind_of(header, slot)) &&
           (reset.node < 0 || reset.node == key.node);
}

std::uint64_t tick_of(const Timeline& timeline, std::uint64_t ms) {
    return clamped_tick(timeline, static_cast<std::int64_t>(ms) * 1000);
}

bool possible(const Slot& slot) {
    const std::uint64_t key = slot.key.load();
    const Key k = Key::unpack(key);
    if (k.format == Format::snowflake && !possible_numbering(slot.numbering.load())) return false;
    return k.pack() == key && k.format >= Format::sno && k.format <= Format::snowflake;
}

// The shared words of the header may be damaged as well. The floor becomes the operator's, because one from the file
// could be thousands of years ahead.
void mend_header(Header& header, std::uint64_t floor_ms) {
    if (!snowflake_si_layout(header.si_layout.load())) header.si_layout.store(0);
    header.floor_ms.store(floor_ms);
    header.raising_until.store(0);
    header.life_id.store(0);
    for (Word& k : header.life_key) k.store(0);
    if (header.lives.load() > 0xffffffff) header.lives.store(1);
}

// True if the reset names exactly one generator. Then only its slot is raised. Otherwise the floor of future slots is
// raised too, because a generator that has no slot yet may be meant.
bool names_one(const Reset& reset) {
    return reset.kind == Kind::mastic ||
           (reset.node >= 0 && (reset.kind == Kind::sno || reset.kind == Kind::snowflake_si));
}

}  // namespace

std::uint64_t highest_ceiling_ms(const Ledger& ledger) {
    std::uint64_t highest = 0;
    for (std::uint32_t i = 0; i < slot_count; i++) highest = std::max(highest, ledger.slots[i].ceiling.load());
    return highest;
}

std::uint64_t highest_issued_ms(const Ledger& ledger, const Reset& reset) {
    std::uint64_t highest = 0;
    for (std::uint32_t i = 0; i < slot_count; i++) {
        const Slot& slot = ledger.slots[i];
        if (!chosen(reset, *ledger.header, slot)) continue;
        const bool toggled_format = has_toggle(format_of(slot));
        const State state = unpack(slot.word.load(), slot.safe.load(), toggled_format);
        const std::uint64_t tick = std::max(state.tick, state.safe);
        if (tick == 0) continue;
        // A floor in the tick's first millisecond uses up the whole tick. If the tick begins inside a millisecond,
        // this is rounded down. That repeats no id, because without force the slot does not move back.
        const Timeline timeline = timeline_of(slot);
        highest = std::max(highest, static_cast<std::uint64_t>(timeline.start_us(tick) / 1000));
    }
    return highest;
}

namespace {

CeilingResult apply_locked(const Ledger& ledger, const Reset& reset, const LockedCeilings& file) {
    Header& header = *ledger.header;
    const bool all = reset.kind == Kind::none && reset.node < 0;
    bool found = false;
    const auto reset_slot = [&](Slot& slot) {
        const bool toggled_format = has_toggle(format_of(slot));
        found = true;
        const std::uint64_t tick = tick_of(timeline_of(slot), reset.floor_ms);
        if (reset.force)
            put_slot(slot, tick, toggled_format);
        else
            raise_slot(slot, tick, toggled_format);
    };

    if (reset.force) {
        // The floor first: a slot that is created during the reset must not begin above the old one.
        if (all) header.floor_ms.store(reset.floor_ms);
        const auto put_back = [&](Slot& slot, std::uint64_t& ms) {
            if (chosen(reset, header, slot)) {
                reset_slot(slot);
                ms = reset.ceiling_ms;
            } else if (all && ms > reset.ceiling_ms) {
                // A free slot that still has a ceiling. It would be a floor again in the next life, and would bound
                // the generator that takes the slot.
                ms = reset.ceiling_ms;
            }
        };
        const CeilingResult r = force_locked(
            header, slot_count, [&](std::uint32_t i) -> Slot& { return ledger.slots[i]; }, put_back, file, reset.sync);
        if (r.error != CeilingError::none) return r;
    } else {
        for (std::uint32_t i = 0; i < slot_count; i++) {
            if (chosen(reset, header, ledger.slots[i])) reset_slot(ledger.slots[i]);
        }
    }
    // Another layout has slots of its own, above the floor. If the layout becomes the same again, its slots continue.
    if (reset.unfreeze) header.si_layout.store(0);
    if (!(reset.force && all) && (!found || reset.unfreeze || !names_one(reset)))
        raise_to(header.floor_ms, reset.floor_ms);
    // No ceiling covers the floor before the next id: sync the file, so that a power loss does not lose the floor.
    if (reset.sync && msync(&header, file_bytes, MS_SYNC) != 0) return {CeilingError::io, errno, 0};
    return {};
}

}  // namespace

CeilingResult apply(const char* dir, unsigned mode, const Ledger& ledger, const Reset& reset) {
    LockedCeilings file;
    CeilingResult r = file.open(dir, mode, ledger, reset.sync);
    if (r.error != CeilingError::none) return r;
    r = apply_locked(ledger, reset, file);
    ledger.header->epoch.fetch_add(1);
    return r;
}

Attached repair(const char* dir, const char* name, unsigned mode, std::uint64_t system_identifier,
                std::uint64_t floor_ms, bool sync) {
    const int dir_fd = open_directory(dir);
    if (dir_fd < 0) return {{}, FileError::cannot_open, errno};
    const int fd = open_file(dir_fd, name);
    const int error = fd < 0 ? errno : 0;
    close(dir_fd);
    if (error == ENOENT) return attach(dir, name, mode, system_identifier, sync);
    if (error != 0) return {{}, FileError::cannot_open, error};

    int rc = fill_holes(fd, file_bytes);
    if (rc == 0 && ftruncate(fd, static_cast<off_t>(file_bytes)) != 0) rc = errno;
    Attached a = rc == 0 ? map_unchecked(fd) : Attached{{}, FileError::cannot_create, rc};
    if (a.error == FileError::none) {
        Header& header = *a.ledger.header;
        // Mark the file as damaged until all the rest is done and on disk. If that fails, or if this process dies, no
        // process takes the file for a ledger that knows what was issued.
        header.magic = 0;
        for (std::uint32_t i = 0; i < slot_count; i++) {
            Slot& slot = a.ledger.slots[i];
            if (!possible(slot)) {
                slot.key.store(0);
                slot.numbering.store(0);
                slot.word.store(0);
                slot.safe.store(0);
                slot.ceiling.store(0);
                slot.begun.store(0);
                slot.lead.store(0);
            }
        }
        mend_header(header, floor_ms);
        raise_floor(a.ledger, floor_ms);
        header.epoch.fetch_add(1);
        LockedCeilings file;
        const CeilingResult r = file.open_and_repair(dir, mode, a.ledger, floor_ms, sync);
        if (r.error != CeilingError::none) rc = r.error == CeilingError::busy ? EAGAIN : r.system_errno;
        if (rc == 0 && sync && fsync(fd) != 0) rc = errno;
        if (rc == 0) {
            write_constants(header, system_identifier);
            if (sync) (void) fsync(fd);
        } else {
            detach(a.ledger);
            a = {{}, FileError::cannot_create, rc};
        }
    }
    close(fd);
    return a;
}

CeilingResult check_ceilings(const char* dir, unsigned mode, const Ledger& ledger, bool sync) {
    LockedCeilings file;
    const CeilingResult r = file.open(dir, mode, ledger, sync);
    std::uint64_t ms[slot_count];
    return r.error == CeilingError::none ? file.read(ms) : r;
}

CeilingResult repair_ceilings(const char* dir, unsigned mode, const Ledger& ledger, std::uint64_t floor_ms, bool sync) {
    // Raise the floor first. From here on nothing is issued again that the unreadable ceilings had allowed.
    raise_floor(ledger, floor_ms);
    LockedCeilings file;
    CeilingResult r = file.open_and_repair(dir, mode, ledger, floor_ms, sync);
    std::uint64_t ms[slot_count];
    if (r.error == CeilingError::none) r = file.read(ms);
    if (r.error != CeilingError::none) return r;
    // Sessions rely on the published ceilings, so the file must have them again.
    for (std::uint32_t i = 0; i < slot_count; i++) ms[i] = std::max(ms[i], ledger.slots[i].ceiling.load());
    return file.write_all(ms, sync);
}

}  // namespace snowflake_ids::ledger
