// Which fraction of rows passes a comparison of an id column.
#pragma once

#include "pg/pg.hpp"

extern "C" {
#include "nodes/pathnodes.h"
#include "utils/lsyscache.h"
#include "utils/selfuncs.h"
}

namespace snowflake_ids {

// A value of a column as a number, in the same order.
using Key = unsigned __int128;
using ToKey = Key (*)(Datum);

// Keys from `lower` on and below `upper`.
struct Range {
    bool above = false, below = false;  // some bound of this side was added
    bool unknown = false;               // one of them is no constant
    Key lower = 0, upper = ~Key{0};

    void add(bool is_lower, Key key) {
        (is_lower ? above : below) = true;
        if (is_lower)
            lower = Max(lower, key);
        else
            upper = Min(upper, key);
    }
    void add_unknown(bool is_lower) { (is_lower ? above : below) = unknown = true; }

    // So rows with NULL in the column do not pass.
    bool compared() const { return above || below; }
    bool contains(Key key) const { return lower <= key && key < upper; }
    bool empty() const { return upper <= lower; }

    // What PostgreSQL assumes if a bound or the statistics are unknown.
    double default_fraction() const {
        if (below && above) return DEFAULT_RANGE_INEQ_SEL;
        return below || above ? DEFAULT_INEQ_SEL : 1;
    }
};

// What ANALYZE knows about a column. Invalid once the statistics of `variable` are released.
class Statistics {
public:
    // `key` makes numbers of values of this type. If `compared_by`, the function of the operator, could show values to
    // users who may not see them, the statistics are not read.
    Statistics(PlannerInfo* root, VariableStatData& variable, Oid type, ToKey key, Oid compared_by);

    // Of all rows. Without statistics, PostgreSQL's default.
    double fraction(const Range& range);
    void release();

private:
    void get(int kind, int flags, AttStatsSlot& slot);
    Key key(const AttStatsSlot& slot, int i) const { return key_(slot.values[i]); }
    Key last() const { return key(histogram_, histogram_.nvalues - 1); }
    Key before_last() const { return key(histogram_, histogram_.nvalues - 2); }
    double below(Key key) const;
    Key largest() const;
    double growth() const;
    void look_beyond();
    double of_histogram(const Range& range);

    PlannerInfo* root_;
    VariableStatData& variable_;
    Oid type_;
    ToKey key_;
    bool looked_ = false;
    double beyond_ = 0;  // the fraction of the rows beyond the histogram
    Key end_ = 0;        // the largest value; valid if beyond_ is not 0
    AttStatsSlot common_{}, histogram_{};
    double nulls_ = 0, common_rows_ = 0;  // fractions of rows
    bool exists_ = false;
};

}  // namespace snowflake_ids
