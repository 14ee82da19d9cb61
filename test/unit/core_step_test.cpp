// The generator step against the traces of Snowflake-SI and Mastic (sno: core_step_sno_test). That no id repeats under
// the policies that we ship: core_step_property_test.
#include "core/step.hpp"

#include "core/mastic.hpp"
#include "support/draw.hpp"
#include "support/replay.hpp"
#include "support/snowflake_si_options.hpp"
#include "support/times.hpp"
#include "support/tsv.hpp"

namespace snowflake_ids {
namespace {

using namespace snowflake_ids::test;

// ---- Snowflake-SI ----

struct SiGenerator {
    Layout layout;
    std::uint32_t machine = 0;
    Replay replay{};
};

SiGenerator si_generator(const Row& row) {
    const JsonObject o = parse_json_object(row["options_json"]);
    const bool v1 = row["lib"] == "v1.0.0";
    SiGenerator g{v1 ? si_layout_v1(o) : si_layout_v2(o), o.u32("machineId")};
    EXPECT_EQ(check_layout(g.layout), Error::none);
    g.replay.rules = {.max = g.layout.max_sequence(), .max_tick = g.layout.timeline.max_tick()};
    // 0: an error, 1: the clock is followed, 2: the last tick continues.
    const std::int64_t reversed = v1 ? 1 : o.i64("onTimeReversed", 0);
    g.replay.rules.on_regression = reversed == 2 ? OnRegression::hold : OnRegression::error;
    g.replay.follows = reversed == 1;
    g.replay.reset_threshold = static_cast<std::uint32_t>(o.i64("sequenceResetThreshold", 0));
    if (v1 || o.i64("onTimeChanged", 0) == 1) g.replay.reset_threshold = Replay::never;
    return g;
}

// Long runs show their first and last call only; the calls between had the clock of the row before.
std::uint64_t hidden_calls(const Row& row, const Row* before) {
    if (before == nullptr || (*before)["scenario"] != row["scenario"]) return 0;
    const std::uint64_t hidden = row.u64("step") - before->u64("step") - 1;
    if (hidden > 0) {
        EXPECT_EQ(row["clock_ms"], (*before)["clock_ms"]);
    }
    return hidden;
}

void burn(const Replay& replay, Replay::Counter& counter, std::uint64_t now, std::uint64_t count) {
    while (count > 0) {
        const Step s = replay.draw(counter, now, static_cast<std::uint32_t>(count));
        ASSERT_EQ(s.verdict, Verdict::issued);
        count -= s.count;
    }
}

TEST(CoreStep, SnowflakeSiTrace) {
    const Table table("snowflake_si_trace.tsv");
    std::size_t exact = 0, follows = 0, avoided = 0, refused = 0;
    const Row* before = nullptr;
    Replay::Counter counter;
    for (const Row& row : table) {
        SCOPED_TRACE(row.where());
        const SiGenerator g = si_generator(row);
        if (row.u64("step") == 1) counter = {};
        const Result<std::uint64_t> now = g.layout.timeline.floor_tick(unix_ms(row.i64("clock_ms")));
        if (!now) {
            EXPECT_EQ(now.error, Error::time_before_epoch);
            if (row["outcome"] == "time_before_epoch") {
                exact++;
            } else {
                // v1 makes a negative number; its counter has moved on.
                EXPECT_EQ(row["id"][0], '-');
                counter.state.next = row.u32("uin") + 1;
                refused++;
            }
            before = &row;
            continue;
        }
        burn(g.replay, counter, now.value, hidden_calls(row, before));
        before = &row;
        const Step s = g.replay.draw(counter, now.value, 1);
        const auto id = [&] { return g.layout.compose({s.state.tick, g.machine, s.first}); };
        if (ref_repeats(row["note"]) && g.replay.reset_threshold == Replay::never) {
            // v1 wraps inside a millisecond; here that is an overflow.
            EXPECT_EQ(s.verdict, Verdict::overflow);
            EXPECT_EQ(s.resume, now.value + 1);
            counter.state.next = row.u32("uin") + 1;
            avoided++;
        } else if (row["outcome"] == "ok") {
            ASSERT_EQ(s.verdict, Verdict::issued);
            EXPECT_EQ(id(), row.u64("id"));
            EXPECT_EQ(s.state.tick, row.u64("mab"));
            EXPECT_EQ(g.machine, row.u64("mid"));
            EXPECT_EQ(s.first, row.u64("uin"));
            ref_repeats(row["note"]) ? follows++ : exact++;
        } else {
            EXPECT_EQ(row["outcome"], s.verdict == Verdict::overflow ? "sequence_overflowed" : "time_reversed");
            EXPECT_NE(s.verdict, Verdict::issued);
            exact++;
        }
    }
    expect_count("snowflake_si_trace.tsv exact", exact, 183);
    expect_count("snowflake_si_trace.tsv marked: repeated, the clock is followed", follows, 1);
    expect_count("snowflake_si_trace.tsv marked: not repeated here", avoided, 2);
    expect_count("snowflake_si_trace.tsv refused: before the base clock", refused, 1);
    expect_count("snowflake_si_trace.tsv", exact + follows + avoided + refused, 187);
}

// ---- Mastic ----

// The reference clamps a clock before the epoch and loses high bits of one after the end. Our timeline refuses both.
std::uint64_t mastic_clock(const Row& row, std::size_t& outside) {
    const Timeline& t = mastic::layout.timeline;
    const UnixTime at = unix_ms(row.i64("clock_ms"));
    const Result<std::uint64_t> tick = t.floor_tick(at);
    if (tick) return tick.value;
    outside++;
    EXPECT_EQ(tick.error, at < t.epoch ? Error::time_before_epoch : Error::time_after_end);
    return at < t.epoch ? 0 : static_cast<std::uint64_t>((at - t.epoch) / 1ms) & t.max_tick();
}

TEST(CoreStep, MasticTrace) {
    const Table table("mastic_trace.tsv");
    const Replay replay{.rules = {.max = mastic::layout.max_sequence(),
                                  .max_tick = mastic::layout.timeline.max_tick(),
                                  .on_regression = OnRegression::error},
                        .follows = true};
    std::size_t exact = 0, follows = 0, outside = 0;
    const Row* before = nullptr;
    Replay::Counter counter;
    for (const Row& row : table) {
        SCOPED_TRACE(row.where());
        if (row.u64("step") == 1) counter = {.state = {.next = 1}};
        const std::uint64_t now = mastic_clock(row, outside);
        burn(replay, counter, now, hidden_calls(row, before));
        before = &row;
        const Step s = replay.draw(counter, now, 1);
        if (row["outcome"] != "ok") {
            EXPECT_EQ(row["outcome"], "trap: Snowflake sequence overflow");
            EXPECT_EQ(s.verdict, Verdict::overflow);
            EXPECT_EQ(s.resume, now + 1);
            exact++;
            continue;
        }
        ASSERT_EQ(s.verdict, Verdict::issued);
        EXPECT_EQ(mastic::layout.compose({s.state.tick, 0, s.first}), row.u64("id"));
        EXPECT_EQ(s.state.tick, row.u64("ts"));
        EXPECT_EQ(s.first, row.u64("sequence"));
        ref_repeats(row["note"]) ? follows++ : exact++;
    }
    expect_count("mastic_trace.tsv exact", exact, 43);
    expect_count("mastic_trace.tsv marked: repeated, the clock is followed", follows, 6);
    expect_count("mastic_trace.tsv outside our timeline", outside, 9);
    expect_count("mastic_trace.tsv", exact + follows, 49);
}

// ---- lift ----

// They share the state, not the bounds.
static_assert([] {
    const Rules above{.min = 6, .max = 65535, .max_tick = 1000, .has_toggle = true};
    const State up = use_up_to({.tick = 10, .safe = 5, .next = 3, .drifts = 1}, 100);
    for (std::uint64_t now = 0; now <= 100; now++)
        if (step(up, now, 1, above).verdict == Verdict::issued) return false;
    return up.drifts == 1 && step(up, 101, 1, above).verdict == Verdict::issued;
}());

static_assert(use_up_to({.tick = 10, .safe = 20}, 5).tick == 20);
static_assert(use_up_to({.tick = 30, .safe = 20}, 5).safe == 30);
static_assert(use_up_to({}, UINT64_MAX).tick == UINT64_MAX);
static_assert(step({}, UINT64_MAX, UINT32_MAX, {.max = 5, .max_tick = 10}).verdict == Verdict::ended);
static_assert(step({}, 0, UINT32_MAX, {.max = 65535, .max_tick = 10}).count == 65536);
static_assert(step({.tick = 3, .next = 65535}, 3, UINT32_MAX, {.max = 65535, .max_tick = 10}).count == 1);

// ---- the step by itself ----

TEST(CoreStep, IssuesNothingAndSaysWhy) {
    const Rules rules{.max = 9, .max_tick = 1000, .on_regression = OnRegression::error};
    const auto expect_nothing = [](const Step& s, Verdict verdict, std::uint64_t resume) {
        EXPECT_EQ(s.verdict, verdict);
        EXPECT_EQ(s.first, 0u);
        EXPECT_EQ(s.count, 0u);
        EXPECT_EQ(s.resume, resume);
        EXPECT_FALSE(s.held || s.own_lead);
        EXPECT_EQ(s.state.tick, 100u);
    };
    expect_nothing(step({.tick = 100, .next = 10}, 100, 3, rules), Verdict::overflow, 101);
    expect_nothing(step({.tick = 100, .next = 3}, 99, 3, rules), Verdict::regression, 100);
    expect_nothing(step({.tick = 100, .next = 3}, 1001, 3, rules), Verdict::ended, 0);
    const Step last = step({.tick = 100, .next = 3}, 1000, 3, rules);
    EXPECT_EQ(last.verdict, Verdict::issued) << "the last tick of the format";
    EXPECT_EQ(last.resume, 0u);
}

TEST(CoreStep, RulesByDefault) {
    const Step only = step({}, 0, 5, Rules{});
    EXPECT_EQ(only.verdict, Verdict::issued);
    EXPECT_EQ(only.count, 1u);
    EXPECT_EQ(step(only.state, 0, 1, Rules{}).verdict, Verdict::overflow);
    EXPECT_EQ(step(only.state, 1, 1, Rules{}).verdict, Verdict::ended);
    const Step far = step({.tick = ~std::uint64_t{0}}, 0, 1, Rules{});
    EXPECT_EQ(far.verdict, Verdict::issued);
    EXPECT_TRUE(far.held);
}

TEST(CoreStep, FloorIsAboveEveryBound) {
    EXPECT_EQ(use_up_to({}, 5).next, used_up);
    for (const State& s : {State{.tick = 5, .safe = 9}, State{.tick = 9, .safe = 5}, State{.tick = 4, .safe = 5}}) {
        const State up = use_up_to(s, s.tick == 4 ? 9 : 3);
        EXPECT_EQ(up.tick, 9u);
        EXPECT_EQ(up.safe, 9u);
    }
}

TEST(CoreStep, ToggleIsCountedAndTheWaitEndsAtTheTickOrAfterSafe) {
    const Rules rules{.max = 9, .max_tick = 1000, .has_toggle = true, .on_regression = OnRegression::wait};
    const Step back = step({.tick = 100, .safe = 80, .drifts = 4}, 90, 1, rules);
    EXPECT_EQ(back.state.drifts, 5u);
    EXPECT_EQ(back.state.safe, 100u);
    EXPECT_EQ(step({.tick = 100, .safe = 95}, 90, 1, rules).resume, 96u) << "a new regression";
    EXPECT_EQ(step({.tick = 100, .safe = 100}, 90, 1, rules).resume, 100u) << "the same tick";
    EXPECT_EQ(step({.tick = 100, .safe = 105}, 90, 1, rules).resume, 100u);
}

}  // namespace
}  // namespace snowflake_ids
