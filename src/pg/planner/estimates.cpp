// Row estimates for < <= >= > that compare ids with ids, times or (mastic) bigints.
//
// PostgreSQL's own estimators interpolate within a bin of the histogram for some built-in types only. For others they
// take half of the bin: with a year of ids, an hour would be estimated as half of four days.
//
// For "id >= a AND id < b" PostgreSQL combines the two estimates only if its own estimators made them; others are
// multiplied. So each estimate here is the fraction that passes, among the rows that pass the clauses before it in its
// AND:
//
//   S(c1) * S(c1 AND c2) / S(c1) * … = S(c1 AND c2 AND …)
//
// A clause that clause_place.cpp does not find, because it is no restriction of the relation yet, is estimated alone.
#include "pg/planner/statistics.hpp"

#include <utility>

#include "core/gid.hpp"
#include "core/time_order.hpp"
#include "pg/datum.hpp"
#include "pg/planner/clause_place.hpp"
#include "pg/types/id_cmp.hpp"

extern "C" {
#include "access/stratnum.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "optimizer/optimizer.h"
#include "utils/lsyscache.h"
#include "utils/typcache.h"
}

namespace snowflake_ids {

namespace {

// ---- ids and times as numbers

template <class Id>
Key key_of_bytes(Datum datum) {
    constexpr std::size_t after_8 = sizeof(Id) - 8;
    const Id& id = id_in<Id>(datum);
    return Key{load_be<8>(id.bytes)} << (8 * after_8) | load_be<after_8>(id.bytes + 8);
}

Key key_of_mastic(Datum datum) { return id_in<mastic::Id>(datum).number; }

template <class Id>
Key key_of_time(Datum datum) {
    constexpr unsigned bits_below_time = 8 * sizeof(Id) - timeline_of<Id>.bits;
    return Key{TimeAmong<Id>{unix_time(DatumGetTimestampTz(datum))}.next_tick()} << bits_below_time;
}

// Negative bigints are below every id.
Key key_of_bigint(Datum datum) {
    const int64 number = DatumGetInt64(datum);
    return number < 0 ? 0 : static_cast<uint64>(number);
}

// A type of ids, recognised by its comparison function, because its oid differs between databases.
struct IdType {
    PGFunction compare;
    // null if times or bigints are not in this order
    ToKey of_id, of_time, of_bigint;

    ToKey of(Oid type) const { return type == TIMESTAMPTZOID ? of_time : type == INT8OID ? of_bigint : of_id; }
};

constexpr IdType id_types[] = {
    {snowflake_ids_sno_cmp, key_of_bytes<sno::Id>, key_of_time<sno::Id>, nullptr},
    {snowflake_ids_mastic_cmp, key_of_mastic, key_of_time<mastic::Id>, key_of_bigint},
    {snowflake_ids_gid_cmp, key_of_bytes<gid::Id>, nullptr, nullptr},
};

// The type of ids in whose order an operator compares. `type` is null if it compares no ids: users can create such
// operators with this estimator.
struct Order {
    const IdType* type = nullptr;
    Oid family = InvalidOid;

    explicit Order(Oid opno) {
        Oid left, right;
        op_input_types(opno, &left, &right);
        const Oid id = left == TIMESTAMPTZOID || left == INT8OID ? right : left;
        if (!OidIsValid(id)) return;
        const TypeCacheEntry* known = lookup_type_cache(id, TYPECACHE_BTREE_OPFAMILY | TYPECACHE_CMP_PROC_FINFO);
        family = known->btree_opf;
        for (const IdType& t : id_types)
            if (known->cmp_proc_finfo.fn_addr == t.compare) type = &t;
    }
};

// Each side of a family's operator is an id, a time or (mastic) a bigint; only its input types show which.
struct Comparison {
    int strategy = 0;  // of btree, with the column on the left; 0: no < <= >= > of this order
    Oid column_type;
    ToKey column, other;

