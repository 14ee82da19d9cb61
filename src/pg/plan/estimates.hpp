// What ANALYZE knows about a column of ids, and the fraction of its rows that pass some comparisons. For row
// estimates: see estimates.cpp.
#pragma once

#include "core/gid.hpp"
#include "core/order.hpp"
#include "core/sno.hpp"
#include "core/window.hpp"
#include "pg/pg.hpp"
#include "pg/plan/index_end.hpp"
#include "pg/plan/time_predicate.hpp"

extern "C" {
#include "access/htup_details.h"
#include "catalog/pg_statistic.h"
#include "catalog/pg_type.h"
#include "utils/lsyscache.h"
#include "utils/selfuncs.h"
#include "utils/typcache.h"
}

namespace snowflake_ids {

// The order of ids that an operator belongs to.
struct Order {
    Oid type;
    Oid family;
    Oid function;  // of the operator

    explicit Order(Oid opno) {
        Oid left, right;
        op_input_types(opno, &left, &right);
        type = left == TIMESTAMPTZOID ? right : left;
        // Anyone may create an operator with these estimators, also for other types or with one argument.
        family = OidIsValid(type) ? lookup_type_cache(type, TYPECACHE_BTREE_OPFAMILY)->btree_opf : InvalidOid;
        function = get_opcode(opno);
    }

    // The order of a built-in type, such as uuid. Its operators have the server's estimators, so the order is not
    // found by an operator of ours, but in the type's btree family.
    static Order of_type(Oid type) {
        const TypeCacheEntry* known = lookup_type_cache(type, TYPECACHE_BTREE_OPFAMILY);
        return Order(get_opfamily_member(known->btree_opf, type, type, static_cast<int16>(Comparison::less)));
    }

    // False if the operator is none of < <= >= > between two ids.
    bool comparison(Oid opno, Comparison& out) const {
        const int strategy = get_op_opfamily_strategy(opno, family);
        out = static_cast<Comparison>(strategy);
        return strategy == 1 || strategy == 2 || strategy == 4 || strategy == 5;
    }
};

// The ids of a column that pass some AND-ed comparisons.
template <class Id>
struct Left {
    bool has_lower = false, has_upper = false;
    bool has_unknown_lower = false, has_unknown_upper = false;
    bool nothing = false;   // compared with NULL
    bool compared = false;  // by any clause: then NULLs do not pass
    bool lower_included = false, upper_included = false;
    Id lower{}, upper{};

    void add(Comparison comparison, Node* other) {
        compared = true;
        if (!IsA(other, Const))
            (is_lower(comparison) ? has_unknown_lower : has_unknown_upper) = true;
        else if (reinterpret_cast<const Const*>(other)->constisnull)
            nothing = true;
        else
            add(comparison, id_in<Id>(reinterpret_cast<const Const*>(other)->constvalue));
    }

    void add(Comparison comparison, const Id& id) {
        const bool included = comparison == Comparison::less_equal || comparison == Comparison::greater_equal;
        if (is_lower(comparison)) {
            const int c = has_lower ? compare(id, lower) : 1;
            if (c >= 0) lower_included = included && (c > 0 || lower_included);
            if (c > 0) lower = id;
            has_lower = true;
        } else {
            const int c = has_upper ? compare(id, upper) : -1;
            if (c <= 0) upper_included = included && (c < 0 || upper_included);
            if (c < 0) upper = id;
            has_upper = true;
        }
    }

    void add(const TimeSpan<Id>& span) {
        compared = true;
        if (!span.known) {
            has_unknown_lower |= span.has_lower;
            has_unknown_upper |= span.has_upper;
        } else if (span.window.empty()) {
            nothing = true;
        } else {
            if (span.has_lower) add(Comparison::greater_equal, span.window.first);
            if (span.has_upper) add(Comparison::less_equal, span.window.last);
        }
    }

    bool known() const { return !has_unknown_lower && !has_unknown_upper; }
    bool lower_bounded() const { return has_lower || has_unknown_lower; }
    bool upper_bounded() const { return has_upper || has_unknown_upper; }
    bool contains(const Id& id) const {
        const int l = has_lower ? compare(id, lower) : 1, u = has_upper ? compare(id, upper) : -1;
        return (l > 0 || (l == 0 && lower_included)) && (u < 0 || (u == 0 && upper_included));
    }
    bool empty() const {
        if (!has_lower || !has_upper) return nothing;
        const int c = compare(lower, upper);
        return nothing || c > 0 || (c == 0 && !(lower_included && upper_included));
    }

    double unknown_fraction() const {
        if (nothing) return 0;
        if (lower_bounded() && upper_bounded()) return DEFAULT_RANGE_INEQ_SEL;
        return lower_bounded() || upper_bounded() ? DEFAULT_INEQ_SEL : 1;
    }
};

// What ANALYZE knows about a column. Valid until the variable's statistics are released.
template <class Id>
class Statistics {
public:
    Statistics(PlannerInfo* root, VariableStatData& variable, const Order& order)
        : root_(root), variable_(variable), family_(order.family) {
        if (!HeapTupleIsValid(variable.statsTuple) || !statistic_proc_security_check(&variable, order.function)) return;
        const auto* row = reinterpret_cast<Form_pg_statistic>(GETSTRUCT(variable.statsTuple));
        nulls_ = row->stanullfrac;
        get(variable, order, STATISTIC_KIND_MCV, ATTSTATSSLOT_VALUES | ATTSTATSSLOT_NUMBERS, common_);
        get(variable, order, STATISTIC_KIND_HISTOGRAM, ATTSTATSSLOT_VALUES, histogram_);
        for (int i = 0; i < common_.nnumbers; i++) common_rows_ += common_.numbers[i];
        // A column with only NULLs has neither, and needs none.
        exists_ = common_.nvalues > 0 || histogram_.nvalues > 1 || nulls_ >= 1;
    }

