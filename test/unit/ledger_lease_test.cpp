// A lease by itself. That leases keep the order of ids is in ledger_lease_lives_test.cpp.
#include <gtest/gtest.h>

#include "ledger/lease.hpp"

namespace snowflake_ids::ledger {
namespace {

constexpr std::uint32_t pool = 65536;

TEST(LedgerLease, DoublesUpToItsShareOfThePool) {
    Lease l;
    for (const std::uint32_t size : {2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 1024}) {
        EXPECT_EQ(lease_size(l, true, pool), size);
        l.want = size;
    }
    EXPECT_EQ(lease_size({.want = 600}, true, pool), 1024u) << "1/64 of the pool, so 64 processes can have one each";
    EXPECT_EQ(lease_size({.want = 1}, true, 192), 2u);
    EXPECT_EQ(lease_size({.want = 2}, true, 192), 3u);
}

TEST(LedgerLease, IsOneNumberAtLeast) {
    EXPECT_EQ(lease_size({.want = 1}, true, 64), 1u);
    EXPECT_EQ(lease_size({.want = 1}, true, 10), 1u) << "the share of a small pool is nothing";
    EXPECT_EQ(lease_size({.want = 0}, true, pool), 1u) << "the clock was behind";
    EXPECT_EQ(lease_size({.want = 512}, false, pool), 1u) << "the view has changed";
}

TEST(LedgerLease, TakesWhatTheLastTickNeeded) {
    EXPECT_EQ(lease_size({.next = 6, .end = 100, .want = 512, .used = 5}, true, pool), 5u);
    EXPECT_EQ(lease_size({.next = 2, .end = 100, .want = 512, .used = 2}, true, pool), 2u);
    EXPECT_EQ(lease_size({.next = 1, .end = 100, .want = 512, .used = 1}, true, pool), 1u);
    EXPECT_EQ(lease_size({.next = 0, .end = 100, .want = 512, .used = 0}, true, pool), 1u);
    EXPECT_EQ(lease_size({.next = 100, .end = 100, .want = 4, .used = 100}, true, pool), 8u) << "used up";
}

TEST(LedgerLease, HasTheNumbersAfterTheFirst) {
    Lease l{.next = 50, .end = 60, .want = 3, .used = 9};
    const Claim claimed{.toggle = 1, .first = 10, .count = 4, .tick = 7};
    EXPECT_EQ(begin_lease(l, claimed, 8), 0u);
    EXPECT_EQ(l.tick, 7u);
    EXPECT_EQ(l.toggle, 1u);
    EXPECT_EQ(l.next, 11u);
    EXPECT_EQ(l.end, 14u);
    EXPECT_EQ(l.want, 8u);
    EXPECT_EQ(l.used, 1u);
}

TEST(LedgerLease, IsGivenUpWhileTheClockIsBehind) {
    Lease l;
    const Claim claimed{.standing = {.held = true}, .first = 10, .count = 4, .tick = 7};
    EXPECT_EQ(begin_lease(l, claimed, 4), 3u);
    EXPECT_FALSE(serves(
        l, [] { return std::uint64_t{7}; }, [] { return true; }));
    EXPECT_EQ(l.next, l.end);
    EXPECT_EQ(lease_size(l, true, pool), 1u);
}

TEST(LedgerLease, ServesItsTickAndView) {
    const auto tick = [](std::uint64_t t) { return [t] { return t; }; };
    const auto view = [](bool same) { return [same] { return same; }; };
    const Lease l{.tick = 7, .next = 13, .end = 14};
    EXPECT_TRUE(serves(l, tick(7), view(true)));
    EXPECT_FALSE(serves(l, tick(8), view(true)));
    EXPECT_FALSE(serves(l, tick(6), view(true)));
    EXPECT_FALSE(serves(l, tick(7), view(false)));
    EXPECT_FALSE(serves({.tick = 7, .next = 14, .end = 14}, tick(7), view(true))) << "used up";
    EXPECT_FALSE(serves(Lease{}, tick(0), view(true))) << "there was none yet";
}

}  // namespace
}  // namespace snowflake_ids::ledger
