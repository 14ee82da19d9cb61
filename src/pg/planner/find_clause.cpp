// Finds where a clause is among the restrictions of a relation.
//
// PostgreSQL gives an estimator only the arguments of a clause, so it must be searched. An OR can have thousands of
// arms whose clauses are each estimated, one after another. So all comparisons of a relation are listed once, and a
// search begins where the last one ended.
#include "pg/planner/find_clause.hpp"

#include <algorithm>
#include <functional>
#include <iterator>
#include <utility>

extern "C" {
#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "utils/memutils.h"
}

namespace snowflake_ids {

namespace {

// By address, the lower one first, so that both orders are equal.
struct Arguments {
    const void *low, *high;

    explicit Arguments(const List* list) : low(linitial(list)), high(lsecond(list)) {
        if (std::less<>{}(high, low)) std::swap(low, high);
    }
    bool operator==(const Arguments&) const = default;
};

struct Found {
    Arguments arguments;
    ClausePlace place;
};

// Early in planning more restrictions are added, and then the comparisons are listed again.
struct Restrictions {
    const RelOptInfo* rel = nullptr;
    const List *own = NIL, *of_joins = NIL;
    int own_length = 0, of_joins_length = 0;

    bool operator==(const Restrictions&) const = default;
};

// The comparisons of a relation.
struct Listing {
    Restrictions restrictions;
    StringInfoData found;  // of type Found
    int last;              // where the last search ended
};
// The last ones, because a join can have an OR with clauses of several relations. They are forgotten at the end of a
// memory context with clauses, so no address in them can be reused.
constinit Listing listings[4]{};

void forget(void*) {
    for (Listing& listing : listings) listing.restrictions = {};
}

// Lists each comparison in this list of AND-ed clauses, then in each AND inside the clauses, also inside OR and NOT. An
// arm of an OR that is a comparison itself is in no AND.
void add_comparisons(StringInfo to, List* clauses);

void add_below(StringInfo to, Node* node) {
    CHECK_FOR_INTERRUPTS();
    // Of an OR, PostgreSQL keeps two forms. The planner estimates the one that has RestrictInfos inside.
    if (IsA(node, RestrictInfo)) {
        auto* info = reinterpret_cast<RestrictInfo*>(node);
        node = reinterpret_cast<Node*>(info->orclause != nullptr ? info->orclause : info->clause);
    }
    if (!IsA(node, BoolExpr)) return;
    auto* expression = reinterpret_cast<BoolExpr*>(node);
    if (expression->boolop == AND_EXPR) return add_comparisons(to, expression->args);
    check_stack_depth();
    ListCell* cell;
    foreach (cell, expression->args) add_below(to, static_cast<Node*>(lfirst(cell)));
}

void add_comparisons(StringInfo to, List* clauses) {
    check_stack_depth();
    for (int i = 0; i < list_length(clauses); i++) {
        const OpExpr* op = binary_clause(static_cast<Node*>(list_nth(clauses, i)));
        if (op == nullptr) continue;
        const Found found{Arguments{op->args}, {clauses, i}};
        appendBinaryStringInfo(to, reinterpret_cast<const char*>(&found), sizeof found);
    }
    ListCell* cell;
    foreach (cell, clauses) add_below(to, static_cast<Node*>(lfirst(cell)));
}

void list_comparisons(Listing& listing, RelOptInfo* rel, const Restrictions& restrictions) {
    if (listing.restrictions.rel != nullptr) pfree(listing.found.data);
    listing.restrictions = {};
    const MemoryContext old = MemoryContextSwitchTo(GetMemoryChunkContext(rel));
    auto* callback = static_cast<MemoryContextCallback*>(palloc0(sizeof(MemoryContextCallback)));
    callback->func = forget;
    MemoryContextRegisterResetCallback(CurrentMemoryContext, callback);
    initStringInfo(&listing.found);
    add_comparisons(&listing.found, rel->baserestrictinfo);
    add_comparisons(&listing.found, rel->joininfo);
    MemoryContextSwitchTo(old);
    listing.last = 0;
    // Only now, because an interrupt could have ended this call.
    listing.restrictions = restrictions;
}

}  // namespace

const OpExpr* binary_clause(Node* clause) {
    if (IsA(clause, RestrictInfo)) clause = reinterpret_cast<Node*>(reinterpret_cast<RestrictInfo*>(clause)->clause);
    if (!IsA(clause, OpExpr)) return nullptr;
    const auto* op = reinterpret_cast<const OpExpr*>(clause);
    return list_length(op->args) == 2 ? op : nullptr;
}

ClausePlace find_clause(RelOptInfo* rel, const List* arguments) {
    const Restrictions now{rel, rel->baserestrictinfo, rel->joininfo, list_length(rel->baserestrictinfo),
                           list_length(rel->joininfo)};
    Listing* const end = std::end(listings);
    Listing* listing = std::find_if(listings, end, [&](const Listing& known) { return known.restrictions == now; });
    if (listing == end) list_comparisons(*--listing, rel, now);
    std::rotate(listings, listing, listing + 1);
    const auto* all = reinterpret_cast<const Found*>(listings->found.data);
    const int count = listings->found.len / static_cast<int>(sizeof(Found));
    const Arguments wanted{arguments};
    // A little before, because PostgreSQL estimates the clauses of an AND more than once.
    const int from = std::max(listings->last - 8, 0);
    for (int n = 0; n < count; n++) {
        const int i = from + n < count ? from + n : from + n - count;
        if (all[i].arguments != wanted) continue;
        listings->last = i;
        return all[i].place;
    }
    return {};
}

}  // namespace snowflake_ids