    // The fraction of the remaining rows for which `is` is true, estimated from the values that ANALYZE kept.
    template <class Is>
    double fraction_that(const Left<Id>& left, Is is) const {
        double all = 0, those = 0;
        const auto count = [&](const Id& x, double rows) {
            if (!left.contains(x)) return;
            all += rows;
            if (is(x)) those += rows;
        };
        for (int i = 0; i < common_.nvalues; i++) count(id(common_, i), common_.numbers[i]);
        for (int i = 0; i < histogram_.nvalues; i++)
            count(id(histogram_, i), (1 - nulls_ - common_rows_) / histogram_.nvalues);
        return all > 0 ? those / all : 1;
    }

    void release() {
        free_attstatsslot(&common_);
        free_attstatsslot(&histogram_);
    }

    double fraction(const Left<Id>& left) {
        if (!left.compared) return 1;
        if (!exists_ || !left.known()) return left.unknown_fraction();
        if (left.empty()) return 0;
        double sum = 0;
        for (int i = 0; i < common_.nvalues; i++)
            if (left.contains(id(common_, i))) sum += common_.numbers[i];
        double rest = 1 - nulls_ - common_rows_;
        if (rest < 0) rest = 0;
        sum += rest * (histogram_.nvalues > 1 ? of_histogram(left) : left.unknown_fraction());
        CLAMP_PROBABILITY(sum);
        return sum;
    }

private:
    static void get(const VariableStatData& variable, const Order& order, int kind, int flags, AttStatsSlot& slot) {
        if (get_attstatsslot(&slot, variable.statsTuple, kind, InvalidOid, flags) &&
            (getBaseType(slot.valuetype) != order.type ||
             (kind == STATISTIC_KIND_MCV && slot.nnumbers != slot.nvalues))) {
            free_attstatsslot(&slot);
            slot = {};
        }
    }

    static decltype(auto) id(const AttStatsSlot& slot, int i) { return id_in<Id>(slot.values[i]); }

    bool is_late(const Id& x) const { return compare(x, id(histogram_, histogram_.nvalues - 2)) > 0; }

    // The fraction of the rows that are below an id, of those in the histogram and beyond it.
    double below(const Id& x) {
        const int bins = histogram_.nvalues - 1;
        int low = 0, high = bins;  // id(low) <= x < id(high), once x is known to be inside
        if (compare(x, id(histogram_, low)) <= 0) return 0;
        if (compare(x, id(histogram_, high)) >= 0) {
            const double way =
                beyond_ > 0 ? distance(id(histogram_, high), x) / distance(id(histogram_, high), end_) : 1;
            return way < 1 && compare(x, end_) < 0 ? 1 - beyond_ * (1 - way) : 1;
        }
        while (high - low > 1) {
            const int middle = (low + high) / 2;
            (compare(x, id(histogram_, middle)) < 0 ? high : low) = middle;
        }
        const double width = distance(id(histogram_, low), id(histogram_, high));
        return (1 - beyond_) * (low + distance(id(histogram_, low), x) / width) / bins;
    }

    // Looks for rows newer than the histogram: the largest id now, and the fraction of rows beyond the histogram. That
    // fraction is the table's growth. VACUUM counts the rows, so growth before it is not seen. Then the fraction is
    // the one of the server's own estimators: the last bin is stretched to the largest id.
    void look_beyond() {
        if (looked_) return;
        looked_ = true;
        const Id &last = id(histogram_, histogram_.nvalues - 1), &before = id(histogram_, histogram_.nvalues - 2);
        Id end;
        if (!largest_in_index(root_, variable_, family_, &end, sizeof end) || compare(end, last) <= 0) return;
        end_ = end;
        beyond_ = distance(last, end) / distance(before, end) / (histogram_.nvalues - 1);
        const double growth = growth_since_statistics(root_, variable_);
        if (growth > beyond_) beyond_ = growth;
    }

    double of_histogram(const Left<Id>& left) {
        // Before below() is called for either end, so that both use the same end_.
        if ((left.has_lower && is_late(left.lower)) || (left.has_upper && is_late(left.upper))) look_beyond();
        double part = (left.has_upper ? below(left.upper) : 1) - (left.has_lower ? below(left.lower) : 0);
        // Rows may have come since ANALYZE, beyond the histogram. So a range that is not inside it gets at least a
        // hundredth of a bin, as in the server. A range inside it has no minimum.
        const bool inside = left.has_lower && left.has_upper && below(left.upper) > 0 && below(left.lower) < 1;
        const double least = inside ? 0 : 0.01 / (histogram_.nvalues - 1);
        if (part < least) part = least;
        return part;
    }

    PlannerInfo* root_;
    VariableStatData& variable_;
    Oid family_;
    bool looked_ = false;
    double beyond_ = 0;  // fraction of the rows between the histogram and end_
    Id end_{};
    AttStatsSlot common_{}, histogram_{};
    double nulls_ = 0, common_rows_ = 0;
    bool exists_ = false;
};

}  // namespace snowflake_ids
