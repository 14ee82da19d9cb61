// The fraction of a column's rows in a range, from the common values and the histogram of ANALYZE, and from newer rows.
#pragma once

#include "pg/pg.hpp"

extern "C" {
#include "access/htup_details.h"
#include "catalog/pg_class.h"
#include "catalog/pg_statistic.h"
#include "nodes/pathnodes.h"
#include "parser/parsetree.h"
#include "utils/lsyscache.h"
#include "utils/selfuncs.h"
#include "utils/syscache.h"
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

    // True if a bound was added, so that rows with NULL in the column do not pass.
    bool compared() const { return above || below; }
    bool contains(Key key) const { return lower <= key && key < upper; }
    bool empty() const { return upper <= lower; }

    // What PostgreSQL assumes if a bound or the statistics are unknown.
    double default_fraction() const {
        if (below && above) return DEFAULT_RANGE_INEQ_SEL;
        return below || above ? DEFAULT_INEQ_SEL : 1;
    }
};

// 0 to 1. `value` lies between `from` and `to`, which must differ.
inline double part_of_way(Key from, Key value, Key to) {
    return static_cast<double>(value - from) / static_cast<double>(to - from);
}

struct Seen {
    ToKey key;
    Key last;
};

inline Datum keep_and_pass(PG_FUNCTION_ARGS) {
    auto* seen = static_cast<Seen*>(fcinfo->flinfo->fn_extra);
    seen->last = seen->key(PG_GETARG_DATUM(0));
    PG_RETURN_BOOL(true);
}

// What ANALYZE knows about a column. Invalid once the statistics of `variable` are released.
class Statistics {
public:
    // `key` makes numbers of values of this type. If `compared_by`, the function of the operator, could show values to
    // users who may not see them, the statistics are not read.
    Statistics(PlannerInfo* root, VariableStatData& variable, Oid type, ToKey key, Oid compared_by)
        : root_(root), variable_(variable), type_(type), key_(key) {
        if (!HeapTupleIsValid(variable.statsTuple) || !statistic_proc_security_check(&variable, compared_by)) return;
        nulls_ = reinterpret_cast<Form_pg_statistic>(GETSTRUCT(variable.statsTuple))->stanullfrac;
        get(STATISTIC_KIND_MCV, ATTSTATSSLOT_VALUES | ATTSTATSSLOT_NUMBERS, common_);
        get(STATISTIC_KIND_HISTOGRAM, ATTSTATSSLOT_VALUES, histogram_);
        for (int i = 0; i < common_.nnumbers; i++) common_rows_ += common_.numbers[i];
        // A column with only NULLs has neither, but the fraction of its rows in a range is known.
        exists_ = common_.nvalues > 0 || histogram_.nvalues > 1 || nulls_ >= 1;
    }

    // The fraction of all rows that are in the range; PostgreSQL's default without statistics.
    // Rows that are not NULL are either common values, counted one by one, or in the histogram.
    double fraction(const Range& range) {
        if (!range.compared()) return 1;
        if (range.empty()) return 0;
        if (!exists_ || range.unknown) return range.default_fraction();
        double sum = 0;
        for (int i = 0; i < common_.nvalues; i++)
            if (range.contains(key(common_, i))) sum += common_.numbers[i];
        const double other_rows = Max(1 - nulls_ - common_rows_, 0.0);
        sum += other_rows * (histogram_.nvalues > 1 ? of_histogram(range) : range.default_fraction());
        CLAMP_PROBABILITY(sum);
        return sum;
    }

    void release() {
        free_attstatsslot(&common_);
        free_attstatsslot(&histogram_);
    }

private:
    void get(int kind, int flags, AttStatsSlot& slot) {
        if (get_attstatsslot(&slot, variable_.statsTuple, kind, InvalidOid, flags) &&
            (getBaseType(slot.valuetype) != type_ || (kind == STATISTIC_KIND_MCV && slot.nnumbers != slot.nvalues))) {
            free_attstatsslot(&slot);
            slot = {};
        }
    }

    Key key(const AttStatsSlot& slot, int i) const { return key_(slot.values[i]); }
    Key last() const { return key(histogram_, histogram_.nvalues - 1); }
    Key before_last() const { return key(histogram_, histogram_.nvalues - 2); }

    // The fraction below `k` of the rows in the histogram and beyond it.
    double histogram_below(Key k) const {
        const int bins = histogram_.nvalues - 1;
        int low = 0, high = bins;  // in the loop, key(low) <= k < key(high)
        if (k <= key(histogram_, low)) return 0;
        if (k >= last()) return beyond_ > 0 && k < end_ ? 1 - beyond_ * (1 - part_of_way(last(), k, end_)) : 1;
        while (high - low > 1) {
            const int middle = (low + high) / 2;
            (k < key(histogram_, middle) ? high : low) = middle;
        }
        return (1 - beyond_) * (low + part_of_way(key(histogram_, low), k, key(histogram_, high))) / bins;
    }

    // The largest value in an index, or else in the histogram. PostgreSQL looks into the index when its search in the
    // histogram comes to the last value, and compares the index's value instead. Each value passes, so the search comes
    // to the last one.
    Key largest() const {
        Seen seen{key_, 0};
        FmgrInfo compare{};
        compare.fn_addr = keep_and_pass;
        compare.fn_oid = get_opcode(histogram_.staop);
        compare.fn_nargs = 2;
        compare.fn_extra = &seen;
        ineq_histogram_selectivity(root_, &variable_, histogram_.staop, &compare, false, false, InvalidOid, Datum{0},
                                   type_);
        return seen.last;
    }

    // The fraction of the table's rows added since ANALYZE or VACUUM counted them; 0 if unknown. The planner derives
    // rel->tuples from the present size, and pg_class has the rows at the last count. An index has shown that this is a
    // table.
    double growth() const {
        const RangeTblEntry* table = planner_rt_fetch(variable_.rel->relid, root_);
        const HeapTuple row = SearchSysCache1(RELOID, ObjectIdGetDatum(table->relid));
        if (!HeapTupleIsValid(row)) return 0;
        const double counted = reinterpret_cast<Form_pg_class>(GETSTRUCT(row))->reltuples;
        ReleaseSysCache(row);
        return counted > 0 && counted < variable_.rel->tuples ? 1 - counted / variable_.rel->tuples : 0;
    }

    // The fraction of rows newer than the histogram is growth(). That lacks rows from before the last VACUUM, because
    // VACUUM counts rows too. So take at least PostgreSQL's estimate, which stretches the last bin to the largest
    // value.
    void look_beyond() {
        if (looked_) return;
        looked_ = true;
        end_ = largest();
        if (end_ <= last()) return;
        beyond_ = (1 - part_of_way(before_last(), last(), end_)) / (histogram_.nvalues - 1);
        beyond_ = Max(beyond_, growth());
    }

    double of_histogram(const Range& range) {
        // Look before either histogram_below(), so that both use the same end_.
        if ((range.above && range.lower > before_last()) || (range.below && range.upper > before_last())) look_beyond();
        double part =
            (range.below ? histogram_below(range.upper) : 1) - (range.above ? histogram_below(range.lower) : 0);
        // As in PostgreSQL, a range that is not wholly inside the histogram gets at least a hundredth of a bin.
        const bool inside =
            range.above && range.below && histogram_below(range.upper) > 0 && histogram_below(range.lower) < 1;
        const double least = inside ? 0 : 0.01 / (histogram_.nvalues - 1);
        return part < least ? least : part;
    }

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