    Comparison(const Order& order, Oid opno, bool column_first) {
        if (order.type == nullptr) return;
        Oid left, right;
        op_input_types(opno, &left, &right);
        const int found = get_op_opfamily_strategy(opno, order.family);
        column = order.type->of(left);
        other = order.type->of(right);
        column_type = column_first ? left : right;
        if (!column_first) std::swap(column, other);
        if (found != 0 && found != BTEqualStrategyNumber && column != nullptr && other != nullptr)
            strategy = column_first ? found : BTMaxStrategyNumber + 1 - found;
    }
};

void add_comparison(Range& range, const Comparison& comparison, Node* other) {
    const bool lower = comparison.strategy >= BTGreaterEqualStrategyNumber;
    if (!IsA(other, Const)) return range.add_unknown(lower);
    const auto* known = reinterpret_cast<const Const*>(other);
    if (known->constisnull) return range.add(false, 0);  // no row passes
    const Key key = comparison.other(known->constvalue);
    // Lower bounds are inside, upper bounds outside, so "<= key" is "< the next key".
    const bool next =
        comparison.strategy == BTGreaterStrategyNumber || comparison.strategy == BTLessEqualStrategyNumber;
    range.add(lower, next && key != ~Key{0} ? key + 1 : key);
}

// ---- the clauses before the estimated one

Node* without_relabel(Node* node) {
    while (node != nullptr && IsA(node, RelabelType))
        node = reinterpret_cast<Node*>(reinterpret_cast<RelabelType*>(node)->arg);
    return node;
}

// Limits the work for a long AND, because each clause looks at those before it.
constexpr int clauses_before = 50;

void add_clauses_before(PlannerInfo* root, const ClausePlace& place, Node* column, const Order& order, Range& range) {
    for (int i = place.position - 1; i >= 0 && i >= place.position - clauses_before; i--) {
        const OpExpr* op = binary_clause(static_cast<Node*>(list_nth(place.clauses, i)));
        if (op == nullptr) continue;
        Node* first = static_cast<Node*>(linitial(op->args));
        Node* second = static_cast<Node*>(lsecond(op->args));
        const bool column_first = equal(without_relabel(first), column);
        if (!column_first && !equal(without_relabel(second), column)) continue;
        const Comparison comparison(order, op->opno, column_first);
        if (comparison.strategy != 0)
            add_comparison(range, comparison, estimate_expression_value(root, column_first ? second : first));
    }
}

}  // namespace

FUNCTION(snowflake_ids_id_ineqsel) {
    auto* root = reinterpret_cast<PlannerInfo*>(PG_GETARG_POINTER(0));
    const Oid opno = PG_GETARG_OID(1);
    auto* arguments = reinterpret_cast<List*>(PG_GETARG_POINTER(2));
    CHECK_FOR_INTERRUPTS();  // a query can have thousands of clauses
    VariableStatData variable;
    Node* other;
    bool column_first;
    if (!get_restriction_variable(root, arguments, PG_GETARG_INT32(3), &variable, &other, &column_first))
        PG_RETURN_FLOAT8(DEFAULT_INEQ_SEL);
    const Order order(opno);
    const Comparison comparison(order, opno, column_first);
    if (comparison.strategy == 0) {
        ReleaseVariableStats(variable);
        PG_RETURN_FLOAT8(DEFAULT_INEQ_SEL);
    }
    Range range;
    if (variable.rel != nullptr) {
        const ClausePlace place = place_of_clause(variable.rel, arguments);
        add_clauses_before(root, place, without_relabel(variable.var), order, range);
    }
    Statistics statistics(root, variable, comparison.column_type, comparison.column, get_opcode(opno));
    const double before = statistics.fraction(range);
    add_comparison(range, comparison, other);
    const double after = statistics.fraction(range);
    statistics.release();
    ReleaseVariableStats(variable);
    double result = before > 0 ? after / before : 0;
    CLAMP_PROBABILITY(result);
    PG_RETURN_FLOAT8(result);
}

}  // namespace snowflake_ids
