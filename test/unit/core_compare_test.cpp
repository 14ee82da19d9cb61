// Comparison of ids that differ in one byte: each byte counts, and an id is not below itself.
#include <gtest/gtest.h>

#include "core/gid.hpp"
#include "core/mastic.hpp"
#include "core/sno.hpp"

#include "support/id_operators.hpp"

namespace snowflake_ids {
namespace {

template <class Id>
void expect_order_of_bytes() {
    for (std::size_t i = 0; i < sizeof(Id); i++) {
        Id low{}, high{};
        for (std::size_t j = 0; j < sizeof(Id); j++) low.bytes[j] = high.bytes[j] = 0x7f;
        low.bytes[i] = 0x10, high.bytes[i] = 0x90;
        for (std::size_t j = i + 1; j < sizeof(Id); j++) low.bytes[j] = 0xff, high.bytes[j] = 0;
        EXPECT_LT(compare(low, high), 0) << i;
        EXPECT_GT(compare(high, low), 0) << i;
        EXPECT_EQ(compare(low, low), 0) << i;
        EXPECT_TRUE(low < high) << i;
        EXPECT_FALSE(high < low || low < low) << i;
        EXPECT_FALSE(low == high) << i;
        EXPECT_TRUE(low == low) << i;
    }
}

TEST(CoreCompare, ByteByByte) {
    expect_order_of_bytes<sno::Id>();
    expect_order_of_bytes<gid::Id>();
}

TEST(CoreCompare, Mastic) {
    const mastic::Id low{std::uint64_t{1} << 62}, high{std::uint64_t{1} << 63};
    EXPECT_LT(compare(low, high), 0);
    EXPECT_GT(compare(high, low), 0);
    EXPECT_EQ(compare(low, low), 0);
    EXPECT_TRUE(low < high && !(high < low) && !(low < low));
}

}  // namespace
}  // namespace snowflake_ids
