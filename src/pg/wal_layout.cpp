#include "pg/wal_layout.hpp"

#include "ledger/freeze.hpp"
#include "pg/wal_sequence.hpp"

namespace snowflake_ids::wal_layout {

namespace {

using wal_sequence::Content;

wal_sequence::Place place{"snowflake_ids_si_layout", "It keeps Snowflake-SI ids unique when settings change."};

Content wanted_content(const Content&, const Content& wanted) { return wanted; }

}  // namespace

uint64 read() {
    if (!wal_sequence::exists(place)) return 0;
    const int64 v = wal_sequence::read(place).last_value;
    return v <= 0 ? 0 : ledger::pack_layout(static_cast<uint64>(v / 100), static_cast<unsigned>(v % 100 - 1));
}

void write(uint64 packed) {
    if (!wal_sequence::exists(place)) return;
    const int64 v = ledger::frozen_base_clock_us(packed) / 1000 * 100 + ledger::frozen_machine_bits(packed) + 1;
    wal_sequence::update(place, wanted_content, {v, 0});
}

void forget() {
    if (wal_sequence::exists(place)) wal_sequence::update(place, wanted_content, {});
}

}  // namespace snowflake_ids::wal_layout
