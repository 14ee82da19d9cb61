// A mastic next to a bigint: comparison as numbers, and the condition for an index on the bigint. A negative bigint is
// below every id, and an id from 2^63 on is above every bigint.
#include "pg/types/id_type.hpp"

extern "C" {
#include "access/stratnum.h"
#include "catalog/pg_am.h"
#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "nodes/pathnodes.h"
#include "nodes/supportnodes.h"
#include "optimizer/optimizer.h"
#include "parser/parse_func.h"
#include "utils/lsyscache.h"
#include "utils/typcache.h"
}

namespace snowflake_ids {

using mastic::Id;

// ---- comparison

namespace {

int compare_bigint(const Id& id, int64 number) {
    return number < 0 ? 1 : compare(id, Id{static_cast<std::uint64_t>(number)});
}

}  // namespace

COMPARE_FUNCTIONS(mastic, _bigint, compare_bigint(id_argument<Id>(fcinfo, 0), PG_GETARG_INT64(1)))
COMPARE_FUNCTIONS(bigint, _mastic, -compare_bigint(id_argument<Id>(fcinfo, 1), PG_GETARG_INT64(0)))

// ---- an index on the bigint

// mastic_index_bound(id, strategy): the bound for an index on b, a bigint on the left. b < id becomes b <= id - 1, and
// b >= id becomes b > id - 1. So 2^63 - 1 is right for every greater id.
FUNCTION(snowflake_ids_mastic_index_bound) {
    const std::uint64_t number = id_argument<Id>(fcinfo, 0).number;
    const int32 strategy = PG_GETARG_INT32(1);
    const bool is_greater = number > static_cast<std::uint64_t>(PG_INT64_MAX);  // than every bigint
    if (is_greater && strategy == BTEqualStrategyNumber) PG_RETURN_NULL();
    const bool before = strategy == BTLessStrategyNumber || strategy == BTGreaterEqualStrategyNumber;
    PG_RETURN_INT64(is_greater ? PG_INT64_MAX : static_cast<int64>(number) - (before ? 1 : 0));
}

namespace {

// The btree strategy with the bigint on the left; 0 for <>.
int strategy_with_bigint_first(Oid opno, int bigint_argument) {
    Oid bigint, mastic;
    if (bigint_argument != 0) opno = get_commutator(opno);
    op_input_types(opno, &bigint, &mastic);
    return get_op_opfamily_strategy(opno, lookup_type_cache(mastic, TYPECACHE_BTREE_OPFAMILY)->btree_opf);
}

// The operator that compares with mastic_index_bound(); InvalidOid if the index has none.
Oid index_operator_for_bound(const IndexOptInfo* index, Oid family, int strategy) {
    const int of_bound = strategy == BTLessStrategyNumber           ? BTLessEqualStrategyNumber
                         : strategy == BTGreaterEqualStrategyNumber ? BTGreaterStrategyNumber
                                                                    : strategy;
    if (index->relam == HASH_AM_OID)
        return strategy == BTEqualStrategyNumber ? get_opfamily_member(family, INT8OID, INT8OID, HTEqualStrategyNumber)
                                                 : InvalidOid;
    if (index->relam != BTREE_AM_OID && index->relam != BRIN_AM_OID) return InvalidOid;
    return get_opfamily_member(family, INT8OID, INT8OID, static_cast<int16>(of_bound));
}

}  // namespace

FUNCTION(snowflake_ids_mastic_bigint_support) {
    Node* node = reinterpret_cast<Node*>(PG_GETARG_POINTER(0));
    if (!IsA(node, SupportRequestIndexCondition)) return Datum{0};
    auto* request = reinterpret_cast<SupportRequestIndexCondition*>(node);
    if (!IsA(request->node, OpExpr)) return Datum{0};
    const auto* op = reinterpret_cast<OpExpr*>(request->node);
    if (list_length(op->args) != 2) return Datum{0};
    auto* column = static_cast<Node*>(list_nth(op->args, request->indexarg));
    auto* id = static_cast<Node*>(list_nth(op->args, 1 - request->indexarg));
    if (getBaseType(exprType(column)) != INT8OID || !is_pseudo_constant_for_index(request->root, id, request->index))
        return Datum{0};
    const int strategy = strategy_with_bigint_first(op->opno, request->indexarg);
    const Oid of_index =
        strategy == 0 ? InvalidOid : index_operator_for_bound(request->index, request->opfamily, strategy);
    if (!OidIsValid(of_index)) return Datum{0};
    // mastic_index_bound() is in the schema of the operator's function.
    Oid types[] = {exprType(id), INT4OID};
    List* name = list_make2(makeString(get_namespace_name(get_func_namespace(request->funcid))),
                            makeString(pstrdup("mastic_index_bound")));
    const Oid bound_of = LookupFuncName(name, 2, types, true);
    if (!OidIsValid(bound_of)) return Datum{0};
    Const* given = makeConst(INT4OID, -1, InvalidOid, sizeof(int32), Int32GetDatum(strategy), false, true);
    auto* call = makeFuncExpr(bound_of, INT8OID, list_make2(id, given), InvalidOid, InvalidOid, COERCE_EXPLICIT_CALL);
    Node* bound = eval_const_expressions(request->root, reinterpret_cast<Node*>(call));
    request->lossy = false;
    PG_RETURN_POINTER(list_make1(make_opclause(of_index, BOOLOID, false, reinterpret_cast<Expr*>(column),
                                               reinterpret_cast<Expr*>(bound), InvalidOid, InvalidOid)));
}

}  // namespace snowflake_ids
