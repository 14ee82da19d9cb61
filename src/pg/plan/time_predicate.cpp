// What the time predicates of all formats share: the times of ranges, and the answers to the planner.
#include "pg/plan/time_predicate.hpp"

#include <cstring>

extern "C" {
#include "access/htup_details.h"
#include "catalog/pg_class.h"
#include "catalog/pg_collation.h"
#include "catalog/pg_operator.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/appendinfo.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "parser/parsetree.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"
#include "utils/typcache.h"
}

namespace snowflake_ids {

namespace {

RangeEnds range_ends(TypeCacheEntry* type, const RangeType* range) {
    RangeBound lower, upper;
    bool empty;
    range_deserialize(type, range, &lower, &upper, &empty);
    return {empty,
            !empty && !lower.infinite,
            !empty && !upper.infinite,
            lower.inclusive ? Comparison::greater_equal : Comparison::greater,
            upper.inclusive ? Comparison::less_equal : Comparison::less,
            unix_us(DatumGetTimestampTz(lower.val)),
            unix_us(DatumGetTimestampTz(upper.val))};
}

// The type of the id in id <@ range, as the function is declared. Estimators call the function without an expression,
// so there is no actual type.
Oid declared_id_type(FunctionCallInfo fcinfo) {
    Oid* types;
    int count;
    get_func_signature(fcinfo->flinfo->fn_oid, &types, &count);
    const Oid type = types[0];
    pfree(types);
    return type;
}

// The last range of times at a call site, and its bytes: with its type, without its length.
struct KnownRange {
    TypeCacheEntry* type;  // the type that was last looked up
    Times times;
    std::size_t length;  // 0: no range yet
    char bytes[32];      // a tstzrange has 21
};

// The times of the range in argument `n`; null if its elements are not timestamptz. `known` is the cache of this call
// site. After the call, known->type is the type of this range, if the result is null.
const Times* times_of_range(FunctionCallInfo fcinfo, int n, KnownRange*& known) {
    FmgrInfo* site = fcinfo->flinfo;
    if (site->fn_extra == nullptr) site->fn_extra = MemoryContextAllocZero(site->fn_mcxt, sizeof(KnownRange));
    known = static_cast<KnownRange*>(site->fn_extra);
    const struct varlena* packed = PG_DETOAST_DATUM_PACKED(PG_GETARG_DATUM(n));
    const std::size_t length = VARSIZE_ANY_EXHDR(packed);
    if (length == known->length && std::memcmp(known->bytes, VARDATA_ANY(packed), length) == 0) return &known->times;
    const RangeType* range = PG_GETARG_RANGE_P(n);
    const Oid type = RangeTypeGetOid(range);
    if (known->type == nullptr || known->type->type_id != type)
        known->type = lookup_type_cache(type, TYPECACHE_RANGE_INFO);
    known->length = 0;
    if (known->type->rngelemtype == nullptr || known->type->rngelemtype->type_id != TIMESTAMPTZOID) return nullptr;
    known->times = times_of(range_ends(known->type, range));
    if (length <= sizeof known->bytes) {
        known->length = length;
        std::memcpy(known->bytes, VARDATA_ANY(packed), length);
    }
    return &known->times;
}

}  // namespace

Times times_of(const RangeEnds& ends) {
    if (ends.empty) return Times::none();
    Times times;
    if (ends.has_lower) times = Times::that_are(ends.lower, ends.lower_us);
    return ends.has_upper ? times.and_also(Times::that_are(ends.upper, ends.upper_us)) : times;
}

RangeEnds range_ends(const RangeType* range) {
    return range_ends(lookup_type_cache(RangeTypeGetOid(range), TYPECACHE_RANGE_INFO), range);
}

Times range_argument(FunctionCallInfo fcinfo, int n) {
    KnownRange* known;
    const Times* times = times_of_range(fcinfo, n, known);
    return times != nullptr ? *times : Times::none();
}

// Compares a range of timestamptz with `us`, the time of the id; a range of ids with the id itself, as the server's own
// <@ does, which our operator hides. Any other range is an error.
bool range_contains(FunctionCallInfo fcinfo, int64 us) {
    KnownRange* known;
    const Times* times = times_of_range(fcinfo, 1, known);
    if (times != nullptr) return within(*times, us);
    const RangeType* range = PG_GETARG_RANGE_P(1);
    if (known->type->rngelemtype == nullptr) elog(ERROR, "type %u is not a range type", known->type->type_id);
    if (getBaseType(known->type->rngelemtype->type_id) == declared_id_type(fcinfo))
        return range_contains_elem_internal(known->type, range, PG_GETARG_DATUM(0));
    ereport(ERROR, (errcode(ERRCODE_DATATYPE_MISMATCH),
                    errmsg("an id is never contained in a range of type %s", format_type_be(RangeTypeGetOid(range))),
                    errhint("Compare it with a tstzrange.")));
}

namespace {

// The planner may simplify an expression twice. A predicate that already has its comparison for pruning must not get a
// second one, so its id gets a mark: a RelabelType to its own type, with a type modifier that no id has. Nothing else
// reads that.
constexpr int32 compared_mark = 0x73666964;

// For a function call the mark is a collation instead, because EXPLAIN would show the cast of its argument. No
// argument here has a collation.
constexpr Oid marking_collation = C_COLLATION_OID;

Node* marked_as_compared(Node* id) {
    RelabelType* mark = makeRelabelType(reinterpret_cast<Expr*>(id), exprType(id), compared_mark, exprCollation(id),
                                        COERCE_IMPLICIT_CAST);
    return reinterpret_cast<Node*>(mark);
}

bool is_marked_as_compared(const Node* id) {
    return IsA(id, RelabelType) && reinterpret_cast<const RelabelType*>(id)->resulttypmod == compared_mark;
}

}  // namespace

Expr* marked_call(const TimeCall& call) {
    auto* arguments = static_cast<List*>(copyObjectImpl(call.arguments));
    return reinterpret_cast<Expr*>(
        makeFuncExpr(call.function, BOOLOID, arguments, InvalidOid, marking_collation, COERCE_EXPLICIT_CALL));
}

Node* without_domain(Node* range) {
    const Oid type = exprType(range);
    if (type == TSTZRANGEOID || getBaseType(type) != TSTZRANGEOID) return range;
    if (IsA(range, Const)) {
        auto* same = static_cast<Const*>(copyObjectImpl(range));
        same->consttype = TSTZRANGEOID;
        return reinterpret_cast<Node*>(same);
    }
    if (IsA(range, RelabelType)) {
        Node* labelled = reinterpret_cast<Node*>(reinterpret_cast<RelabelType*>(range)->arg);
        if (exprType(labelled) == TSTZRANGEOID) return labelled;
    }
    // A parameter of the domain, or a check of a constraint that it has got.
    return reinterpret_cast<Node*>(
        makeRelabelType(reinterpret_cast<Expr*>(range), TSTZRANGEOID, -1, InvalidOid, COERCE_IMPLICIT_CAST));
}

bool find_call(const TimeFormat& format, Oid function, List* arguments, TimeCall& out) {
    FmgrInfo info;
    fmgr_info(function, &info);
    const TimePredicate* predicate = format.predicates;
    const TimePredicate* end = predicate + format.count;
    while (predicate != end && predicate->function != info.fn_addr) predicate++;
    if (predicate == end || list_length(arguments) <= Max(predicate->id_argument, predicate->time_argument))
        return false;
    Oid* types;
    int count;
    get_func_signature(function, &types, &count);
    out = {predicate,
           function,
           arguments,
           static_cast<Node*>(list_nth(arguments, predicate->id_argument)),
           static_cast<Node*>(list_nth(arguments, predicate->time_argument)),
           types[predicate->id_argument],
           false};
    if (is_marked_as_compared(out.id)) {
        out.id = reinterpret_cast<Node*>(reinterpret_cast<RelabelType*>(out.id)->arg);
        out.compared = true;
    }
    // Checked here, because the operators are declared for any range, or for a domain.
    if (predicate->range) out.time = without_domain(out.time);
    return exprType(out.time) == (predicate->range ? TSTZRANGEOID : TIMESTAMPTZOID);
}

Expr* TimeCall::compare(Comparison comparison, Expr* bound) const {
    const TypeCacheEntry* type = lookup_type_cache(id_type, TYPECACHE_BTREE_OPFAMILY);
    const Oid opno = get_opfamily_member(type->btree_opf, type->btree_opintype, type->btree_opintype,
                                         static_cast<int16>(comparison));
    // The type and its operator class are created and dropped together.
    if (!OidIsValid(opno)) elog(ERROR, "type %u has no order", id_type);
    auto* op = reinterpret_cast<OpExpr*>(
        make_opclause(opno, BOOLOID, false, static_cast<Expr*>(copyObjectImpl(id)), bound, InvalidOid, InvalidOid));
    set_opfuncid(op);
    return reinterpret_cast<Expr*>(op);
}

Expr* TimeCall::call(const char* name, List* call_arguments, Oid result_type) const {
    Oid types[FUNC_MAX_ARGS];
    int count = 0;
    ListCell* cell;
    foreach (cell, call_arguments) types[count++] = exprType(static_cast<Node*>(lfirst(cell)));
    const HeapTuple row =
        SearchSysCache3(PROCNAMEARGSNSP, CStringGetDatum(name), PointerGetDatum(buildoidvector(types, count)),
                        ObjectIdGetDatum(get_func_namespace(function)));
    if (!HeapTupleIsValid(row)) return nullptr;
    const auto* proc = reinterpret_cast<Form_pg_proc>(GETSTRUCT(row));
    Expr* result = nullptr;
    if (proc->prorettype == result_type && !proc->proretset && proc->proisstrict)
        result = reinterpret_cast<Expr*>(makeFuncExpr(proc->oid, proc->prorettype,
                                                      static_cast<List*>(copyObjectImpl(call_arguments)), InvalidOid,
                                                      InvalidOid, COERCE_EXPLICIT_CALL));
    ReleaseSysCache(row);
    return result;
}

List* TimeCall::between(const char* first, const char* last, List* call_arguments) const {
    Expr* lower = call(first, call_arguments, id_type);
    Expr* upper = call(last, call_arguments, id_type);
    if (lower == nullptr || upper == nullptr) return NIL;
    return list_make2(compare(Comparison::greater_equal, lower), compare(Comparison::less_equal, upper));
}

Const* text_constant(const char* text) {
    return makeConst(TEXTOID, -1, DEFAULT_COLLATION_OID, -1, PointerGetDatum(cstring_to_text(text)), false, false);
}

namespace {

bool may_be_repeated(Node* node) {
    return !contain_volatile_functions(node) && !contain_subplans(node) && !expression_returns_set(node) &&
           !contain_agg_clause(node) && !contain_window_function(node);
}

// The column, if the id is a column of this query level; else null.
const Var* column(Node* id) {
    while (IsA(id, RelabelType)) id = reinterpret_cast<Node*>(reinterpret_cast<RelabelType*>(id)->arg);
    if (!IsA(id, Var)) return nullptr;
    const auto* var = reinterpret_cast<const Var*>(id);
    return var->varlevelsup == 0 && !IS_SPECIAL_VARNO(var->varno) ? var : nullptr;
}

bool is_partitioned_table(const RangeTblEntry* table) {
    return table->rtekind == RTE_RELATION && table->relkind == RELKIND_PARTITIONED_TABLE;
}

bool is_of_partitioned_table(PlannerInfo* root, Node* id) {
    const Var* var = column(id);
    return var != nullptr && static_cast<int>(var->varno) <= list_length(root->parse->rtable) &&
           is_partitioned_table(rt_fetch(var->varno, root->parse->rtable));
}

// The predicate as an operator, marked as compared; null if there is no such operator.
Expr* compared(const TimeCall& call) {
    static constexpr const char* spelling[] = {"", "<", "<=", "", ">=", ">"};
    const bool time_first = call.predicate->time_argument == 0;
    const Comparison comparison = time_first ? commuted(call.predicate->comparison) : call.predicate->comparison;
    const Oid opno =
        GetSysCacheOid4(OPERNAMENSP, Anum_pg_operator_oid, CStringGetDatum(spelling[static_cast<int>(comparison)]),
                        ObjectIdGetDatum(time_first ? TIMESTAMPTZOID : call.id_type),
                        ObjectIdGetDatum(time_first ? call.id_type : TIMESTAMPTZOID),
                        ObjectIdGetDatum(get_func_namespace(call.function)));
    if (!OidIsValid(opno) || get_opcode(opno) != call.function) return nullptr;
    auto* id = static_cast<Expr*>(copyObjectImpl(marked_as_compared(call.id)));
    auto* time = static_cast<Expr*>(copyObjectImpl(call.time));
    auto* op = reinterpret_cast<OpExpr*>(
        make_opclause(opno, BOOLOID, false, time_first ? time : id, time_first ? id : time, InvalidOid, InvalidOid));
    set_opfuncid(op);
    return reinterpret_cast<Expr*>(op);
}

// True if the partitioned table has the same comparison already. A partition inherits the restrictions of its table,
// each by itself. If the comparison that was added for pruning is among them, the predicate adds nothing.
bool is_said_by_partitioned_table(PlannerInfo* root, const TimeCall& call, List* conditions) {
    const Var* var = column(call.id);
    if (var == nullptr || list_length(conditions) != 1 || root->append_rel_array == nullptr ||
        static_cast<int>(var->varno) >= root->simple_rel_array_size)
        return false;
    AppendRelInfo* child = root->append_rel_array[var->varno];
    if (child == nullptr || !is_partitioned_table(rt_fetch(child->parent_relid, root->parse->rtable))) return false;
    const RelOptInfo* table = root->simple_rel_array[child->parent_relid];
    if (table == nullptr) return false;
    const auto* condition = static_cast<const OpExpr*>(linitial(conditions));
    ListCell* cell;
    foreach (cell, table->baserestrictinfo) {
        const Expr* clause = static_cast<const RestrictInfo*>(lfirst(cell))->clause;
        if (IsA(clause, OpExpr) && reinterpret_cast<const OpExpr*>(clause)->opno == condition->opno &&
            equal(adjust_appendrel_attrs(root, const_cast<Node*>(reinterpret_cast<const Node*>(clause)), 1, &child),
                  condition))
            return true;
    }
    return false;
}

Expr* with_constants(const TimeFormat& format, const TimeCall& call) {
    return call.time_is_known() && format.with_constants != nullptr ? format.with_constants(call) : nullptr;
}

Expr* simplified(const TimeFormat& format, PlannerInfo* root, const FuncExpr* original) {
    TimeCall call;
    if (!find_call(format, original->funcid, original->args, call) || !may_be_repeated(call.id)) return nullptr;
    call.compared |= original->inputcollid == marking_collation;
    if (IsA(call.time, Const)) {
        if (!call.time_is_known()) return nullptr;
        Expr* constants = with_constants(format, call);
        if (constants != nullptr) return constants;
    }
    if (root == nullptr || !may_be_repeated(call.time)) return nullptr;
    const Relids of_id = pull_varnos(root, call.id);
    if (bms_is_empty(of_id) || bms_overlap(of_id, pull_varnos(root, call.time))) return nullptr;
    const bool partitioned = is_of_partitioned_table(root, call.id);
    if (format.for_partitions != nullptr && partitioned) return format.for_partitions(call);
    if (format.elsewhere != nullptr) return format.elsewhere(call);
    if (!partitioned && !call.compared) return nullptr;
    List* conditions = format.index_conditions(call);
    if (conditions == NIL) return nullptr;
    if (call.predicate->range) return partitioned ? make_andclause(conditions) : nullptr;
    if (call.compared)
        return is_said_by_partitioned_table(root, call, conditions)
                   ? reinterpret_cast<Expr*>(makeBoolConst(true, false))
                   : nullptr;
    Expr* itself = compared(call);
    return itself != nullptr ? make_andclause(lcons(itself, conditions)) : nullptr;
}

List* index_conditions(const TimeFormat& format, SupportRequestIndexCondition* request) {
    List* arguments = NIL;
    if (IsA(request->node, OpExpr))
        arguments = reinterpret_cast<OpExpr*>(request->node)->args;
    else if (IsA(request->node, FuncExpr))
        arguments = reinterpret_cast<FuncExpr*>(request->node)->args;
    TimeCall call;
    if (!find_call(format, request->funcid, arguments, call) || request->indexarg != call.predicate->id_argument ||
        !may_be_repeated(call.time) || bms_is_member(request->index->rel->relid, pull_varnos(request->root, call.time)))
        return NIL;
    List* conditions = format.index_conditions(call);
    ListCell* cell;
    foreach (cell, conditions)
        if (!op_in_opfamily(static_cast<const OpExpr*>(lfirst(cell))->opno, request->opfamily)) return NIL;
    request->lossy = format.lossy;
    return conditions;
}

// For functions only, because an operator has its own estimator.
bool estimated(const TimeFormat& format, SupportRequestSelectivity* request) {
    TimeCall call;
    if (!find_call(format, request->funcid, request->args, call)) return false;
    call.compared |= request->inputcollid == marking_collation;
    call.time = estimate_expression_value(request->root, call.time);
    if (format.selectivity != nullptr) {
        request->selectivity = format.selectivity(request, call);
        return true;
    }
    Expr* same = with_constants(format, call);
    if (same == nullptr) {
        List* conditions = format.index_conditions(call);
        if (conditions != NIL)
            same = make_andclause(conditions);
        else if (format.for_partitions != nullptr)
            same = format.for_partitions(call);
    }
    if (same == nullptr) return false;
    request->selectivity = clause_selectivity(request->root, reinterpret_cast<Node*>(same), request->varRelid,
                                              request->jointype, request->sjinfo);
    return true;
}

}  // namespace

Datum time_support(FunctionCallInfo fcinfo, const TimeFormat& format) {
    void* request = PG_GETARG_POINTER(0);
    switch (nodeTag(request)) {
        case T_SupportRequestSimplify: {
            auto* simplify = static_cast<SupportRequestSimplify*>(request);
            PG_RETURN_POINTER(simplified(format, simplify->root, simplify->fcall));
        }
        case T_SupportRequestIndexCondition:
            PG_RETURN_POINTER(index_conditions(format, static_cast<SupportRequestIndexCondition*>(request)));
        case T_SupportRequestSelectivity:
            PG_RETURN_POINTER(estimated(format, static_cast<SupportRequestSelectivity*>(request)) ? request : nullptr);
        default:
            return Datum{0};
    }
}

}  // namespace snowflake_ids
