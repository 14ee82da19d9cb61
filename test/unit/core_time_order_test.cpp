// The one order of ids and times: against the bounds, around the ends of ticks and formats.
#include "core/time_order.hpp"
#include "support/id_operators.hpp"
#include "support/times.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <random>
#include <vector>

namespace snowflake_ids {
namespace {

using namespace snowflake_ids::test;

sno::Id id_at(std::uint64_t tick, std::uint64_t rest, const sno::Id*) {
    sno::Id id;
    store_be<8>(id.bytes, tick << 25 | rest >> 16);
    store_be<2>(id.bytes + 8, rest & 0xffff);
    return id;
}

mastic::Id id_at(std::uint64_t tick, std::uint64_t rest, const mastic::Id*) { return {tick << 16 | rest}; }

Result<sno::Id> bound(UnixTime at, const sno::Id*) { return sno::lower_bound(at); }

Result<mastic::Id> bound(UnixTime at, const mastic::Id*) {
    const auto number = mastic::layout.lower_bound(at);
    if (!number) return number.error;
    return mastic::Id{number.value};
}

template <class Id>
class TimeOrder : public testing::Test {
protected:
    static constexpr const Id* type = nullptr;
    static constexpr unsigned rest_bits = 8 * sizeof(Id) - timeline_of<Id>.bits;

    static std::vector<UnixTime> times() {
        const Timeline& t = timeline_of<Id>;
        std::vector<UnixTime> times{UnixTime::min(), UnixTime{}, UnixTime::max()};
        for (const std::uint64_t tick : {std::uint64_t{0}, std::uint64_t{1}, t.max_tick() / 2, t.max_tick() / 2 + 1,
                                         t.max_tick() - 1, t.max_tick(), t.max_tick() + 1})
            for (const microseconds d : {-t.tick_length, microseconds{-1us}, 0us, 1us, t.tick_length / 2})
                times.push_back(t.start(tick) + d);
        return times;
    }

    static std::vector<Id> ids() {
        const std::uint64_t last = timeline_of<Id>.max_tick();
        std::vector<Id> ids;
        for (const std::uint64_t tick : {std::uint64_t{0}, std::uint64_t{1}, last / 2, last / 2 + 1, last - 1, last})
            for (const std::uint64_t rest : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{1} << (rest_bits - 1),
                                             (std::uint64_t{1} << rest_bits) - 1})
                ids.push_back(id_at(tick, rest, type));
        return ids;
    }
};

using Ids = testing::Types<sno::Id, mastic::Id>;
TYPED_TEST_SUITE(TimeOrder, Ids);

TYPED_TEST(TimeOrder, ATimeStandsForItsLowerBound) {
    for (const UnixTime at : this->times()) {
        const TimeAmong<TypeParam> moment{at};
        const auto lower = bound(at, this->type);
        for (const TypeParam& id : this->ids()) {
            EXPECT_EQ(compare(id, moment), lower ? sign(compare(id, lower.value)) : -1) << number_of(at);
            EXPECT_EQ(compare(moment, id), -compare(id, moment)) << number_of(at);
        }
        for (const UnixTime other : this->times()) {
            const auto b = bound(other, this->type);
            const int expected = lower && b ? sign(compare(lower.value, b.value)) : lower ? -1 : b ? 1 : 0;
            EXPECT_EQ(compare(moment, TimeAmong<TypeParam>{other}), expected)
                << number_of(at) << ' ' << number_of(other);
        }
    }
}

// "From then on" and "before then" are about the time of the id, to the microsecond.
TYPED_TEST(TimeOrder, BeforeAndNotBeforeAreThoseOfTheTimestamp) {
    for (const UnixTime at : this->times())
        for (const TypeParam& id : this->ids())
            EXPECT_EQ(compare(id, TimeAmong<TypeParam>{at}) < 0, time_of(id) < at) << number_of(at);
}

TYPED_TEST(TimeOrder, RandomIdsAndTimesAreInOneOrder) {
    std::mt19937_64 random(1);
    const Timeline& t = timeline_of<TypeParam>;
    for (int i = 0; i < 100000; i++) {
        const std::uint64_t tick = random() & t.max_tick(), rest = random() >> (64 - this->rest_bits);
        const TypeParam id = id_at(tick, i % 3 == 0 ? 0 : rest, this->type);
        const UnixTime at = t.start(tick) + microseconds{random()} % (3 * t.tick_length) - t.tick_length;
        const auto lower = bound(at, this->type);
        ASSERT_EQ(compare(id, TimeAmong<TypeParam>{at}), lower ? sign(compare(id, lower.value)) : -1);
    }
}

}  // namespace
}  // namespace snowflake_ids
