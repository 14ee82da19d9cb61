// The Snowflake-SI layout of this database, in a sequence's page.
#include "pg/server/wal_layout.hpp"

#include "core/snowflake_si.hpp"
#include "pg/server/wal_sequence.hpp"

namespace snowflake_ids::wal_layout {

namespace {

using wal_sequence::Content;

wal_sequence::Place place{"snowflake_ids_si_layout", "It keeps Snowflake-SI ids unique when settings change.",
                          ledger::si_layout_seal};

constexpr unsigned machine_bits_width = 4;

Content content(const Layout& layout) {
    return {static_cast<uint64>(layout.timeline.epoch_us / 1000) << machine_bits_width | layout.node_bits, 0};
}

}  // namespace

std::optional<Layout> read(const Patience& patience) {
    const uint64 n = wal_sequence::read(place, patience).number;
    if (n == 0) return {};
    const Result<Layout> layout =
        snowflake_si::layout(static_cast<int64>(n >> machine_bits_width) * 1000, n & ((1 << machine_bits_width) - 1));
    if (!layout) elog(ERROR, "invalid Snowflake-SI layout in sequence \"%s\": " UINT64_FORMAT, place.name, n);
    return layout.value;
}

void write(const Layout& layout, const Patience& patience) { wal_sequence::set(place, content(layout), patience); }

void forget(const Patience& patience) { wal_sequence::set(place, {}, patience); }

bool is_damaged(const Patience& patience) { return wal_sequence::is_damaged(place, patience); }

void repair(const std::optional<Layout>& layout, const Patience& patience) {
    wal_sequence::repair(place, layout ? content(*layout) : Content{}, patience);
}

}  // namespace snowflake_ids::wal_layout
