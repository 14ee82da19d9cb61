#include "pg/wal_layout.hpp"

#include "ledger/freeze.hpp"
#include "pg/wal_sequence.hpp"

namespace snowflake_ids::wal_layout {

namespace {

using wal_sequence::Content;

wal_sequence::Place place{"snowflake_ids_si_layout", "It keeps Snowflake-SI ids unique when settings change.",
                          ledger::si_layout_seal};

Content content(uint64 packed) {
    if (packed == 0) return {};
    return {static_cast<uint64>(ledger::frozen_base_clock_us(packed) / 1000) << 4 | ledger::frozen_machine_bits(packed),
            0};
}

}  // namespace

uint64 read(const Patience& patience) {
    const uint64 n = wal_sequence::read(place, patience).number;
    return n == 0 ? 0 : ledger::pack_layout(n >> 4, static_cast<unsigned>(n & 15));
}

void write(uint64 packed, const Patience& patience) { wal_sequence::set(place, content(packed), patience); }

void forget(const Patience& patience) { wal_sequence::set(place, {}, patience); }

bool is_damaged(const Patience& patience) { return wal_sequence::is_damaged(place, patience); }

void repair(uint64 packed, const Patience& patience) { wal_sequence::repair(place, content(packed), patience); }

}  // namespace snowflake_ids::wal_layout
