// What the ledger keeps of synchronous standbys for a database, and how long.
#include "ledger/replicated.hpp"

#include <gtest/gtest.h>

#include <memory>

#include "ledger/formats.hpp"
#include "ledger/reset.hpp"
#include "ledger/settling.hpp"
#include "support/ledger_data.hpp"
#include "support/times.hpp"

namespace snowflake_ids::ledger {
namespace {

using namespace snowflake_ids::test;

constexpr Ceiling now = unix_ms(1798761600000);

struct LedgerReplicated : testing::Test {
    DataDirectory data;
    std::unique_ptr<ServerLife> life = std::make_unique<ServerLife>(data, 1);

    Slot& of(std::uint32_t database, UnixTime promised = {}) const {
        return *replicated_slot(life->ledger, database, promised);
    }
};

TEST_F(LedgerReplicated, EachDatabaseHasItsOwn) {
    Slot& one = of(5, now);
    EXPECT_EQ(replicated_until(one), now) << "what had been promised when it was made";
    EXPECT_EQ(&of(5, now + 1h), &one);
    EXPECT_EQ(replicated_until(one), now) << "and not what was promised later";
    EXPECT_EQ(replicated_until(of(6)), UnixTime{});
    EXPECT_NE(&of(6), &one);
}

TEST_F(LedgerReplicated, IsNoGenerator) {
    const Slot& slot = of(5, now);
    EXPECT_EQ(sql_format_of(slot), SqlFormat::none);
    EXPECT_FALSE(has_time(format_of(slot)));
    EXPECT_EQ(slots_owned(life->ledger), 0u);
    EXPECT_FALSE(layout_used(life->ledger, 5));
}

TEST_F(LedgerReplicated, TheFileKeepsItOverARestart) {
    lift_to(of(5).passed, now);
    ASSERT_EQ(life->lifted(of(5), now), CeilingError::none);
    lift_to(of(5).passed, now + 1s);
    life = std::make_unique<ServerLife>(data, 2, now + 1h);
    EXPECT_EQ(replicated_until(of(5)), now) << "what the file has, whatever the ids of the new life begin with";
}

TEST_F(LedgerReplicated, NoOtherCeilingLiftsIt) {
    ASSERT_EQ(life->lifted(of(5), now), CeilingError::none);
    const Slot& generator = life->slot({Format::sno, 3, 0});
    ASSERT_EQ(life->lift(generator, now + 5s, {.from = now - 1s, .to = now + 5s}).error, CeilingError::none);
    EXPECT_EQ(of(5).ceiling.load(), now);
    EXPECT_EQ(life->in_file(of(5)), now);
    lift_floor(life->ledger, now + 1h);
    EXPECT_EQ(replicated_until(of(5)), now);
}

// Ids after a reset may be lower.
TEST_F(LedgerReplicated, OnlyAForcedResetLowersIt) {
    lift_to(of(5).passed, now + 1h);
    ASSERT_EQ(life->lifted(of(5), now + 1h), CeilingError::none);
    ASSERT_EQ(apply_reset(data.place, life->ledger, {.floor = now, .ceiling = now + 2s}).error, CeilingError::none);
    EXPECT_EQ(replicated_until(of(5)), now + 1h);
    ASSERT_EQ(apply_reset(data.place, life->ledger, {.floor = now, .ceiling = now + 2s, .force = true}).error,
              CeilingError::none);
    EXPECT_EQ(replicated_until(of(5)), now);
    EXPECT_EQ(life->in_file(of(5)), now);
}

TEST_F(LedgerReplicated, NoRoom) {
    for (std::uint16_t node = 0; node < slot_count; node++) life->slot({Format::sno, node, 0});
    EXPECT_EQ(replicated_slot(life->ledger, 5, now), nullptr);
}

}  // namespace
}  // namespace snowflake_ids::ledger
