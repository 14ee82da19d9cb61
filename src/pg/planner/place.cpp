// Finds where a clause is among the restrictions of a relation.
//
// PostgreSQL gives an estimator only the arguments of a clause, so it must be searched. An OR can have thousands of
// arms whose clauses are each estimated. So after the first clauses, a hash table of all clauses of the relation is
// made, once. Its keys are the addresses of the arguments. It is in the planner's memory context, and ends with it as
// the clauses and the relation do, so no address in it can be reused.
#include "pg/planner/place.hpp"

#include <functional>

extern "C" {
#include "miscadmin.h"
#include "utils/hsearch.h"
#include "utils/memutils.h"
}

namespace snowflake_ids {

namespace {

constexpr int first_clauses = 32;  // looked at without a hash table

// ---- all comparisons of a relation

// Calls visit(place, arguments) for each comparison in this list of AND-ed clauses, then in each AND inside the
// clauses, also inside OR and NOT. An arm of an OR that is a comparison itself is in no AND. Stops, and returns true,
// when a call or visit.enough(), asked before each clause, returns true.
template <class Visit>
bool visit_list(List* clauses, Visit& visit);

template <class Visit>
bool visit_below(Node* node, Visit& visit) {
    if (visit.enough()) return true;
    // Of an OR, PostgreSQL keeps two forms. The planner estimates the one that has RestrictInfos inside.
    if (IsA(node, RestrictInfo)) {
        auto* info = reinterpret_cast<RestrictInfo*>(node);
        node = reinterpret_cast<Node*>(info->orclause != nullptr ? info->orclause : info->clause);
    }
    if (!IsA(node, BoolExpr)) return false;
    auto* expression = reinterpret_cast<BoolExpr*>(node);
    if (expression->boolop == AND_EXPR) return visit_list(expression->args, visit);
    check_stack_depth();
    ListCell* cell;
    foreach (cell, expression->args)
        if (visit_below(static_cast<Node*>(lfirst(cell)), visit)) return true;
    return false;
}

template <class Visit>
bool visit_list(List* clauses, Visit& visit) {
    check_stack_depth();
    for (int i = 0; i < list_length(clauses); i++) {
        if (visit.enough()) return true;
        const OpExpr* op = binary_clause(static_cast<Node*>(list_nth(clauses, i)));
        if (op != nullptr && visit(Place{clauses, i}, op->args)) return true;
    }
    ListCell* cell;
    foreach (cell, clauses)
        if (visit_below(static_cast<Node*>(lfirst(cell)), visit)) return true;
    return false;
}

template <class Visit>
void visit_all(RelOptInfo* rel, Visit& visit) {
    if (!visit_list(rel->baserestrictinfo, visit)) visit_list(rel->joininfo, visit);
}

// ---- the table of a relation

// By address, the lower one first, so that both orders are equal.
struct Arguments {
    const void *low, *high;

    explicit Arguments(const List* list) : low(linitial(list)), high(lsecond(list)) {
        if (std::less<>{}(high, low)) {
            const void* other = low;
            low = high;
            high = other;
        }
    }
    bool operator==(const Arguments&) const = default;
};

struct PlaceEntry {
    Arguments arguments;
    Place place;
};

// Early in planning more restrictions are added, and then the table is made again.
struct Restrictions {
    const List *own, *of_joins;
    int own_length, of_joins_length;

    explicit Restrictions(const RelOptInfo* rel)
        : own(rel->baserestrictinfo),
          of_joins(rel->joininfo),
          own_length(list_length(own)),
          of_joins_length(list_length(of_joins)) {}
    bool operator==(const Restrictions&) const = default;
};

struct RelationEntry {
    const RelOptInfo* rel;
    Restrictions restrictions;
    HTAB* places;  // of PlaceEntry
};

// Of the last planner run that needed some. `own` is a child of the planner's context.
struct {
    MemoryContext planner, own;
    HTAB* relations;  // of RelationEntry
} tables;

void forget_tables(void*) { tables = {}; }

HTAB* new_table(const char* name, Size key, Size entry) {
    HASHCTL control{};
    control.keysize = key;
    control.entrysize = entry;
    control.hcxt = tables.own;
    return hash_create(name, 64, &control, HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
}

// Begins the tables of this planner run, and removes those of another.
void begin_tables(MemoryContext planner) {
    if (tables.planner == planner) return;
    if (tables.own != nullptr) MemoryContextDelete(tables.own);
    const MemoryContext own = AllocSetContextCreate(planner, "snowflake_ids places", ALLOCSET_DEFAULT_SIZES);
    auto* callback = static_cast<MemoryContextCallback*>(MemoryContextAllocZero(own, sizeof(MemoryContextCallback)));
    callback->func = forget_tables;
    MemoryContextRegisterResetCallback(own, callback);
    tables.own = own;
    tables.relations = new_table("snowflake_ids relations", sizeof(const RelOptInfo*), sizeof(RelationEntry));
    tables.planner = planner;
}

// A comparison's first place counts.
struct Enter {
    HTAB* places;

    bool enough() const {
        CHECK_FOR_INTERRUPTS();
        return false;
    }
    bool operator()(Place place, const List* arguments) const {
        const Arguments key{arguments};
        bool found;
        auto* entry = static_cast<PlaceEntry*>(hash_search(places, &key, HASH_ENTER, &found));
        if (!found) entry->place = place;
        return false;
    }
};

HTAB* places_of(PlannerInfo* root, RelOptInfo* rel) {
    begin_tables(root->planner_cxt);
    const Restrictions now{rel};
    auto* known = static_cast<RelationEntry*>(hash_search(tables.relations, &rel, HASH_FIND, nullptr));
    if (known != nullptr && known->restrictions == now) return known->places;
    HTAB* places = new_table("snowflake_ids places", sizeof(Arguments), sizeof(PlaceEntry));
    Enter enter{places};
    visit_all(rel, enter);
    // Kept only now that it is complete, because an interrupt could have ended this call.
    if (known != nullptr)
        hash_destroy(known->places);
    else
        known = static_cast<RelationEntry*>(hash_search(tables.relations, &rel, HASH_ENTER, nullptr));
    known->restrictions = now;
    known->places = places;
    return places;
}

// ---- without a table

struct Look {
    Arguments wanted;
    int left = first_clauses;  // -1: there were more clauses
    Place found{};

    bool enough() { return left-- == 0; }
    bool operator()(Place place, const List* arguments) {
        if (Arguments{arguments} != wanted) return false;
        found = place;
        return true;
    }
};

}  // namespace

const OpExpr* binary_clause(Node* clause) {
    if (IsA(clause, RestrictInfo)) clause = reinterpret_cast<Node*>(reinterpret_cast<RestrictInfo*>(clause)->clause);
    if (!IsA(clause, OpExpr)) return nullptr;
    const auto* op = reinterpret_cast<const OpExpr*>(clause);
    return list_length(op->args) == 2 ? op : nullptr;
}

Place place_of(PlannerInfo* root, RelOptInfo* rel, const List* arguments) {
    const Arguments wanted{arguments};
    Look look{wanted};
    visit_all(rel, look);
    if (look.found.clauses != NIL || look.left >= 0) return look.found;
    // GEQO frees the relations that it makes while it plans, so they get no table.
    if (root->planner_cxt == nullptr || GetMemoryChunkContext(rel) != root->planner_cxt) return {};
    const auto* entry = static_cast<const PlaceEntry*>(hash_search(places_of(root, rel), &wanted, HASH_FIND, nullptr));
    return entry != nullptr ? entry->place : Place{};
}

}  // namespace snowflake_ids
