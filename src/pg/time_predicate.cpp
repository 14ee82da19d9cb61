// The part of time predicates that is the same for all formats: times of ranges, and pieces of expressions.
#include "pg/time_predicate.hpp"

#include <cstring>

extern "C" {
#include "access/htup_details.h"
#include "catalog/pg_collation.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"
#include "utils/typcache.h"
}

namespace snowflake_ids {

namespace {

constexpr struct {
    const char* text;
    Comparison comparison;
} spellings[] = {{"<", Comparison::less},
                 {"<=", Comparison::less_equal},
                 {">=", Comparison::greater_equal},
                 {">", Comparison::greater}};

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

// The type of the id in id <@ range. As the function is declared: who estimates with statistics calls it without an
// expression that could tell.
Oid declared_id_type(FunctionCallInfo fcinfo) {
    Oid* types;
    int count;
    get_func_signature(fcinfo->flinfo->fn_oid, &types, &count);
    const Oid type = types[0];
    pfree(types);
    return type;
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
    const RangeType* range = PG_GETARG_RANGE_P(n);
    return times_of(range_ends(range_get_typcache(fcinfo, RangeTypeGetOid(range)), range));
}

Times comparison_times(const text* comparison, TimestampTz t) {
    const std::size_t length = VARSIZE_ANY_EXHDR(comparison);
    for (const auto& s : spellings)
        if (length == std::strlen(s.text) && std::memcmp(VARDATA_ANY(comparison), s.text, length) == 0)
            return Times::that_are(s.comparison, unix_us(t));
    return Times::none();
}

const char* spelling(Comparison comparison) {
    for (const auto& s : spellings)
        if (s.comparison == comparison) return s.text;
    pg_unreachable();
}

// Of a range of anything else than times the element is the id itself, as the server's own operator has it, which
// ours stands before.
bool range_contains(FunctionCallInfo fcinfo, int64 us) {
    const RangeType* range = PG_GETARG_RANGE_P(1);
    TypeCacheEntry* type = range_get_typcache(fcinfo, RangeTypeGetOid(range));
    const Oid element = type->rngelemtype->type_id;
    if (element == TIMESTAMPTZOID) return within(times_of(range_ends(type, range)), us);
    if (getBaseType(element) == declared_id_type(fcinfo))
        return range_contains_elem_internal(type, range, PG_GETARG_DATUM(0));
    ereport(ERROR, (errcode(ERRCODE_DATATYPE_MISMATCH),
                    errmsg("an id is never contained in a range of type %s", format_type_be(RangeTypeGetOid(range))),
                    errhint("Compare it with a tstzrange.")));
}

const TimePredicate* find_predicate(const FuncExpr* call, const TimePredicate* table, int count) {
    FmgrInfo function;
    fmgr_info(call->funcid, &function);
    for (int i = 0; i < count; i++)
        if (table[i].function == function.fn_addr) return &table[i];
    return nullptr;
}

Sides sides(const FuncExpr* call, const TimePredicate& predicate) {
    Node* first = static_cast<Node*>(linitial(call->args));
    Node* second = static_cast<Node*>(lsecond(call->args));
    Oid* types;
    int count;
    get_func_signature(call->funcid, &types, &count);
    if (predicate.time_first) return {second, first, types[1], call->funcid};
    return {first, second, types[0], call->funcid};
}

bool Sides::may_rewrite(PlannerInfo* root) const {
    for (Node* side : {id, time}) {
        // The rewritten form evaluates both sides twice.
        if (contain_volatile_functions(side) || contain_subplans(side) || expression_returns_set(side) ||
            contain_agg_clause(side) || contain_window_function(side))
            return false;
    }
    const Oid time_type = exprType(time);
    if (time_type != TIMESTAMPTZOID && time_type != TSTZRANGEOID) return false;
    const Relids of_id = pull_varnos(root, id);
    return !bms_is_empty(of_id) && !bms_overlap(of_id, pull_varnos(root, time));
}

Expr* Sides::compare(Comparison comparison, Expr* bound) const {
    const TypeCacheEntry* type = lookup_type_cache(id_type, TYPECACHE_BTREE_OPFAMILY);
    const Oid opno = get_opfamily_member(type->btree_opf, type->btree_opintype, type->btree_opintype,
                                         static_cast<int16>(comparison));
    // The type and its operator class come and go together.
    if (!OidIsValid(opno)) elog(ERROR, "type %u has no order", id_type);
    auto* op = reinterpret_cast<OpExpr*>(
        make_opclause(opno, BOOLOID, false, static_cast<Expr*>(copyObjectImpl(id)), bound, InvalidOid, InvalidOid));
    set_opfuncid(op);
    return reinterpret_cast<Expr*>(op);
}

Expr* Sides::call(const char* name, List* arguments) const {
    Oid types[FUNC_MAX_ARGS];
    int count = 0;
    ListCell* cell;
    foreach (cell, arguments) types[count++] = exprType(static_cast<Node*>(lfirst(cell)));
    const HeapTuple row =
        SearchSysCache3(PROCNAMEARGSNSP, CStringGetDatum(name), PointerGetDatum(buildoidvector(types, count)),
                        ObjectIdGetDatum(get_func_namespace(function)));
    if (!HeapTupleIsValid(row)) return nullptr;
    const auto* proc = reinterpret_cast<Form_pg_proc>(GETSTRUCT(row));
    Expr* result = nullptr;
    if (proc->prorettype == id_type && !proc->proretset && proc->proisstrict)
        result = reinterpret_cast<Expr*>(makeFuncExpr(proc->oid, proc->prorettype,
                                                      static_cast<List*>(copyObjectImpl(arguments)), InvalidOid,
                                                      InvalidOid, COERCE_EXPLICIT_CALL));
    ReleaseSysCache(row);
    return result;
}

Expr* Sides::between(const char* first, const char* last, List* arguments, bool upper_end_first) const {
    Expr* lower_id = call(first, arguments);
    Expr* upper_id = call(last, arguments);
    if (lower_id == nullptr || upper_id == nullptr) return nullptr;
    Expr* lower = compare(Comparison::greater_equal, lower_id);
    Expr* upper = compare(Comparison::less_equal, upper_id);
    return make_andclause(upper_end_first ? list_make2(upper, lower) : list_make2(lower, upper));
}

bool is_guard(const Node* bound, Oid beside) {
    if (!IsA(bound, FuncExpr)) return false;
    const auto* call = reinterpret_cast<const FuncExpr*>(bound);
    const int count = list_length(call->args);
    if (count < 2 || exprType(static_cast<Node*>(llast(call->args))) != TIMESTAMPTZOID ||
        get_func_namespace(call->funcid) != get_func_namespace(beside))
        return false;
    const auto* comparison = static_cast<const Const*>(list_nth(call->args, count - 2));
    if (!IsA(comparison, Const) || comparison->consttype != TEXTOID || comparison->constisnull) return false;
    const char* name = get_func_name(call->funcid);
    const std::size_t length = std::strlen(name);
    const bool is_last = length > 5 && std::strcmp(name + length - 5, "_last") == 0;
    const char sign = *VARDATA_ANY(DatumGetPointer(comparison->constvalue));
    return sign == (is_last ? '>' : '<');
}

Const* text_constant(const char* text) {
    return makeConst(TEXTOID, -1, DEFAULT_COLLATION_OID, -1, PointerGetDatum(cstring_to_text(text)), false, false);
}

}  // namespace snowflake_ids
