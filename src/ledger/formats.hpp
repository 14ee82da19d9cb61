// What the ledger must know of a slot's format: how it counts time, whether it has a tick-tock toggle, and its name.
#pragma once

#include <algorithm>
#include <cstdint>

#include "core/known_layouts.hpp"
#include "core/layout.hpp"
#include "core/mastic.hpp"
#include "core/sno.hpp"
#include "core/snowflake_si.hpp"
#include "ledger/numbering.hpp"
#include "ledger/slot.hpp"

namespace snowflake_ids::ledger {

// True if ids of the format have a tick-tock bit.
constexpr bool has_toggle(Format format) { return format == Format::sno; }

// True if the format counts time. sno_at counts calls, so ceilings and floors mean nothing to it.
constexpr bool has_time(Format format) { return format == Format::sno || format == Format::snowflake; }

// The format of the slot's generator; none for a free slot.
template <class S>
Format format_of(const S& slot) {
    return Key::unpack(slot.key.load()).format;
}

// The layout of a slot with Format::snowflake. Its timestamp may be wider or narrower than that of the generator's
// layout, because a numbering does not contain the width (unpack_numbering()).
inline Layout layout_of(const Slot& slot) { return unpack_numbering(slot.numbering.load()); }

// The time line of a slot whose format has a time. Its end may be another one than that of the generator's layout: see
// layout_of().
inline Timeline timeline_of(const Slot& slot) {
    return format_of(slot) == Format::snowflake ? layout_of(slot).timeline : sno::timeline;
}

// What the ids of a slot are called in SQL. `layout` stands for all snowflakes but Mastic and Snowflake-SI, and `none`
// for a slot without a generator.
enum class Kind : std::uint8_t { none, sno, sno_at, mastic, snowflake_si, layout };

// The name of a kind in SQL; "unknown" for none.
constexpr const char* kind_name(Kind kind) {
    switch (kind) {
        case Kind::sno:
            return "sno";
        case Kind::sno_at:
            return "sno_at";
        case Kind::mastic:
            return "mastic";
        case Kind::snowflake_si:
            return "snowflake_si";
        case Kind::layout:
            return "layout";
        case Kind::none:
            break;
    }
    return "unknown";
}

inline constexpr std::uint64_t mastic_numbering = pack_numbering(mastic::layout).value;
inline constexpr std::uint64_t snowflake_si_numbering = pack_numbering(snowflake_si::layout).value;

// The kind of the slot's generator.
inline Kind kind_of(const Slot& slot) {
    switch (format_of(slot)) {
        case Format::sno:
            return Kind::sno;
        case Format::sno_at:
            return Kind::sno_at;
        case Format::snowflake:
            break;
        default:
            return Kind::none;
    }
    const std::uint64_t numbering = slot.numbering.load();
    if (numbering == mastic_numbering) return Kind::mastic;
    return numbering == snowflake_si_numbering ? Kind::snowflake_si : Kind::layout;
}

// The tick that contains a time, or the first or last tick if the time is outside the format.
constexpr std::uint64_t clamped_tick(const Timeline& timeline, UnixTime t) {
    const Result<std::uint64_t> tick = timeline.floor_tick(t);
    if (tick) return tick.value;
    return tick.error == Error::time_before_epoch ? 0 : timeline.max_tick();
}

// The tick of the slot's format that contains a time, or the first or last tick if the time is outside the format.
inline std::uint64_t tick_of(const Slot& slot, UnixTime t) { return clamped_tick(timeline_of(slot), t); }

// The longest tick of all built-in formats. The time of snowflake_ids_settled() is right for ids with this tick or a
// shorter one. For layouts with a longer tick there is snowflake_settled(layout). The tick is a constant, because the
// time must not depend on which layouts there are: a layout may be created, and used, while a query with that time
// runs.
inline constexpr microseconds longest_tick = milliseconds{10};

// True if longest_tick is what its comment says.
constexpr bool is_longest() {
    microseconds found = sno::timeline.tick_length;
    for (const KnownLayout& known : known_layouts) found = std::max(found, known.layout.timeline.tick_length);
    return found == longest_tick;
}
static_assert(is_longest());

}  // namespace snowflake_ids::ledger
