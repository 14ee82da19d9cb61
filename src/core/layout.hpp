// The layout of a 64-bit snowflake. Ids sort by time, and those of one node by time and sequence.
//
//   | unused | timestamp | node | sequence |      most significant bit first
//   | unused | timestamp | sequence | node |      the same with node_last
#pragma once

#include <cstdint>

#include "core/error.hpp"
#include "core/timeline.hpp"

namespace snowflake_ids {

struct Layout {
    Timeline timeline;
    unsigned node_bits;
    unsigned sequence_bits;
    bool node_last = false;

    constexpr bool operator==(const Layout&) const = default;

    struct Fields {
        std::uint64_t tick = 0;
        std::uint32_t node = 0;
        std::uint32_t sequence = 0;
    };

    constexpr unsigned bits() const { return timeline.bits + node_bits + sequence_bits; }
    constexpr std::uint64_t max_id() const { return ~std::uint64_t{0} >> (64 - bits()); }
    constexpr std::uint32_t max_node() const { return (std::uint32_t{1} << node_bits) - 1; }
    constexpr std::uint32_t max_sequence() const { return (std::uint32_t{1} << sequence_bits) - 1; }

    constexpr std::uint64_t compose(const Fields& f) const {
        return f.tick << (node_bits + sequence_bits) | std::uint64_t{f.node} << node_shift() |
               std::uint64_t{f.sequence} << sequence_shift();
    }

    constexpr Result<Fields> split(std::uint64_t id) const {
        if (id > max_id()) return Error::id_range;
        return Fields{id >> (node_bits + sequence_bits), static_cast<std::uint32_t>(id >> node_shift()) & max_node(),
                      static_cast<std::uint32_t>(id >> sequence_shift()) & max_sequence()};
    }

    // `id` is at most max_id().
    constexpr UnixTime time_of(std::uint64_t id) const { return timeline.start(id >> (node_bits + sequence_bits)); }

    constexpr Result<std::uint64_t> lower_bound(UnixTime t) const {
        const Result<std::uint64_t> tick = timeline.ceil_tick(t);
        if (!tick) return tick.error;
        return compose({.tick = tick.value});
    }

    constexpr Result<std::uint64_t> upper_bound(UnixTime t) const {
        const Result<std::uint64_t> tick = timeline.last_tick_at(t);
        if (!tick) return tick.error;
        return compose({tick.value, max_node(), max_sequence()});
    }

    // Integers of SQL have 32 bits.
    static constexpr unsigned max_field_bits = 31;
    static constexpr unsigned max_timestamp_bits = 62;

private:
    constexpr unsigned node_shift() const { return node_last ? 0 : sequence_bits; }
    constexpr unsigned sequence_shift() const { return node_last ? node_bits : 0; }
};

// Errors: bad_width, bad_total_width, bad_tick (not positive), bad_epoch (the first or last time is no int64 of Unix
// microseconds).
constexpr Error check_layout(const Layout& l) {
    if (l.timeline.bits < 1 || l.timeline.bits > Layout::max_timestamp_bits) return Error::bad_width;
    if (l.node_bits > Layout::max_field_bits || l.sequence_bits > Layout::max_field_bits) return Error::bad_width;
    if (l.bits() > 63) return Error::bad_total_width;
    if (l.timeline.tick_length.count() < 1) return Error::bad_tick;
    // The end of the last tick must fit too, so that no arithmetic on times overflows.
    std::int64_t end = 0;
    if (__builtin_mul_overflow(static_cast<std::int64_t>(l.timeline.max_tick() + 1), l.timeline.tick_length.count(),
                               &end) ||
        __builtin_add_overflow(end, number_of(l.timeline.epoch), &end))
        return Error::bad_epoch;
    return Error::none;
}

}  // namespace snowflake_ids
