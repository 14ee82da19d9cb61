// What the ledger knows of formats: ticks of times, and what ids of a slot are called in SQL.
#include "ledger/formats.hpp"

#include <gtest/gtest.h>

#include "support/times.hpp"

namespace snowflake_ids::ledger {
namespace {

using namespace snowflake_ids::test;

TEST(LedgerFormats, ClampedTick) {
    constexpr Timeline timeline = timeline_us(5000000, 1000, 10);
    EXPECT_EQ(clamped_tick(timeline, unix_us(4999999)), 0u);
    EXPECT_EQ(clamped_tick(timeline, unix_us(5000999)), 0u);
    EXPECT_EQ(clamped_tick(timeline, unix_us(5001000)), 1u);
    EXPECT_EQ(clamped_tick(timeline, unix_us(6023999)), 1023u);
    EXPECT_EQ(clamped_tick(timeline, unix_us(99999999)), 1023u);
}

TEST(LedgerFormats, SqlFormatOfASlot) {
    const auto packed_layout = [](const Layout& l) { return pack_layout(l).value; };
    const auto format = [&](Format format, std::uint64_t n) {
        Slot slot{};
        slot.key.store(Key{format, 1, 0}.pack());
        slot.packed_layout.store(n);
        return sql_format_of(slot);
    };
    EXPECT_EQ(format(Format::none, 0), SqlFormat::none);
    EXPECT_EQ(format(Format::sno, 0), SqlFormat::sno);
    EXPECT_EQ(format(Format::sno_at, 0), SqlFormat::sno_at);
    EXPECT_EQ(format(Format::snowflake, packed_layout(mastic::layout)), SqlFormat::mastic);
    EXPECT_EQ(format(Format::snowflake, packed_layout({timeline_us(1767225600000000, 1000, 41), 0, 16, true})),
              SqlFormat::mastic);
    EXPECT_EQ(format(Format::snowflake, packed_layout({timeline_us(1767225600001000, 1000, 48), 0, 16})),
              SqlFormat::layout);
    EXPECT_EQ(format(Format::snowflake, packed_layout({timeline_us(1767225600000000, 10000, 48), 0, 16})),
              SqlFormat::layout);
    EXPECT_EQ(format(Format::snowflake, packed_layout({timeline_us(1288834974657000, 1000, 41), 10, 12})),
              SqlFormat::layout);
    EXPECT_EQ(format(Format::snowflake, packed_layout(snowflake_si::layout)), SqlFormat::snowflake_si);
    EXPECT_EQ(format(Format::snowflake, packed_layout({timeline_us(1767225600000000, 1000, 41), 5, 8})),
              SqlFormat::snowflake_si);
    EXPECT_EQ(format(Format::snowflake, packed_layout({timeline_us(1767225600001000, 1000, 40), 5, 8})),
              SqlFormat::layout);
    EXPECT_EQ(format(Format::snowflake, packed_layout({timeline_us(1767225600000000, 1000, 40), 6, 7})),
              SqlFormat::layout);
}

}  // namespace
}  // namespace snowflake_ids::ledger
