// A life that begins with whatever a ceiling file says, also formats and layouts of another version: every slot is
// above its ceiling, and the search for slots copes.
#include <algorithm>

#include "directory.hpp"
#include "ledger/find_slot.hpp"
#include "ledger/formats.hpp"
#include "ledger/session.hpp"
#include "ledger/shared_memory.hpp"

using namespace snowflake_ids;
using namespace snowflake_ids::fuzz;
using namespace snowflake_ids::ledger;

namespace {

constexpr std::size_t bytes = memory_bytes;

const CeilingPlace& place() {
    static const CeilingPlace p{directory(), 0600, 1, false, [] {}};
    return p;
}

Ledger new_memory() {
    static void* memory = std::aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
    std::memset(memory, 0, bytes);
    const Ledger l = make_ledger(memory, UnixTime{microseconds{1}});
    require(find_ledger(memory, bytes).slots == l.slots && !find_ledger(memory, bytes - 1));
    return l;
}

void put(Ceilings c) {
    LockedCeilings file(place());
    require(file.open().error == CeilingError::none && file.write(c).error == CeilingError::none);
}

Ceilings content() {
    static Ceilings c;
    LockedCeilings file(place());
    require(file.open().error == CeilingError::none && file.read(c).error == CeilingError::none);
    return c;
}

// The part of a Host (session.hpp) that follows.
struct Host : Steps, SlotFormats {
    const Ledger& l;
    Header& header() const { return *l.header; }
    static std::uint32_t count() { return slot_count; }
    auto slots() const { return slot_at(l); }
};

bool begins(const Ledger& l, std::uint64_t id, Floor at_least) {
    const auto resume = [](Slot& slot, Floor floor) { lift_to_floor(SlotFormats{}, slot, floor); };
    const auto begin = [&](const LockedCeilings& file) {
        return begin_locked_life(*l.header, slot_count, slot_at(l), resume, file, id, at_least, 0);
    };
    return with_ceilings(place(), begin).error == CeilingError::none;
}

void check(const Ledger& l, const Ceilings& c, Floor at_least) {
    for (std::uint32_t i = 0; i < slot_count; i++) {
        const Slot& slot = l.slots[i];
        const CeilingEntry& e = c.entries[i];
        require(slot.key.load() == e.key && slot.ceiling.load() == (e.key != 0 ? e.ceiling : Ceiling{}));
        if (e.key == 0) continue;
        require(slot.packed_layout.load() == e.packed_layout);
        const Timeline timeline = timeline_of(slot);
        require(timeline.tick_length.count() > 0);
        if (!has_time(format_of(slot))) {
            require(slot.word.load() == 0);
            continue;
        }
        const Floor floor = std::max(e.ceiling, at_least);
        const bool toggle = has_toggle(format_of(slot));
        std::uint64_t tick = clamped_tick(timeline, floor);
        if (tick > max_tick(toggle)) tick = max_tick(toggle);
        require(unpack(slot.word.load(), 0, toggle).tick >= tick);
    }
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    fuzz::Numbers in(data, size);
    static Ceilings c;
    c = {};
    c.life = {in.take<std::uint32_t>(), in.take<std::uint8_t>()};
    const auto take_ceiling = [&in] {
        return Ceiling{milliseconds{in.take<std::uint64_t>() & static_cast<std::uint64_t>(number_of(max_ceiling))}};
    };
    c.floor = take_ceiling();
    for (unsigned n = in.take<std::uint8_t>() % 16; n > 0; n--) {
        const std::uint32_t slot = in.take<std::uint8_t>();
        c.entries[slot] = {in.take<std::uint64_t>(), in.take<std::uint64_t>(), take_ceiling()};
        if (slot % 4 != 0) c.entries[slot].key = (c.entries[slot].key & ~std::uint64_t{0xff0000}) | (slot % 4) << 16;
    }
    const Floor at_least = take_ceiling();
    put(c);
    Ledger l = new_memory();
    require(begins(l, 7, at_least));
    require(life_of(*l.header).id == 7 && life_of(*l.header).number > c.life.number);
    require(l.header->floor.load() == std::max(c.floor, at_least));
    check(l, c, at_least);

    const Key key{static_cast<Format>(1 + in.take<std::uint8_t>() % 3), in.take<std::uint16_t>(),
                  in.take<std::uint8_t>()};
    const bool numbered = key.format == Format::snowflake;
    const std::uint64_t packed_layout = numbered ? in.take<std::uint64_t>() | 1 : 0;
    const Slot* found = find_slot(l, key, false, packed_layout);
    const std::uint32_t owned = slots_owned(l, key.owner);
    Slot* slot = find_slot(l, key, true, packed_layout);
    require(slot != nullptr && (found == nullptr || found == slot));
    require(Key::unpack(slot->key.load()).same_generator(key) &&
            (!numbered || slot->packed_layout.load() == packed_layout));
    require(find_slot(l, key, true, packed_layout) == slot && find_slot(l, key, false, packed_layout) == slot);
    require(slots_owned(l, key.owner) == owned + (found == nullptr));
    require(!numbered || layout_used(l, packed_layout));
    Host host{{}, {}, l};
    apply_floor(host, *slot);
    const Timeline timeline = timeline_of(*slot);
    require(timeline.tick_length.count() > 0 &&
            clamped_tick(timeline, UnixTime{microseconds{in.take<std::int64_t>()}}) <= timeline.max_tick());

    const Ceiling least = take_ceiling();
    const Along along{Ceiling{milliseconds{in.take<std::uint64_t>() >> 1}}, least};
    require(with_ceilings(place(), [&](const LockedCeilings& file) {
                return lift_ceiling(host, *slot, least, along, file);
            }).error == CeilingError::none);
    require(slot->ceiling.load() >= least);
    const Ceilings written = content();
    for (std::uint32_t i = 0; i < slot_count; i++) {
        require(l.slots[i].ceiling.load() == written.entries[i].ceiling);
        require(written.entries[i].ceiling >= c.entries[i].ceiling || c.entries[i].key == 0);
    }
    l = new_memory();
    require(begins(l, 8, {}));
    check(l, written, {});
    return 0;
}
