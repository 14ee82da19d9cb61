// Layouts that users make: refused, or good for every id and time; and what the ledger packs gives the same ids.
#include <initializer_list>

#include "core/layout.hpp"

#include "fuzz.hpp"
#include "ledger/packed_layout.hpp"

using namespace snowflake_ids;
using namespace snowflake_ids::fuzz;

namespace {

void require_good(const Layout& l, fuzz::Numbers& in) {
    require(l.bits() >= 1 && l.bits() <= 63);
    require(l.max_id() >> 63 == 0);
    for (const std::uint64_t id : {std::uint64_t{0}, l.max_id(), in.take<std::uint64_t>() & l.max_id()}) {
        const Result<Layout::Fields> f = l.split(id);
        require(f && l.compose(f.value) == id);
        require(f.value.tick <= l.timeline.max_tick() && f.value.node <= l.max_node() &&
                f.value.sequence <= l.max_sequence());
        const UnixTime at = l.time_of(id);
        require(at == l.timeline.start(f.value.tick) && l.timeline.floor_tick(at).value == f.value.tick);
        require(l.lower_bound(at).value <= id && id <= l.upper_bound(at).value);
    }
    require(l.split(l.max_id() + 1).error == Error::id_range);

    const UnixTime at{microseconds{in.take<std::int64_t>()}};
    const Result<std::uint64_t> tick = l.timeline.floor_tick(at);
    const bool early = at < l.timeline.epoch, late = l.timeline.end() < at;
    require(tick.error == (early ? Error::time_before_epoch : late ? Error::time_after_end : Error::none));
    if (tick) require(l.timeline.start(tick.value) <= at && at <= l.timeline.last(tick.value));
    require(static_cast<bool>(l.upper_bound(at)) == !early);
    const Result<std::uint64_t> lower = l.lower_bound(at);
    if (lower) {
        require(l.time_of(lower.value) >= at);
        require(lower.value == 0 || l.time_of(lower.value - 1) < at);
    } else {
        require(at > l.time_of(l.max_id()));
    }
    const Result<std::uint64_t> upper = l.upper_bound(at);
    if (upper) require(l.time_of(upper.value) <= at && (upper.value == l.max_id() || l.time_of(upper.value + 1) > at));
}

void require_same_numbers(const Layout& l, fuzz::Numbers& in) {
    const Result<std::uint64_t> packed_layout = ledger::pack_layout(l);
    if (!packed_layout) {
        require(packed_layout.error == Error::bad_tick || packed_layout.error == Error::bad_epoch);
        return;
    }
    require(packed_layout.value != 0);
    const Layout kept = ledger::unpack_layout(packed_layout.value);
    require(kept.timeline.epoch == l.timeline.epoch && kept.timeline.tick_length == l.timeline.tick_length);
    require(kept.node_bits == l.node_bits && kept.sequence_bits == l.sequence_bits);
    require(ledger::pack_layout(kept).value == packed_layout.value);
    const Layout::Fields f{in.take<std::uint64_t>() & l.timeline.max_tick() & kept.timeline.max_tick(),
                           in.take<std::uint32_t>() & l.max_node(), in.take<std::uint32_t>() & l.max_sequence()};
    require(kept.compose(f) == l.compose(f));
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    fuzz::Numbers in(data, size);
    const auto how = in.take<std::uint8_t>();
    Layout l{};
    // Small numbers come up too seldom by chance.
    auto epoch = in.take<std::int64_t>(), tick_length = in.take<std::int64_t>();
    if (how & 1) epoch = (epoch & 0x7ffffffffff) * 1000;
    if (how & 2) tick_length &= 0xffffff;
    if (how & 4) tick_length = tick_length % 128 * 1000;
    l.timeline = {UnixTime{microseconds{epoch}}, microseconds{tick_length}, 0};
    const unsigned mask = how & 8 ? 63 : 255;
    l.timeline.bits = in.take<std::uint8_t>() & mask;
    l.node_bits = in.take<std::uint8_t>() & (how & 16 ? 15 : mask);
    l.sequence_bits = in.take<std::uint8_t>() & (how & 16 ? 15 : mask);
    l.node_last = how & 32;

    const Error error = check_layout(l);
    require(error == Error::none || error == Error::bad_width || error == Error::bad_total_width ||
            error == Error::bad_tick || error == Error::bad_epoch);
    if (error == Error::none) {
        require_good(l, in);
        require_same_numbers(l, in);
    }
    return 0;
}
