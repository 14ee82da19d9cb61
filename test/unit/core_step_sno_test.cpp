// The generator step against sno's own trace.
#include <map>
#include <optional>
#include <string>

#include "core/sno.hpp"
#include "core/step.hpp"
#include "support/draw.hpp"
#include "support/issued.hpp"
#include "support/json.hpp"
#include "support/sno_snapshot.hpp"
#include "support/text.hpp"
#include "support/times.hpp"
#include "support/tsv.hpp"

namespace snowflake_ids {
namespace {

using namespace snowflake_ids::test;

Rules rules_of(const sno::PartitionState& g) {
    return {g.bounds.min, g.bounds.max, sno::timeline.max_tick(), true, OnRegression::wait};
}

std::uint64_t sno_unit(const Row& row, const char* column) {
    const Result<std::uint64_t> unit = sno::timeline.floor_tick(unix_ms(row.i64(column)));
    EXPECT_TRUE(unit) << column;
    return unit.value;
}

std::int64_t sno_ms(std::uint64_t unit) { return number_of(sno::timeline.start(unit)) / 1000; }

sno::Snapshot sno_snapshot(const std::string& json) {
    const JsonObject o = parse_json_object(json);
    const std::vector<std::string>& p = o.members.at("partition");
    return {static_cast<std::uint32_t>(to_u64(p.at(0)) << 8 | to_u64(p.at(1))),
            o.u32("sequenceMin"),
            o.u32("sequenceMax"),
            o.u32("sequence"),
            o.u64("now"),
            o.u64("wallHi"),
            o.u64("wallSafe"),
            o.u32("drifts")};
}

Error sno_error(const std::string& message) {
    if (message.find("bounds are identical") != std::string::npos) return Error::bounds_identical;
    if (message.find("capacity of at least 4") != std::string::npos) return Error::bounds_too_close;
    if (message.find("underflows") != std::string::npos) return Error::sequence_range;
    throw std::runtime_error("unknown message: " + message);
}

class SnoReplay {
public:
    std::size_t exact = 0, avoided = 0, documented = 0, true_sequences = 0;

    void row(const Row& row) {
        const std::string& op = row["op"];
        if (row.u64("step") == 1) {
            ops_.clear();
            issued_.clear();
            sequence_differs_ = false;
        }
        ops_[row.u64("step")] = op;
        if (op == "create" || op == "restore") {
            create(row, op == "restore");
        } else if (op == "snapshot") {
            snapshot(row);
        } else if (op == "nwt") {
            next_at_given_time(row);
        } else if (op == "burn") {
            burn(row);
        } else {
            ASSERT_EQ(op, "new");
            draw(row);
        }
        if (op != "snapshot") own_snapshot_.reset();
        if (row["outcome"] != "error") compare_state(row);
    }

private:
    void create(const Row& row, bool restore) {
        sno::Snapshot from = sno_snapshot(row["arg"]);
        if (restore) {
            ASSERT_TRUE(own_snapshot_);
            sequence_differs_ = own_snapshot_->sequence != from.sequence;
            true_sequences += sequence_differs_;
            from = *own_snapshot_;
        }
        const Result<sno::PartitionState> made = sno::from_snapshot(from);
        exact++;
        if (row["outcome"] == "error") {
            EXPECT_EQ(static_cast<int>(made.error), static_cast<int>(sno_error(row["arg2"])));
            return;
        }
        ASSERT_EQ(row["outcome"], "ok");
        ASSERT_TRUE(made);
        generator_ = made.value;
        given_time_next_ = made.value.bounds.min;
    }

    void snapshot(const Row& row) {
        const std::uint64_t now = sno_unit(row, "clock_ms");
        const sno::Snapshot ours = sno::to_snapshot(generator_, now), theirs = sno_snapshot(row["arg"]);
        EXPECT_EQ(ours.partition, theirs.partition);
        EXPECT_EQ(ours.sequence_min, theirs.sequence_min);
        EXPECT_EQ(ours.sequence_max, theirs.sequence_max);
        EXPECT_EQ(ours.now, theirs.now);
        EXPECT_EQ(ours.wall_hi, theirs.wall_hi);
        EXPECT_EQ(ours.wall_safe, theirs.wall_safe);
        EXPECT_EQ(ours.drifts, theirs.drifts);
        // The reference forgets the sequence when the clock is elsewhere.
        EXPECT_EQ(theirs.sequence, now == theirs.wall_hi ? row.u32("seq_state") : theirs.sequence_min);
        EXPECT_EQ(ours.sequence, row.u32("seq_state"));
        own_snapshot_ = ours;
        exact++;
    }

    void next_at_given_time(const Row& row) {
        const std::uint64_t unit = sno_unit(row, "clock_ms");
        compare_id(row, unit, 0, sno::next_at_given_time(given_time_next_, generator_.bounds));
        EXPECT_EQ(row["outcome"], "ok");
        EXPECT_EQ(row["return_ms"], row["clock_ms"]);
        ref_repeats(row["arg2"]) ? documented++ : exact++;
    }

