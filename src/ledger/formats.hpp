// What the ledger must know of a slot's format: how it counts time, and whether it has a
// tick-tock toggle.
#pragma once

#include <cstdint>

#include "core/layout.hpp"
#include "core/mastic.hpp"
#include "core/sno.hpp"
#include "core/snowflake_si.hpp"
#include "ledger/freeze.hpp"
#include "ledger/numbering.hpp"
#include "ledger/slot.hpp"

namespace snowflake_ids::ledger {

constexpr bool has_toggle(Format format) { return format == Format::sno; }

// sno_at counts calls, not time: ceilings and floors mean nothing to it.
constexpr bool has_time(Format format) { return format != Format::sno_at; }

// As SQL spells it.
constexpr const char* format_name(Format format) {
    switch (format) {
        case Format::sno:
            return "sno";
        case Format::sno_at:
            return "sno_at";
        case Format::mastic:
            return "mastic";
        case Format::snowflake_si:
            return "snowflake_si";
        case Format::layout:
            return "layout";
        case Format::none:
            break;
    }
    return "unknown";
}

// Snowflake-SI counts from the base clock that its slot was made for, not from a setting.
inline Timeline timeline_of(const Slot& slot) {
    switch (Key::unpack(slot.key.load()).format) {
        case Format::layout:
            return unpack_numbering(slot.numbering.load()).timeline;
        case Format::mastic:
            return mastic::layout.timeline;
        case Format::snowflake_si:
            return {frozen_base_clock_us(slot.numbering.load()), 1000, snowflake_si::default_clock_bits};
        case Format::none:
        case Format::sno:
        case Format::sno_at:
            break;
    }
    return sno::timeline;
}

// Do the slot's ticks tell a time? Those of a Snowflake-SI slot that was made before slots had a layout do not, until
// adopt_snowflake_si() gives it one.
inline bool tells_time(const Slot& slot) {
    const Format format = Key::unpack(slot.key.load()).format;
    if (format == Format::none || !has_time(format)) return false;
    return format != Format::snowflake_si || slot.numbering.load() != 0;
}

// The tick that contains a time, the first or last one if it is outside.
constexpr std::uint64_t clamped_tick(const Timeline& timeline, std::int64_t us) {
    const Result<std::uint64_t> tick = timeline.floor_tick(us);
    if (tick) return tick.value;
    return tick.error == Error::time_before_epoch ? 0 : timeline.max_tick();
}

}  // namespace snowflake_ids::ledger
