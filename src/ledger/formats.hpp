// What the ledger knows of formats.
#pragma once

#include <cstdint>

#include "core/layout.hpp"
#include "core/mastic.hpp"
#include "core/sno.hpp"
#include "core/snowflake_si.hpp"
#include "ledger/floor.hpp"
#include "ledger/packed_layout.hpp"
#include "ledger/slot.hpp"

namespace snowflake_ids::ledger {

constexpr bool has_toggle(Format format) { return format == Format::sno; }

// sno_at counts calls, so ceilings and floors mean nothing to it.
constexpr bool has_time(Format format) { return format == Format::sno || format == Format::snowflake; }

template <class S>
Format format_of(const S& slot) {
    return Key::unpack(slot.key.load()).format;
}

// Only for Format::snowflake. Not the generator's timestamp width but the widest: see unpack_layout().
inline Layout layout_of(const Slot& slot) { return unpack_layout(slot.packed_layout.load()); }

// The format must have a time.
inline Timeline timeline_of(const Slot& slot) {
    return format_of(slot) == Format::snowflake ? layout_of(slot).timeline : sno::timeline;
}

// What ids are called in SQL. `layout`: all snowflakes but Mastic and Snowflake-SI; `none`: no generator.
enum class SqlFormat : std::uint8_t { none, sno, sno_at, mastic, snowflake_si, layout };

inline constexpr const char* sql_format_names[] = {"unknown", "sno", "sno_at", "mastic", "snowflake_si", "layout"};

constexpr const char* sql_format_name(SqlFormat format) { return sql_format_names[static_cast<int>(format)]; }

inline constexpr std::uint64_t packed_mastic = pack_layout(mastic::layout).value;
inline constexpr std::uint64_t packed_snowflake_si = pack_layout(snowflake_si::layout).value;

inline SqlFormat sql_format_of(const Slot& slot) {
    const Format format = format_of(slot);
    if (format == Format::sno) return SqlFormat::sno;
    if (format == Format::sno_at) return SqlFormat::sno_at;
    if (format != Format::snowflake) return SqlFormat::none;
    const std::uint64_t packed_layout = slot.packed_layout.load();
    if (packed_layout == packed_mastic) return SqlFormat::mastic;
    return packed_layout == packed_snowflake_si ? SqlFormat::snowflake_si : SqlFormat::layout;
}

// The first or last tick if the time is outside the format.
constexpr std::uint64_t clamped_tick(const Timeline& timeline, UnixTime t) {
    const Result<std::uint64_t> tick = timeline.floor_tick(t);
    if (tick) return tick.value;
    return tick.error == Error::time_before_epoch ? 0 : timeline.max_tick();
}

// What the templates ask about a slot.
struct SlotFormats {
    static bool has_time(const Slot& slot) { return ledger::has_time(format_of(slot)); }
    static bool has_toggle(const Slot& slot) { return ledger::has_toggle(format_of(slot)); }
    static std::uint64_t tick_of(const Slot& slot, UnixTime t) { return clamped_tick(timeline_of(slot), t); }
    static void begin(Slot& slot, std::uint64_t tick, bool has_toggle) { begin_slot(slot, tick, has_toggle); }
};

}  // namespace snowflake_ids::ledger
