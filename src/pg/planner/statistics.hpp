// The room that helps the planner. It receives a comparison of an id column with a time or an id, and returns the
// fraction of rows that match. Without this room, all queries return the same rows, but some have worse plans. Read
// next: estimates.cpp.
//
// This file reads what ANALYZE knows about a column of ids, and computes the fraction of its rows that are in a range.
// estimates.cpp makes row estimates of this fraction.
#pragma once

#include "pg/pg.hpp"
#include "pg/planner/index_end.hpp"

extern "C" {
#include "utils/lsyscache.h"
#include "utils/selfuncs.h"
}

namespace snowflake_ids {

// The keys that pass some AND-ed comparisons of a column: from `lower` on, and below `upper`.
struct Range {
    bool has_lower = false, has_upper = false;
    // There is a bound whose value is not known.
    bool has_unknown_lower = false, has_unknown_upper = false;
    bool with_null = false;  // there is a comparison with NULL, which no row passes
    bool compared = false;   // there is a comparison, so rows with NULL in the column do not pass
    Key lower = 0, upper = ~Key{0};

    // Adds a bound. It changes the range only if it is narrower than the present bound.
    void add(bool is_lower, Key key) {
        compared = true;
        if (is_lower) {
            has_lower = true;
            if (key > lower) lower = key;
        } else {
            has_upper = true;
            if (key < upper) upper = key;
        }
    }
    void add_unknown(bool is_lower) {
        compared = true;
        (is_lower ? has_unknown_lower : has_unknown_upper) = true;
    }
    void add_null() { compared = with_null = true; }

    // True if the values of all bounds are known.
    bool known() const { return !has_unknown_lower && !has_unknown_upper; }
    bool contains(Key key) const { return lower <= key && (!has_upper || key < upper); }
    bool empty() const { return with_null || (has_upper && upper <= lower); }

    // The fraction of rows that PostgreSQL assumes for such a range if a bound or the statistics are unknown.
    double default_fraction() const {
        if (with_null) return 0;
        const bool below = has_upper || has_unknown_upper, above = has_lower || has_unknown_lower;
        if (below && above) return DEFAULT_RANGE_INEQ_SEL;
        return below || above ? DEFAULT_INEQ_SEL : 1;
    }
};

// What ANALYZE knows about a column. It must not be used after the statistics of `variable` are released.
class Statistics {
public:
    // Reads the statistics. `type` is the type of the column, and `key` makes numbers of its values. `compared_by` is
    // the function of the operator that is estimated: if it could show values to users who may not see them, the
    // statistics are not read.
    Statistics(PlannerInfo* root, VariableStatData& variable, Oid type, ToKey key, Oid compared_by);

    // The fraction of all rows that are in a range. Without statistics, it is PostgreSQL's default.
    double fraction(const Range& range);
    // Releases what the constructor has read.
    void release();

private:
    void get(int kind, int flags, AttStatsSlot& slot);
    Key key(const AttStatsSlot& slot, int i) const { return key_(slot.values[i]); }
    Key last() const { return key(histogram_, histogram_.nvalues - 1); }
    Key before_last() const { return key(histogram_, histogram_.nvalues - 2); }
    double below(Key key) const;
    void look_beyond();
    double of_histogram(const Range& range);

    PlannerInfo* root_;
    VariableStatData& variable_;
    Oid type_;
    ToKey key_;
    bool looked_ = false;  // look_beyond() was called
    double beyond_ = 0;    // the fraction of the rows between the end of the histogram and end_
    Key end_ = 0;          // the largest value in an index; valid if beyond_ is not 0
    AttStatsSlot common_{}, histogram_{};
    double nulls_ = 0, common_rows_ = 0;  // the fractions of rows that are NULL, and that are common values
    bool exists_ = false;                 // there are statistics
};

}  // namespace snowflake_ids