    void burn(const Row& row) {
        const std::uint64_t unit = sno_unit(row, "clock_ms");
        Step last;
        for (std::uint64_t left = row.u64("arg"); left > 0; left -= last.count) {
            last = step(generator_.state, unit, static_cast<std::uint32_t>(left), rules_of(generator_));
            ASSERT_EQ(last.verdict, Verdict::issued);
            EXPECT_TRUE(issued_.add(last.state.tick, last.state.toggle(), last.first, last.count));
            generator_.state = last.state;
        }
        EXPECT_EQ(row["outcome"], "ok");
        compare_id(row, last.state.tick, last.state.toggle(), last.first + last.count - 1);
        exact++;
    }

    void draw(const Row& row) {
        const std::uint64_t before = generator_.state.tick;
        const Drawn d = draw_waiting(generator_.state, sno_unit(row, "clock_ms"), rules_of(generator_));
        ASSERT_EQ(d.step.verdict, Verdict::issued);
        EXPECT_EQ(row["outcome"], d.first == Verdict::issued     ? "ok"
                                  : d.first == Verdict::overflow ? "wait_overflow"
                                                                 : "wait_regress");
        EXPECT_EQ(row.i64("return_ms"), d.first == Verdict::issued ? row.i64("clock_ms") : sno_ms(d.now));
        EXPECT_TRUE(issued_.add(d.step.state.tick, d.step.state.toggle(), d.step.first, d.step.count));
        if (d.step.state.tick != before) sequence_differs_ = false;
        if (!ref_repeats(row["arg2"])) {
            compare_id(row, d.step.state.tick, d.step.state.toggle(), d.step.first);
            exact++;
        } else if (ops_.at(repeated_step(row["arg2"])) == "nwt") {
            // The reference's New does not know that NewWithTime took the number: documented.
            compare_id(row, d.step.state.tick, d.step.state.toggle(), d.step.first);
            documented++;
        } else {
            EXPECT_TRUE(sequence_differs_);
            EXPECT_NE(id_hex(row, d.step.state.tick, d.step.state.toggle(), d.step.first), row["bin_hex"]);
            avoided++;
        }
    }

    std::string id_hex(const Row& row, std::uint64_t unit, std::uint32_t toggle, std::uint32_t sequence) const {
        const sno::Id id = sno::compose({unit, toggle, row.u32("meta"), generator_.partition, sequence});
        return to_hex(id.bytes, sno::binary_size);
    }

    void compare_id(const Row& row, std::uint64_t unit, std::uint32_t toggle, std::uint32_t sequence) const {
        EXPECT_EQ(sno_ms(unit), row.i64("ts_ms"));
        EXPECT_EQ(toggle, row.u64("ticktock"));
        EXPECT_EQ(sequence, row.u64("sequence"));
        EXPECT_EQ(id_hex(row, unit, toggle, sequence), row["bin_hex"]);
        char text[sno::text_size];
        sno::print(sno::compose({unit, toggle, row.u32("meta"), generator_.partition, sequence}), text);
        EXPECT_EQ(std::string(text, sizeof text), row["text"]);
    }

    void compare_state(const Row& row) const {
        const State& s = generator_.state;
        EXPECT_EQ(s.tick == 0 ? 0 : sno_ms(s.tick), row.i64("wall_hi_ms"));
        EXPECT_EQ(s.safe == 0 ? 0 : sno_ms(s.safe), row.i64("wall_safe_ms"));
        EXPECT_EQ(s.drifts, row.u64("drifts"));
        if (!sequence_differs_) {
            EXPECT_EQ(s.next - 1, row.u32("seq_state"));
        }
    }

    sno::PartitionState generator_;
    std::uint32_t given_time_next_ = 0;  // of NewWithTime, which has its own sequence
    std::optional<sno::Snapshot> own_snapshot_;
    bool sequence_differs_ = false;
    std::map<std::uint64_t, std::string> ops_;
    Issued issued_;  // New only: NewWithTime may collide
};

TEST(CoreStep, SnoTrace) {
    const Table table("sno_trace.tsv");
    SnoReplay replay;
    for (const Row& row : table) {
        SCOPED_TRACE(row.where());
        replay.row(row);
    }
    expect_count("sno_trace.tsv exact", replay.exact, 1643);
    expect_count("sno_trace.tsv marked: collides as documented", replay.documented, 30);
    expect_count("sno_trace.tsv marked: not repeated here", replay.avoided, 2);
    expect_count("sno_trace.tsv restored with the true sequence", replay.true_sequences, 2);
    expect_count("sno_trace.tsv", replay.exact + replay.documented + replay.avoided, 1675);
}

}  // namespace
}  // namespace snowflake_ids
