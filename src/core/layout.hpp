// A 64-bit snowflake is data: an epoch, a tick length and three widths.
//
//   | unused | timestamp | node | sequence |      most significant bit first
//
// Mastic, Snowflake-SI and any other snowflake are constants of this type.
#pragma once

#include <cstdint>

#include "core/error.hpp"
#include "core/timeline.hpp"

namespace snowflake_ids {

struct Layout {
    Timeline timeline;
    unsigned node_bits;
    unsigned sequence_bits;

    struct Fields {
        std::uint64_t tick = 0;
        std::uint32_t node = 0;
        std::uint32_t sequence = 0;
    };

    constexpr unsigned bits() const { return timeline.bits + node_bits + sequence_bits; }
    constexpr std::uint64_t max_id() const { return ~std::uint64_t{0} >> (64 - bits()); }
    constexpr std::uint32_t max_node() const { return (std::uint32_t{1} << node_bits) - 1; }
    constexpr std::uint32_t max_sequence() const { return (std::uint32_t{1} << sequence_bits) - 1; }

    // The fields must be in range: check first where they come from outside.
    constexpr std::uint64_t compose(const Fields& f) const {
        return f.tick << (node_bits + sequence_bits) | std::uint64_t{f.node} << sequence_bits | f.sequence;
    }

    // Errors: node_range, sequence_range, and those of Timeline::floor_tick().
    constexpr Result<std::uint64_t> make(std::int64_t us, std::int64_t node, std::int64_t sequence) const {
        const Result<std::uint64_t> tick = timeline.floor_tick(us);
        if (!tick) return tick.error;
        if (node < 0 || node > max_node()) return Error::node_range;
        if (sequence < 0 || sequence > max_sequence()) return Error::sequence_range;
        return compose({tick.value, static_cast<std::uint32_t>(node), static_cast<std::uint32_t>(sequence)});
    }

    // Error: id_range (bits above the layout are set).
    constexpr Result<Fields> split(std::uint64_t id) const {
        if (id > max_id()) return Error::id_range;
        return Fields{id >> (node_bits + sequence_bits), static_cast<std::uint32_t>(id >> sequence_bits) & max_node(),
                      static_cast<std::uint32_t>(id) & max_sequence()};
    }

    // Start of the id's tick, Unix microseconds. The id must be at most max_id().
    constexpr std::int64_t time_us(std::uint64_t id) const {
        return timeline.start_us(id >> (node_bits + sequence_bits));
    }

    // Smallest id whose time is at or after `us`. Error: time_after_end (there is none).
    constexpr Result<std::uint64_t> lower_bound(std::int64_t us) const {
        const Result<std::uint64_t> tick = timeline.ceil_tick(us);
        if (!tick) return tick.error;
        return compose({.tick = tick.value});
    }

    // Largest id whose time is at or before `us`. Error: time_before_epoch (there is none).
    constexpr Result<std::uint64_t> upper_bound(std::int64_t us) const {
        const Result<std::uint64_t> tick = timeline.last_tick_at(us);
        if (!tick) return tick.error;
        return compose({tick.value, max_node(), max_sequence()});
    }
};

}  // namespace snowflake_ids
