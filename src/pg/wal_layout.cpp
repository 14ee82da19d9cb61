#include "pg/wal_layout.hpp"

#include "ledger/freeze.hpp"
#include "pg/wal_sequence.hpp"

namespace snowflake_ids::wal_layout {

namespace {

using wal_sequence::Missing;

wal_sequence::Place place{"snowflake_ids_si_layout", "It keeps Snowflake-SI ids unique when settings change."};

}  // namespace

uint64 read() {
    const int64 v = wal_sequence::read(place, Missing::is_empty).last_value;
    return v <= 0 ? 0 : ledger::pack_layout(static_cast<uint64>(v / 100), static_cast<unsigned>(v % 100 - 1));
}

void write(uint64 packed) {
    const int64 v = ledger::frozen_base_clock_us(packed) / 1000 * 100 + ledger::frozen_machine_bits(packed) + 1;
    wal_sequence::set(place, {v, 0}, Missing::is_empty);
}

void forget() { wal_sequence::set(place, {}, Missing::is_empty); }

}  // namespace snowflake_ids::wal_layout
